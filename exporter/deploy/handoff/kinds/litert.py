"""LiteRT (TensorFlow Lite): `model.tflite` by onnx2tf, for one size of each input, run by LiteRT's own kernels."""

from __future__ import annotations

from exporter.deploy.foreign.runtime import ForeignRuntime
from exporter.deploy.handoff.base import Target


class LiteRt(ForeignRuntime):
    """`model/model.tflite`; fp16 and int8 are of its weights."""

    title = "LiteRT"
    requirements = ("ai-edge-litert==2.1.0", "onnx2tf==1.29.24", "tensorflow==2.19.*", "tf_keras==2.19.*")
    precisions = ("fp32", "fp16", "int8")
    dynamic = False
    start = """
    Interpreter interpreter = new Interpreter(new File("model/model.tflite"));
    interpreter.run(input, output);

The axes of the inputs are those of the table: nothing is moved to NHWC. In Python, on the recorded inputs:

    python run.py

What ran here are LiteRT's own kernels in one thread, without XNNPACK and without a delegate of a device.
`exporter verify BUNDLE --answers answers --engine "LiteRT on WHICH DEVICE"` with `--dim` for each size that the first
lines name judges what a device computed.
"""


plugin: Target = LiteRt()

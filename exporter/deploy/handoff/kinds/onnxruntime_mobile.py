"""ONNX Runtime on phones: `model.ort`, the form that its reduced builds read, run by the ONNX Runtime that is here."""

from __future__ import annotations

from exporter.deploy.foreign.runtime import ForeignRuntime
from exporter.deploy.handoff.base import Target


class OnnxRuntimeMobile(ForeignRuntime):
    """`model/model.ort`, optimized for any processor."""

    title = "ONNX Runtime mobile"
    requirements = ("onnxruntime", "numpy")
    start = """
`model/model.ort` is loaded like an ONNX, by `OrtSession` in Java and Kotlin, `ORTSession` in Objective-C and Swift, and
by builds without the reader of ONNX (`--minimal_build`). In Python, on the recorded inputs:

    python run.py

What ran here is the ONNX Runtime of a computer, not that of a phone.
`exporter verify BUNDLE --answers answers --engine "ONNX Runtime on WHICH PHONE"` judges what a phone computed.
"""


plugin: Target = OnnxRuntimeMobile()

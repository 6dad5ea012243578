"""MNN: `model.mnn`, which every recorded case was run on in MNN's interpreter."""

from __future__ import annotations

from exporter.deploy.foreign.runtime import ForeignRuntime
from exporter.deploy.handoff.base import Target


class Mnn(ForeignRuntime):
    """`model/model.mnn`, made by MNN's own converter; fp16 and int8 are of its weights."""

    title = "MNN"
    requirements = ("mnn==3.6.1", "numpy")
    precisions = ("fp32", "fp16", "int8")
    start = """
In Python, with `pip install mnn==3.6.1 numpy`, on the recorded inputs:

    python run.py

`engine.py` has the few lines that load `model/model.mnn` and run it. Where it was proven in fp32, ask for `precision:
high` and turn Winograd's convolutions off (`set_hint(3, 0)`), as they do: else MNN errs about as much as float16 does.

`exporter verify BUNDLE --answers answers --engine "MNN on WHICH DEVICE"` judges what a device computed.
"""


plugin: Target = Mnn()

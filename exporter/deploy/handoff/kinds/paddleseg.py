"""PaddleSeg 2.8, deploy/python/infer.py: `model.pdmodel`, `model.pdiparams` and `deploy.yaml`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from exporter.deploy.handoff.base import Chosen, Target
from exporter.deploy.handoff.beside import StepsBeside
from exporter.deploy.handoff.step_files import Yaml


class PaddleSeg(StepsBeside):
    """`Deploy` names the files beside the steps."""

    families: ClassVar[Sequence[str]] = ("paddleseg",)
    file = "deploy.yaml"
    stem = "model"
    runtime = "PaddleSeg"
    start = """
    python deploy/python/infer.py --config deploy.yaml --image_path picture.png --device cpu
"""

    def about(self, chosen: Chosen, content: Yaml) -> Yaml:
        program = "model.json" if chosen.variant.format == "pir" else "model.pdmodel"
        (tensor, *_), (output, *_) = chosen.manifest.inputs, chosen.manifest.outputs
        shape = [size if isinstance(size, int) else -1 for size in tensor.shape]
        labels = output.dtype.startswith(("int", "uint"))  # argmax is in the artifact
        about = {"input_shape": shape, "model": program, "params": "model.pdiparams", "output_dtype": output.dtype}
        return {"Deploy": {**about, "output_op": "argmax" if labels else "none", **content["Deploy"]}}


plugin: Target = PaddleSeg()

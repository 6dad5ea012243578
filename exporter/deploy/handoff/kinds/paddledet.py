"""PaddleDetection 2.6, deploy/python/infer.py: `model.pdmodel`, `model.pdiparams` and `infer_cfg.yml`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from exporter.bundle.open import recorded_spec
from exporter.deploy.handoff.base import Chosen, Target
from exporter.deploy.handoff.beside import StepsBeside
from exporter.deploy.handoff.step_files import Yaml


class PaddleDetection(StepsBeside):
    """`arch` and the labels are of the model, and no step says them: they are asked for in the file itself."""

    families: ClassVar[Sequence[str]] = ("paddledet",)
    file = "infer_cfg.yml"
    stem = "model"
    runtime = "PaddleDetection"
    start = """
    python deploy/python/infer.py --model_dir . --image_file picture.png --device CPU

Write the model's `arch`, as of its configuration, and its `label_list` into `infer_cfg.yml` first: its runtime needs
both.
"""

    def about(self, chosen: Chosen, content: Yaml) -> Yaml:
        of_model = {"arch": str(recorded_spec(chosen.manifest).args.get("arch", "")), "label_list": []}
        return {**content, "metric": "COCO", "min_subgraph_size": 3, **of_model}


plugin: Target = PaddleDetection()

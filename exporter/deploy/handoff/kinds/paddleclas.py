"""PaddleClas 2.6, deploy/python/predict_cls.py: `inference.pdmodel`, `.pdiparams` and `inference_cls.yaml`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from exporter.deploy.handoff.base import Chosen, Target
from exporter.deploy.handoff.beside import StepsBeside
from exporter.deploy.handoff.step_files import Yaml


class PaddleClas(StepsBeside):
    """`Global` is what its deploy/configs/inference_cls.yaml has; the folder is the working folder."""

    formats = ("pdmodel",)
    families: ClassVar[Sequence[str]] = ("paddleclas",)
    file = "inference_cls.yaml"
    stem = "inference"
    runtime = "PaddleClas"
    start = """
    python deploy/python/predict_cls.py -c inference_cls.yaml -o Global.infer_imgs=picture.png
"""

    def about(self, chosen: Chosen, content: Yaml) -> Yaml:
        del chosen
        of_all = {"inference_model_dir": ".", "batch_size": 1, "use_gpu": False, "enable_mkldnn": False}
        said = dict(content)
        if "PostProcess" in said:
            said["PostProcess"] = {"main_indicator": "Topk", **said["PostProcess"]}
        return {"Global": {**of_all, "cpu_num_threads": 1, "ir_optim": False, "enable_profile": False}, **said}


plugin: Target = PaddleClas()

"""Paddle Inference, strict: no graph passes, no oneDNN, so that Paddle's own kernels run."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import partial
from typing import Any

from exporter.engines.base import Engine, Runnable, Session
from exporter.engines.paddle import PaddleEngine
from exporter.engines.predictor import predicting
from exporter.paddle.device import demand_float32


class PaddleInference(PaddleEngine):
    """The predictor that operations run, without its optimisations."""

    formats = ("pir", "pdmodel")

    def open(self, artifact: Runnable, device: str) -> AbstractContextManager[Session]:
        return predicting(artifact, device, partial(strict, on_gpu=device != "cpu"), "strict")


def strict(config: Any, *, on_gpu: bool) -> dict[str, str | int | bool]:
    """Switch a predictor's optimisations off; return what was asked for."""
    config.switch_ir_optim(False)
    config.disable_mkldnn()
    return {"ir_optim": False, "onednn": False, "tensorrt": False, **(demand_float32() if on_gpu else {})}


plugin: Engine = PaddleInference()

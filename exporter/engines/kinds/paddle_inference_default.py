"""Paddle Inference as it comes out of the box, which is how operations run it: graph passes and, on a CPU, oneDNN.

Known on 3.3.1, CPU, and for the verdict to say, not for this file to hide: ConvNeXt over 100 % wrong, the threshold of
softplus ignored, `interpolate` refused in 19 of 88 networks, and a segmentation fault on YOLOv3.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import Any

from exporter.engines.base import Engine, Runnable, Session
from exporter.engines.paddle import PaddleEngine
from exporter.engines.predictor import predicting


class PaddleInferenceDefault(PaddleEngine):
    """The default predictor of the installed Paddle: only the device and the threads are chosen."""

    formats = ("pir", "pdmodel")
    precisions = ("fp32", "fp16")
    paddle_kernels = False

    def runs(self, format: str, precision: str) -> bool:
        """fp16 only as Paddle's own converter writes it, which is for GPUs."""
        return super().runs(format, precision) and (format == "pdmodel" or precision == "fp32")

    def environment(self, device: str) -> Mapping[str, str | None]:
        return {} if device == "cpu" else {"NVIDIA_TF32_OVERRIDE": None}  # with TF32, as operations have it

    def open(self, artifact: Runnable, device: str) -> AbstractContextManager[Session]:
        return predicting(artifact, device, _as_it_comes, "default")


def _as_it_comes(config: Any) -> dict[str, str | int | bool]:
    del config
    return {}


plugin: Engine = PaddleInferenceDefault()

"""Which scores are high enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporter.export.fold.base import Operator
from exporter.steps.kinds.threshold import Threshold

if TYPE_CHECKING:
    import paddle


class FoldedThreshold(Operator[Threshold]):
    """bool, in the same shape."""

    def run(self, step: Threshold, value: paddle.Tensor) -> paddle.Tensor:
        return value > step.above


plugin: Operator[Threshold] = FoldedThreshold()

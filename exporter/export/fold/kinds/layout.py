"""Axes in another order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporter.export.fold.base import Operator
from exporter.steps.kinds.layout import Layout

if TYPE_CHECKING:
    import paddle


class FoldedLayout(Operator[Layout]):
    """Transposes behind the batch."""

    def run(self, step: Layout, value: paddle.Tensor) -> paddle.Tensor:
        return value.transpose([0, 3, 1, 2] if step.to == "chw" else [0, 2, 3, 1])


plugin: Operator[Layout] = FoldedLayout()

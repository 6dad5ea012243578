"""Scores as probabilities that sum to one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporter.export.fold.base import Operator, behind_batch
from exporter.steps.kinds.softmax import Softmax

if TYPE_CHECKING:
    import paddle


class FoldedSoftmax(Operator[Softmax]):
    """In float32."""

    def run(self, step: Softmax, value: paddle.Tensor) -> paddle.Tensor:
        import paddle

        return paddle.nn.functional.softmax(value.astype("float32"), axis=behind_batch(step.axis, value))


plugin: Operator[Softmax] = FoldedSoftmax()

"""The place of the largest score."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporter.export.fold.base import Operator, behind_batch
from exporter.steps.kinds.argmax import Argmax

if TYPE_CHECKING:
    import paddle


class FoldedArgmax(Operator[Argmax]):
    """int64, the first of equal ones."""

    def run(self, step: Argmax, value: paddle.Tensor) -> paddle.Tensor:
        return value.argmax(axis=behind_batch(step.axis, value))


plugin: Operator[Argmax] = FoldedArgmax()

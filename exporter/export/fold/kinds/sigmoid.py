"""Each score as a probability of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporter.export.fold.base import Operator
from exporter.steps.kinds.sigmoid import Sigmoid

if TYPE_CHECKING:
    import paddle


class FoldedSigmoid(Operator[Sigmoid]):
    """In float32."""

    def run(self, step: Sigmoid, value: paddle.Tensor) -> paddle.Tensor:
        import paddle

        del step
        return paddle.nn.functional.sigmoid(value.astype("float32"))


plugin: Operator[Sigmoid] = FoldedSigmoid()

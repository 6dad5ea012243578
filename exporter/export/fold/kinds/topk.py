"""The classes with the largest scores."""

from __future__ import annotations

from exporter.export.fold.base import Operator, Tensors, sizes
from exporter.steps.base import VALUE
from exporter.steps.kinds.topk import TopK


class FoldedTopK(Operator[TopK]):
    """int64 places and `scores`, largest first; of equal scores an engine may put either first."""

    def apply(self, step: TopK, state: Tensors) -> Tensors:
        import paddle

        scores, places = paddle.topk(state[VALUE], min(step.k, *sizes(state[VALUE], "topk")), axis=-1)
        return {**state, VALUE: places, "scores": scores}


plugin: Operator[TopK] = FoldedTopK()

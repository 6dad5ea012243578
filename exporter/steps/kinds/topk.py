"""The classes with the largest scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from exporter.steps.base import CLASSES, VALUE, Size, State, Step

if TYPE_CHECKING:
    from exporter.base.tensors import Array


class TopK(Step):
    """The places of the `k` largest of [classes], largest first, as int64 [k]; `scores` in the state holds theirs.

    Of fewer classes all are given.
    """

    axes: ClassVar[Sequence[int]] = (1,)

    k: Size = 1

    def apply(self, state: State) -> dict[str, Array]:
        import numpy as np

        after, scores = super().apply(state), state[VALUE]
        return {**after, "scores": scores[after[VALUE]], CLASSES: np.asarray(scores.size, "int64")}

    def run(self, value: Array) -> Array:
        import numpy as np

        return np.argsort(-value.astype("float64"), kind="stable")[: self.k].astype(np.int64)


plugin: type[Step] = TopK

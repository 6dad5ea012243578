"""The one class that a threshold decides on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from exporter.base.errors import UsageError
from exporter.steps.base import CLASSES, VALUE, State, Step

if TYPE_CHECKING:
    from exporter.base.tensors import Array


class Sure(Step):
    """Of [classes] the place of the best where its score is above `threshold`, else `otherwise`, as int64 [1].

    Of two classes the second where its score is at least `threshold`, else the first, as PaddleClas's `ThreshOutput`
    does. `scores` in the state holds the score, float32 [1]; of the first of two classes it is 1 less the second's.
    """

    axes: ClassVar[Sequence[int]] = (1,)
    dtypes: ClassVar[Sequence[str]] = ("float16", "float32", "float64")

    threshold: float = 0.0
    otherwise: Annotated[int, Field(ge=0)] = 0

    def apply(self, state: State) -> dict[str, Array]:
        import numpy as np

        after, scores = super().apply(state), state[VALUE]
        place = int(after[VALUE][0])
        score = 1 - scores[1] if scores.size == 2 and place == 0 else scores[place]
        return {**after, "scores": np.asarray([score], "float32"), CLASSES: np.asarray(scores.size, "int64")}

    def run(self, value: Array) -> Array:
        import numpy as np

        if value.size == 2:
            return np.asarray([0 if value[1] < self.threshold else 1], "int64")
        if self.otherwise >= value.size:
            raise UsageError(
                f"`otherwise` is class {self.otherwise}, and the model tells {value.size}",
                hint="name one of the model's classes",
            )
        best = int(value.argsort()[-1])  # of equal ones the original takes that one, too
        return np.asarray([best if value[best] > self.threshold else self.otherwise], "int64")


plugin: type[Step] = Sure

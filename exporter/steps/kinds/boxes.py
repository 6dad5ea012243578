"""The boxes that a detector is sure of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from exporter.base.errors import UsageError
from exporter.steps.base import CLASSES, Size, State, Step

if TYPE_CHECKING:
    from exporter.base.tensors import Array


class Boxes(Step):
    """Rows [class, score, four numbers of a box] whose score is at least `score`; best first, at most `most`.

    A class below zero is padding and left out. Boxes that the model gives as `xywh` (corner and size) or `cxcywh`
    (centre and size) come out as `xyxy` (two corners). `classes` is how many there are: a class beyond is an error,
    and a chain with another number is another chain.
    """

    axes: ClassVar[Sequence[int]] = (2,)

    score: float = 0.5
    form: Literal["xyxy", "xywh", "cxcywh"] = "xyxy"
    most: Annotated[int, Field(ge=1)] = 300
    classes: Size | None = None

    def apply(self, state: State) -> dict[str, Array]:
        import numpy as np

        after = super().apply(state)
        return {**after, CLASSES: np.asarray(self.classes, "int64")} if self.classes else after

    def run(self, value: Array) -> Array:
        import numpy as np

        if value.shape[1] != 6:
            raise UsageError(
                f"its rows hold {value.shape[1]} numbers, not class, score and a box",
                hint="name the output of the boxes with a `take` step, or write a function for this form",
            )
        sure = value[(value[:, 0] >= 0) & (value[:, 1] >= self.score)]
        sure = sure[np.argsort(-sure[:, 1], kind="stable")][: self.most].astype("float32")
        if self.classes and (beyond := sure[sure[:, 0] >= self.classes]).size:
            raise UsageError(
                f"the model tells class {int(beyond[0, 0])}, and there are {self.classes} classes",
                hint="name the labels that the model was trained with",
            )
        if self.form != "xyxy":
            start, size = sure[:, 2:4].copy(), sure[:, 4:6].copy()
            corner = start - size / 2 if self.form == "cxcywh" else start
            sure[:, 2:4], sure[:, 4:6] = corner, corner + size
        return sure


plugin: type[Step] = Boxes

"""A line of text out of the scores of a CTC head."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from exporter.base.errors import UsageError
from exporter.steps.base import VALUE, State, Step, Words

if TYPE_CHECKING:
    from exporter.base.tensors import Array


class CTC(Step):
    """Of [steps, classes] the best class of each step; repeats and `blank` left out, as the UTF-8 bytes of a text.

    `characters` are the classes without the blank, in their order. `scores` in the state holds the score of each
    character, float32. With `repeats` a class that stands twice in a row counts twice.
    """

    axes: ClassVar[Sequence[int]] = (2,)

    files: ClassVar[Sequence[str]] = ("characters",)

    characters: Words
    blank: Annotated[int, Field(ge=0)] = 0
    repeats: bool = False

    def apply(self, state: State) -> dict[str, Array]:
        value = state[VALUE]
        after = super().apply(state)
        best = value.argmax(1)
        return {**after, "scores": value.max(1)[self._kept(best)].astype("float32")}

    def run(self, value: Array) -> Array:
        import numpy as np

        if value.shape[1] != len(self.characters) + 1:
            raise UsageError(
                f"the model tells {value.shape[1]} classes, and there are {len(self.characters)} characters and the "
                "blank",
                hint="name the dictionary that the model was trained with",
            )
        best = value.argmax(1)
        names = [*self.characters[: self.blank], "", *self.characters[self.blank :]]
        text = "".join(names[place] for place in best[self._kept(best)])
        return np.frombuffer(text.encode("utf-8"), dtype=np.uint8).copy()

    def _kept(self, best: Array) -> Array:
        import numpy as np

        kept: Array = best != self.blank
        if not self.repeats:
            kept &= np.concatenate([[True], best[1:] != best[:-1]])
        return kept


plugin: type[Step] = CTC

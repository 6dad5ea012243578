"""A line of text out of the scores of a CTC head."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar

from pydantic import Field

from exporter.base.errors import UsageError
from exporter.steps.base import VALUE, State, Step, Words

if TYPE_CHECKING:
    from exporter.base.tensors import Array


#: What stays together where a text is turned round, and every other character (`pred_reverse` of ppocr 3.1).
_PIECES = re.compile(r"[a-zA-Z0-9 :*./%+-]+|[^a-zA-Z0-9 :*./%+-]")


class CTC(Step):
    """Of [steps, classes] the best class of each step; repeats and `blank` left out, as the UTF-8 bytes of a text.

    `characters` are the classes without the blank, in their order. `scores` in the state holds the score of each
    character, float32. With `repeats` a class that stands twice in a row counts twice. `space` appends a space, as the
    runtimes do that read an `inference.yml`, whether the model has a class for it or not. With `reverse` the text is
    turned round, all but its runs of Latin letters, digits and ` :*./%+-`: PaddleOCR's reading of Arabic.
    """

    axes: ClassVar[Sequence[int]] = (2,)

    files: ClassVar[Sequence[str]] = ("characters",)

    characters: Words
    blank: Annotated[int, Field(ge=0)] = 0
    repeats: bool = False
    space: bool = False
    reverse: bool = False

    def apply(self, state: State) -> dict[str, Array]:
        value = state[VALUE]
        after = super().apply(state)
        best = value.argmax(1)
        return {**after, "scores": value.max(1)[self._kept(best)].astype("float32")}

    def run(self, value: Array) -> Array:
        import numpy as np

        characters = [*self.characters, " "] if self.space else [*self.characters]
        fitting = {len(characters) + 1, len(self.characters) + 1}
        if value.shape[1] not in fitting:
            raise UsageError(
                f"the model tells {value.shape[1]} classes, and there are {len(self.characters)} characters and the "
                f"blank{', perhaps with a space' if self.space else ''}",
                hint="name the dictionary that the model was trained with",
            )
        best = value.argmax(1)
        names = [*characters[: self.blank], "", *characters[self.blank :]]
        text = "".join(names[place] for place in best[self._kept(best)])
        if self.reverse:
            text = "".join(reversed(_PIECES.findall(text)))
        return np.frombuffer(text.encode("utf-8"), dtype=np.uint8).copy()

    def _kept(self, best: Array) -> Array:
        import numpy as np

        kept: Array = best != self.blank
        if not self.repeats:
            kept &= np.concatenate([[True], best[1:] != best[:-1]])
        return kept


plugin: type[Step] = CTC

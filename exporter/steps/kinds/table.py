"""The structure of a table out of the scores of its tokens."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from exporter.base.errors import UsageError
from exporter.steps.base import VALUE, State, Step, Words

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: The tokens that open a cell.
_CELLS = frozenset(("<td>", "<td", "<td></td>"))


class Table(Step):
    """The best token of each step up to the end, one a line as UTF-8 bytes; or the boxes of the cells, float32.

    As PaddleOCR's `TableLabelDecode` does: class 0 begins and the last one ends, and `tokens` are those between, in
    their order. `structure` names the output with the scores [steps, classes] and `places` that with the boxes
    [steps, numbers]; without them their shapes tell. With `give: cells` the boxes of the tokens `<td>`, `<td` and
    `<td></td>` are handed on, as shares of the padded picture. `scores` in the state holds the score of each token.
    """

    files: ClassVar[Sequence[str]] = ("tokens",)

    tokens: Words
    structure: str | None = None
    places: str | None = None
    give: Literal["structure", "cells"] = "structure"

    def apply(self, state: State) -> dict[str, Array]:
        import numpy as np

        outputs = {name: value for name, value in state.items() if name != VALUE}
        scores = self._output(outputs, "structure", (len(self.tokens) + 2,))
        best = scores.argmax(1)
        kept = self._kept(best)
        tokens = [self.tokens[best[step] - 1] for step in kept]
        if self.give == "cells":
            boxes = self._output(outputs, "places", (4, 8))
            if len(boxes) != len(scores):
                raise UsageError(f"there are boxes of {len(boxes)} steps, and scores of {len(scores)}", hint=_HINT)
            cells = [step for step, token in zip(kept, tokens, strict=True) if token in _CELLS]
            value = boxes[cells].astype("float32")
        else:
            value = np.frombuffer("\n".join(tokens).encode(), dtype=np.uint8).copy()
        return {**state, VALUE: value, "scores": scores.max(1)[kept].astype("float32")}

    def _kept(self, best: Array) -> list[int]:
        """The steps whose tokens count: up to the end, which does not end the first step."""
        end = len(self.tokens) + 1
        stop = next((step for step in range(1, len(best)) if best[step] == end), len(best))
        return [step for step in range(stop) if best[step] not in (0, end)]

    def _output(self, outputs: Mapping[str, Array], option: str, widths: Sequence[int]) -> Array:
        """The output that an option names; without it the only one that is so wide."""
        named = getattr(self, option)
        if named is not None and named not in outputs:
            raise UsageError(f"there is no output '{named}'", hint=_HINT)
        listed = [outputs[named]] if named is not None else list(outputs.values())
        fitting = [value for value in listed if value.ndim == 2 and value.shape[1] in widths]
        if len(fitting) != 1:
            wide = " or ".join(map(str, widths))
            raise UsageError(f"{len(fitting)} outputs have {wide} numbers a step, where `{option}` is one", hint=_HINT)
        return fitting[0]


_HINT = "name the outputs with `structure` and `places`, and the dictionary that the model was trained with"

plugin: type[Step] = Table

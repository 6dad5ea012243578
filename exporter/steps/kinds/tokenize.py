"""A text as numbers of tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from exporter.base.errors import UsageError
from exporter.steps.base import Size, Step, Words

if TYPE_CHECKING:
    from exporter.base.tensors import Array


class Tokenize(Step):
    """UTF-8 bytes to int64 [length]: the places of tokens in `vocabulary`, each counted from `first`.

    The text is cut into `characters`, into `words` (between spaces), or into `pieces`: of each word the longest that
    the vocabulary has, those inside a word with `##` before them. What the vocabulary lacks becomes `unknown`, or is
    left out where that is not given. `before` and `after` are numbers put at the ends. `length` cuts the text (the
    end stays), or fills it with `padding`.
    """

    dtypes: ClassVar[Sequence[str]] = ("uint8",)
    axes: ClassVar[Sequence[int]] = (1,)

    files: ClassVar[Sequence[str]] = ("vocabulary",)

    vocabulary: Words
    by: Literal["characters", "words", "pieces"] = "characters"
    lower: bool = False
    first: Annotated[int, Field(ge=0)] = 0
    unknown: Annotated[int, Field(ge=0)] | None = None
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()
    length: Size | None = None
    padding: int = 0

    @model_validator(mode="after")
    def _fits(self) -> Tokenize:
        if self.length is not None and len(self.before) + len(self.after) > self.length:
            raise ValueError("`before` and `after` are longer than `length`")
        return self

    def run(self, value: Array) -> Array:
        import numpy as np

        try:
            text = value.tobytes().decode("utf-8")
        except UnicodeDecodeError as error:
            raise UsageError(f"it is no UTF-8 at byte {error.start}", hint="save the sample as UTF-8") from error
        numbers = {token: self.first + at for at, token in enumerate(self.vocabulary)}
        found = [numbers.get(token, self.unknown) for token in self._cut(text.lower() if self.lower else text, numbers)]
        ids = [number for number in found if number is not None]
        if self.length is not None:
            ids = ids[: self.length - len(self.before) - len(self.after)]
        ids = [*self.before, *ids, *self.after]
        if self.length is not None:
            ids += [self.padding] * (self.length - len(ids))
        return np.asarray(ids, dtype=np.int64)

    def _cut(self, text: str, known: dict[str, int]) -> list[str]:
        if self.by == "characters":
            return list(text)
        words = text.split()
        return words if self.by == "words" else [piece for word in words for piece in _pieces(word, known)]


def _pieces(word: str, known: dict[str, int]) -> list[str]:
    """The longest pieces from the left; the whole word where a part of it is unknown, as BERT's tokenizer does."""
    pieces: list[str] = []
    start = 0
    while start < len(word):
        mark = "##" if start else ""
        end = next((end for end in range(len(word), start, -1) if mark + word[start:end] in known), 0)
        if not end:
            return [word]
        pieces.append(mark + word[start:end])
        start = end
    return pieces


plugin: type[Step] = Tokenize

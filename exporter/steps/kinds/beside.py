"""An input that a model has beside the picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from exporter.base.errors import UsageError
from exporter.steps.base import CLASSES, VALUE, Size, State, Step

if TYPE_CHECKING:
    from exporter.base.tensors import Array


class Beside(Step):
    """Puts an array beside what is handed on, as the input that is called `name`.

    - `count`: the whole numbers from 0 to `size` - 1, int64 [size], or [size, 1] with `column`.
    - `above`, `below`: float32 [`heads`, size, size] with -1e9 above or below the diagonal, and zeros elsewhere.
    - `share`: how much of a width of `size` the picture [height, width, channels] has, at most 1: float32 [].
    """

    axes: ClassVar[Sequence[int]] = (3,)

    name: Annotated[str, Field(pattern=r"^[A-Za-z_]\w*$")]
    what: Literal["count", "above", "below", "share"]
    size: Size
    heads: Size = 1
    column: bool = False

    def run(self, value: Array) -> Array:
        return value

    def apply(self, state: State) -> dict[str, Array]:
        if self.name in (VALUE, CLASSES):
            raise UsageError(f"`name` is '{self.name}', which is what is handed on", hint="name an input of the model")
        return {**super().apply(state), self.name: _MADE[self.what](self, state[VALUE])}


def _count(step: Beside, picture: Array) -> Array:
    import numpy as np

    del picture
    numbers = np.arange(step.size, dtype="int64")
    return numbers[:, None] if step.column else numbers


def _triangle(step: Beside, picture: Array) -> Array:
    import numpy as np

    del picture
    square = np.full((step.heads, step.size, step.size), -1e9, "float32")
    return np.triu(square, 1) if step.what == "above" else np.tril(square, -1)


def _share(step: Beside, picture: Array) -> Array:
    import numpy as np

    return np.asarray(min(1.0, picture.shape[1] / step.size), "float32")


_MADE: dict[str, Callable[[Beside, Array], Array]] = {
    "count": _count,
    "above": _triangle,
    "below": _triangle,
    "share": _share,
}

plugin: type[Step] = Beside

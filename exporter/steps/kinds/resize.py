"""Another size of a picture."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import model_validator

from exporter.steps.base import VALUE, Size, State, Step

if TYPE_CHECKING:
    from exporter.base.tensors import Array


class Resize(Step):
    """Resizes [height, width, channels] by one of these rules; sizes are pixels.

    - `exact`: to `height` x `width`.
    - `short`, `long`: the shorter or the longer side to `size`, the other in proportion.
    - `fit`: in proportion, as large as `height` x `width` hold.
    - `within`: in proportion to the short and long of `height` and `width`, whichever way the picture lies.
    - `line`: to `height`; in proportion and at most `width` wide, rounded up: lines of text.
    - `height`: to `height`; the width in proportion, rounded up.
    - `at_most`, `at_least`: the longer side at most, or the shorter one at least `size`, else as it is.

    A side in proportion is rounded to the nearest pixel, or `down`. `multiple_of` then rounds both sides to the nearest
    multiple, at least one, or with `multiple: up` to the next. `library` says by whose rules it interpolates;
    `pillow13` is Pillow from 13.0 on, which differs where the height shrinks and the width grows. With `tracks` the
    state gets what PaddleDetection's nets read: `im_shape` (height and width that came out, float32) and `scale_factor`
    (both factors, float32).
    """

    axes: ClassVar[Sequence[int]] = (3,)
    dtypes: ClassVar[Sequence[str]] = ("uint8", "float32", "float64")

    rule: Literal["exact", "short", "long", "fit", "within", "line", "height", "at_most", "at_least"] = "exact"
    height: Size | None = None
    width: Size | None = None
    size: Size | None = None
    multiple_of: Size = 1
    multiple: Literal["nearest", "up"] = "nearest"
    rounding: Literal["nearest", "down"] = "nearest"
    interpolation: Literal["nearest", "linear", "cubic", "area", "lanczos"] = "linear"
    library: Literal["opencv", "pillow", "pillow13"] = "opencv"
    tracks: bool = False

    @model_validator(mode="after")
    def _sizes_of_the_rule(self) -> Resize:
        wanted = {"size"} if self.rule in ("short", "long", "at_most", "at_least") else {"height", "width"}
        wanted = {"height"} if self.rule == "height" else wanted
        given = {name for name in ("height", "width", "size") if getattr(self, name) is not None}
        if given != wanted:
            raise ValueError(f"rule `{self.rule}` takes {' and '.join(f'`{name}`' for name in sorted(wanted))}")
        return self

    def target(self, tall: int, wide: int) -> tuple[int, int]:
        """The height and width, in pixels, that a picture of `tall` x `wide` gets."""
        height, width = _RULES[self.rule](self, tall, wide)
        if self.multiple_of > 1:
            step = self.multiple_of
            whole = math.ceil if self.multiple == "up" else round
            height, width = (max(whole(size / step) * step, step) for size in (height, width))
        return max(height, 1), max(width, 1)

    def run(self, value: Array) -> Array:
        from exporter.steps.resample import resample

        return resample(value, *self.target(*value.shape[:2]), self.interpolation, self.library)

    def apply(self, state: State) -> dict[str, Array]:
        import numpy as np

        after = super().apply(state)
        if self.tracks:
            before, now = state[VALUE].shape[:2], after[VALUE].shape[:2]
            after["im_shape"] = np.asarray(now, "float32")
            after["scale_factor"] = np.asarray([b / a for a, b in zip(before, now, strict=True)], "float32")
        return after


def _exact(step: Resize, tall: int, wide: int) -> tuple[int, int]:
    del tall, wide
    return step.height or 1, step.width or 1


def _side(step: Resize, tall: int, wide: int) -> tuple[int, int]:
    """The side that decides gets just its size; the other is rounded."""
    by = min(tall, wide) if step.rule in ("short", "at_least") else max(tall, wide)
    size = step.size or 1
    if (step.rule == "at_most" and by <= size) or (step.rule == "at_least" and by >= size):
        return tall, wide
    factor = size / by
    whole = int if step.rounding == "down" else round
    return whole(tall * factor), whole(wide * factor)


def _fit(step: Resize, tall: int, wide: int) -> tuple[int, int]:
    factor = min((step.height or 1) / tall, (step.width or 1) / wide)
    return round(tall * factor), round(wide * factor)


def _within(step: Resize, tall: int, wide: int) -> tuple[int, int]:
    """PaddleDetection's `keep_ratio` (ppdet 2.6, `Resize.apply`)."""
    short, long = sorted((step.height or 1, step.width or 1))
    factor = min(short / min(tall, wide), long / max(tall, wide))
    return int(factor * tall + 0.5), int(factor * wide + 0.5)


def _line(step: Resize, tall: int, wide: int) -> tuple[int, int]:
    """PaddleOCR's `resize_norm_img` (ppocr 2.8, rec_img_aug.py)."""
    height = step.height or 1
    return height, min(math.ceil(height * (wide / tall)), step.width or 1)


def _height(step: Resize, tall: int, wide: int) -> tuple[int, int]:
    """PaddleOCR's `DetResizeForTest` with `keep_ratio` (ppocr 3.1, operators.py)."""
    height = step.height or 1
    return height, math.ceil(wide * height / tall)


_RULES: dict[str, Callable[[Resize, int, int], tuple[int, int]]] = {
    "exact": _exact,
    "short": _side,
    "long": _side,
    "at_most": _side,
    "at_least": _side,
    "fit": _fit,
    "within": _within,
    "line": _line,
    "height": _height,
}

plugin: type[Step] = Resize

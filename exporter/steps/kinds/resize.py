"""Another size of a picture."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from pydantic import model_validator

from exporter.steps.base import VALUE, Size, State, Step

if TYPE_CHECKING:
    from exporter.base.tensors import Array

Rule: TypeAlias = (
    Literal["exact", "short", "long", "fit", "within", "line", "long_line", "height", "span", "blocks"]
    | Literal["at_most", "at_least", "grow", "shrink", "factor"]
)


class Resize(Step):
    """Resizes [height, width, channels] by one of these rules; sizes are pixels.

    - `exact`: to `height` x `width`.
    - `short`, `long`: the shorter or the longer side to `size`, the other in proportion.
    - `fit`: in proportion, as large as `height` x `width` hold.
    - `within`: in proportion to the short and long of `height` and `width`, whichever way the picture lies.
    - `line`: to `height`; in proportion and at most `width` wide, rounded up: lines of text.
    - `long_line`: as `line`; a longer one in proportion, rounded down.
    - `height`: to `height`; the width in proportion, rounded up.
    - `span`: to `height`; the width in proportion, rounded to `multiple_of`, from `least` to `width`.
    - `blocks`: to `height`; one, two or three times as wide, whichever the picture is not wider than, else to `width`.
    - `at_most`, `at_least`: the longer side at most, or the shorter one at least `size`, else as it is. Here and with
      `long` a side that comes out longer than `most` becomes so long, and the other in proportion, rounded down.
    - `grow`: by 1.25, or to a height of `size` where that is less.
    - `shrink`: in proportion into `height` x `width`, as Pillow's `thumbnail` does; a smaller picture stays.
    - `factor`: as `within`, with the factor handed to OpenCV (`fx`, `fy`), which places pixels by it.

    A side in proportion is rounded to the nearest pixel, of two as near to the even one or with `half_up` to the
    larger; or `down`, as a product with a factor; or `whole`: down, without the error of that factor. `multiple_of`
    then rounds both sides to the nearest multiple, at least one, or with `multiple: up` to the next. `library` says by
    whose rules it interpolates; `pillow13` is Pillow from 13.0 on, which differs where more than twice as many rows go
    as columns. With `tracks` the state gets what PaddleDetection's nets read: `im_shape` (height and width that came
    out, of `factor` before they are rounded; float32) and `scale_factor` (both factors, float32).
    """

    axes: ClassVar[Sequence[int]] = (3,)
    dtypes: ClassVar[Sequence[str]] = ("uint8", "float32", "float64")

    rule: Rule = "exact"
    height: Size | None = None
    width: Size | None = None
    size: Size | None = None
    least: Size | None = None
    most: Size | None = None
    multiple_of: Size = 1
    multiple: Literal["nearest", "up"] = "nearest"
    rounding: Literal["nearest", "half_up", "down", "whole"] = "nearest"
    interpolation: Literal["nearest", "linear", "cubic", "area", "lanczos"] = "linear"
    library: Literal["opencv", "pillow", "pillow13"] = "opencv"
    tracks: bool = False

    @model_validator(mode="after")
    def _sizes_of_the_rule(self) -> Resize:
        wanted = _SIZES.get(self.rule, {"height", "width"})
        given = {name for name in ("height", "width", "size", "least") if getattr(self, name) is not None}
        if given != wanted:
            raise ValueError(f"rule `{self.rule}` takes {' and '.join(f'`{name}`' for name in sorted(wanted))}")
        if self.most is not None and self.rule not in ("long", "at_most", "at_least"):
            raise ValueError(f"rule `{self.rule}` takes no `most`")
        if self.rule == "shrink" and (self.library == "opencv" or self.interpolation == "nearest"):
            raise ValueError(
                "rule `shrink` is Pillow's: give `library: pillow`, and another interpolation than nearest"
            )
        if self.rule == "factor" and (self.library != "opencv" or self.interpolation in ("nearest", "area")):
            raise ValueError("rule `factor` is OpenCV's, and is known of linear, cubic and lanczos")
        return self

    def target(self, tall: int, wide: int) -> tuple[int, int]:
        """The height and width, in pixels, that a picture of `tall` x `wide` gets."""
        height, width = _RULES[self.rule](self, tall, wide)
        if self.most is not None and max(height, width) > self.most:  # `max_side_limit` of PaddleOCR 3.2
            factor = self.most / max(height, width)
            height, width = int(height * factor), int(width * factor)
        if self.multiple_of > 1 and self.rule != "span":
            step = self.multiple_of
            whole = math.ceil if self.multiple == "up" else round
            height, width = (max(whole(size / step) * step, step) for size in (height, width))
        return max(height, 1), max(width, 1)

    def run(self, value: Array) -> Array:
        from exporter.steps.resample import reduced, resample

        height, width = self.target(*value.shape[:2])
        if self.rule == "shrink":
            return reduced(value, height, width, self.interpolation, self.library)
        factor = self.factor(*value.shape[:2])
        factors = (factor, factor) if self.rule == "factor" else None
        return resample(value, height, width, self.interpolation, self.library, factors)

    def factor(self, tall: int, wide: int) -> float:
        """By how much a picture of `tall` x `wide` grows with the rules `fit`, `within` and `factor`."""
        height, width = self.height or 1, self.width or 1
        if self.rule == "fit":
            return min(height / tall, width / wide)
        return min(min(height, width) / min(tall, wide), max(height, width) / max(tall, wide))

    def apply(self, state: State) -> dict[str, Array]:
        import numpy as np

        after = super().apply(state)
        if self.tracks:
            before, now = state[VALUE].shape[:2], after[VALUE].shape[:2]
            factors = [b / a for a, b in zip(before, now, strict=True)]
            if self.rule in ("fit", "factor"):  # `LetterBoxResize` and `RResize` of ppdet 2.6
                factors = [self.factor(*before)] * 2
            exact = [side * factor for side, factor in zip(before, factors, strict=True)]
            after["im_shape"] = np.asarray(exact if self.rule == "factor" else now, "float32")
            after["scale_factor"] = np.asarray(factors, "float32")
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
    if step.rounding == "whole":
        return tall * size // by, wide * size // by
    factor = size / by
    return _whole(step, tall * factor), _whole(step, wide * factor)


def _whole(step: Resize, length: float) -> int:
    if step.rounding == "half_up":
        return int(length + 0.5)
    return int(length) if step.rounding == "down" else round(length)


def _fit(step: Resize, tall: int, wide: int) -> tuple[int, int]:
    factor = step.factor(tall, wide)
    return round(tall * factor), round(wide * factor)


def _within(step: Resize, tall: int, wide: int) -> tuple[int, int]:
    """PaddleDetection's `keep_ratio` (ppdet 2.6, `Resize.apply`)."""
    factor = step.factor(tall, wide)
    return int(factor * tall + 0.5), int(factor * wide + 0.5)


def _grow(step: Resize, tall: int, wide: int) -> tuple[int, int]:
    """PaddleOCR's `resize_image_for_totaltext` (ppocr 3.1, operators.py)."""
    size = step.size or 1
    factor = size / tall if tall * 1.25 > size else 1.25
    return _whole(step, tall * factor), _whole(step, wide * factor)


def _shrink(step: Resize, tall: int, wide: int) -> tuple[int, int]:
    """The side that is not just filled is rounded to where the shape changes least (PIL/Image.py, `thumbnail`)."""
    height, width = step.height or 1, step.width or 1
    if height >= tall and width >= wide:
        return tall, wide
    aspect = wide / tall
    if width / height >= aspect:
        return height, _nearest(height * aspect, lambda width: abs(aspect - width / height))
    return _nearest(width / aspect, lambda height: abs(aspect - width / height) if height else 0.0), width


def _nearest(length: float, error: Callable[[int], float]) -> int:
    return max(min(math.floor(length), math.ceil(length), key=error), 1)


def _line(step: Resize, tall: int, wide: int) -> tuple[int, int]:
    """PaddleOCR's `resize_norm_img` (ppocr 2.8, rec_img_aug.py)."""
    height = step.height or 1
    return height, min(math.ceil(height * (wide / tall)), step.width or 1)


def _long_line(step: Resize, tall: int, wide: int) -> tuple[int, int]:
    """PaddleOCR's `resize_norm_img_chinese` (ppocr 3.1, rec_img_aug.py)."""
    height, ratio = step.height or 1, wide / tall
    most = int(height * max((step.width or 1) / height, ratio))
    return height, min(math.ceil(height * ratio), most)


def _height(step: Resize, tall: int, wide: int) -> tuple[int, int]:
    """PaddleOCR's `DetResizeForTest` with `keep_ratio` (ppocr 3.1, operators.py)."""
    height = step.height or 1
    return height, math.ceil(wide * height / tall)


def _span(step: Resize, tall: int, wide: int) -> tuple[int, int]:
    """PaddleOCR's `resize_norm_img_sar` (ppocr 3.1, rec_img_aug.py)."""
    height = step.height or 1
    width = math.ceil(height * (wide / tall))
    if width % step.multiple_of:
        width = round(width / step.multiple_of) * step.multiple_of
    return height, min(max(step.least or 1, width), step.width or 1)


def _blocks(step: Resize, tall: int, wide: int) -> tuple[int, int]:
    """PaddleOCR's `resize_norm_img_srn` (ppocr 3.1, rec_img_aug.py)."""
    height = step.height or 1
    return height, next((height * times for times in (1, 2, 3) if wide <= tall * times), step.width or 1)


#: The sizes that a rule takes where they are not `height` and `width`.
_SIZES: dict[str, set[str]] = {
    **{rule: {"size"} for rule in ("short", "long", "at_most", "at_least", "grow")},
    "height": {"height"},
    "span": {"height", "width", "least"},
}
_RULES: dict[str, Callable[[Resize, int, int], tuple[int, int]]] = {
    "exact": _exact,
    "short": _side,
    "long": _side,
    "at_most": _side,
    "at_least": _side,
    "fit": _fit,
    "within": _within,
    "line": _line,
    "long_line": _long_line,
    "height": _height,
    "span": _span,
    "blocks": _blocks,
    "grow": _grow,
    "shrink": _shrink,
    "factor": _fit,
}

plugin: type[Step] = Resize

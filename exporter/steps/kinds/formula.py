"""A formula without its margin, in a size that a reader of formulas takes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import model_validator

from exporter.base.errors import UsageError
from exporter.steps.base import Size, Step

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: Between dark and bright, of 0 to 255; a border of white; and what sides are padded to multiples of.
_MIDDLE, _WHITE, _MULTIPLE = 128, 255, 32


class Formula(Step):
    """[height, width, 3], an RGB picture of bytes, in `least` to `most` pixels, each [height, width].

    A picture whose sides lie between these stays as it is. Of another the brightness is stretched from 0 to 255, turned
    to dark on white, cut to what is written, and padded with white to multiples of 32; then shrunk into `most` by
    Pillow's bilinear rule (`library` as of `resize`), and padded to `least`. It comes out in three equal channels. As
    PaddleOCR's `MinMaxResize` of LaTeX-OCR does (ppocr 3.1, latex_ocr_aug.py).
    """

    axes: ClassVar[Sequence[int]] = (3,)
    dtypes: ClassVar[Sequence[str]] = ("uint8",)

    least: tuple[Size, Size] = (32, 32)
    most: tuple[Size, Size] = (192, 672)
    library: Literal["pillow", "pillow13"] = "pillow"

    @model_validator(mode="after")
    def _grows(self) -> Formula:
        if any(low > high for low, high in zip(self.least, self.most, strict=True)):
            raise ValueError("`least` is larger than `most`")
        return self

    def run(self, value: Array) -> Array:
        import numpy as np

        if value.shape[2] != 3:
            what = f"it takes three channels, and got shape {list(value.shape)}"
            raise UsageError(what, hint="put it behind `decode`")
        tall, wide = value.shape[:2]
        if self.least[0] <= tall <= self.most[0] and self.least[1] <= wide <= self.most[1]:
            return value.copy()
        return np.repeat(self._padded(self._shrunk(_cut(value)))[:, :, None], 3, axis=2)

    def _shrunk(self, page: Array) -> Array:
        from exporter.steps.resample import resample

        ratio = max(side / most for side, most in zip(page.shape, self.most, strict=True))
        if ratio <= 1:
            return page
        height, width = (int(side // ratio) for side in page.shape)
        return resample(page[:, :, None], max(height, 1), max(width, 1), "linear", self.library)[:, :, 0]

    def _padded(self, page: Array) -> Array:
        import numpy as np

        size = [max(side, least) for side, least in zip(page.shape, self.least, strict=True)]
        if tuple(size) == page.shape:
            return page
        if not all(border.any() for border in (page[0], page[-1], page[:, 0], page[:, -1])):
            what = "a row or a column at its border is black, which the original cannot pad either"
            raise UsageError(what, hint="give samples with a margin, or less long ones")
        padded = np.full(size, _WHITE, "uint8")
        padded[: page.shape[0], : page.shape[1]] = page
        return padded


def _cut(value: Array) -> Array:
    """What is written, dark on white, padded to multiples of 32."""
    import numpy as np

    from exporter.steps.kinds.gray import brightness
    from exporter.steps.kinds.trim import stretch, written

    bright = stretch(brightness(value, "pillow"))
    if bright is None:
        raise UsageError("the picture has one brightness, so nothing is written on it", hint="give another sample")
    dark_on_white = bright.mean() > _MIDDLE
    mask = bright < _MIDDLE if dark_on_white else bright > _MIDDLE
    part = (bright if dark_on_white else 255 - bright)[written(mask)]
    page = np.full([-(-side // _MULTIPLE) * _MULTIPLE for side in part.shape], _WHITE, "uint8")
    page[: part.shape[0], : part.shape[1]] = part.astype("float32")
    return page


plugin: type[Step] = Formula

"""The part of a picture that something is written on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from exporter.base.errors import UsageError
from exporter.steps.base import Step

if TYPE_CHECKING:
    from exporter.base.tensors import Array


class Trim(Step):
    """Cuts [height, width, 3], an RGB picture of bytes, to the rectangle around what is dark.

    Dark is what is below `dark` where Pillow's brightness is stretched from 0 to 255. A picture of one brightness stays
    as it is. As PaddleOCR's `UniMERNetImgDecode` does (ppocr 3.1, unimernet_aug.py).
    """

    axes: ClassVar[Sequence[int]] = (3,)
    dtypes: ClassVar[Sequence[str]] = ("uint8",)

    dark: float = 200.0

    def run(self, value: Array) -> Array:
        from exporter.steps.kinds.gray import brightness

        if value.shape[2] != 3:
            what = f"it takes three channels, and got shape {list(value.shape)}"
            raise UsageError(what, hint="put it behind `decode`")
        stretched = stretch(brightness(value, "pillow"))
        if stretched is None:
            return value.copy()
        rows, columns = written(stretched < self.dark)
        return value[rows, columns].copy()


def stretch(bright: Array) -> Array | None:
    """The brightness from 0 to 255, float64; None of one brightness."""
    low, high = bright.min(), bright.max()
    return None if low == high else (bright - low) / (high - low) * 255


def written(mask: Array) -> tuple[slice, slice]:
    """The rows and the columns of the rectangle around what a mask holds."""
    rows, columns = mask.nonzero()
    return slice(int(rows.min()), int(rows.max()) + 1), slice(int(columns.min()), int(columns.max()) + 1)


plugin: type[Step] = Trim

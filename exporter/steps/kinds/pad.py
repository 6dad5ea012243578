"""A border around a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import model_validator

from exporter.base.errors import UsageError
from exporter.steps.base import Size, Step

if TYPE_CHECKING:
    from exporter.base.tensors import Array


class Pad(Step):
    """Pads to `height` x `width` pixels, or to the next multiples of `multiple_of`, with `value`.

    `value` is one number, or one for each channel. The picture stays at the top left, or in the middle, where of an
    odd border the larger half lies below and at the right. With `least` a side that is longer stays as it is. `axis`
    says whether channels come first or last.
    """

    axes: ClassVar[Sequence[int]] = (3,)

    height: Size | None = None
    width: Size | None = None
    multiple_of: Size | None = None
    value: float | tuple[float, ...] = 0.0
    place: Literal["top_left", "centre"] = "top_left"
    least: bool = False
    axis: Literal["first", "last"] = "last"

    @model_validator(mode="after")
    def _of_something(self) -> Pad:
        if (self.multiple_of is None) == (self.height is None and self.width is None):
            raise ValueError("give `height` and `width`, one of them, or `multiple_of`")
        return self

    def target(self, tall: int, wide: int) -> tuple[int, int]:
        """The height and width that a picture is padded to; less than its own where it is too large."""
        if self.multiple_of:
            height, width = (-(-size // self.multiple_of) * self.multiple_of for size in (tall, wide))
            return height, width
        height, width = self.height or tall, self.width or wide
        return (max(height, tall), max(width, wide)) if self.least else (height, width)

    def corner(self, tall: int, wide: int) -> tuple[int, int]:
        """How many rows lie above the picture, and how many columns left of it."""
        height, width = self.target(tall, wide)
        return ((height - tall) // 2, (width - wide) // 2) if self.place == "centre" else (0, 0)

    def run(self, value: Array) -> Array:
        import numpy as np

        rows = 1 if self.axis == "first" else 0
        tall, wide = value.shape[rows : rows + 2]
        height, width = self.target(tall, wide)
        if height < tall or width < wide:
            raise UsageError(
                f"it pads to {height} x {width} pixels, and the picture has {tall} x {wide}",
                hint="make the picture smaller before it, by a `resize` or a `crop`",
            )
        channels = value.shape[0 if self.axis == "first" else 2]
        if isinstance(self.value, tuple) and len(self.value) not in (1, channels):
            raise UsageError(
                f"`value` has {len(self.value)} numbers for {channels} channels",
                hint="give one number, or one for each channel",
            )
        shape = (channels, height, width) if self.axis == "first" else (height, width, channels)
        fill = np.asarray(self.value, dtype="float64")
        if value.dtype.kind in "iu":  # as OpenCV's copyMakeBorder: rounded, and held in the range
            ends = np.iinfo(value.dtype)
            fill = np.clip(np.rint(fill), ends.min, ends.max)
        fill = fill.astype(value.dtype).reshape((-1, 1, 1) if self.axis == "first" else (1, 1, -1))
        padded = np.empty(shape, dtype=value.dtype)
        padded[...] = fill
        top, left = self.corner(tall, wide)
        inside = (slice(top, top + tall), slice(left, left + wide))
        padded[(slice(None), *inside) if self.axis == "first" else (*inside, slice(None))] = value
        return padded


plugin: type[Step] = Pad

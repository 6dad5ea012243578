"""A part of a picture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from exporter.base.errors import UsageError
from exporter.steps.base import Size, Step

if TYPE_CHECKING:
    from exporter.base.tensors import Array


class Crop(Step):
    """Cuts `height` x `width` pixels out of [height, width, channels]; the middle, or the top left corner.

    Of an odd remainder the larger half is left below and at the right, as PaddleClas does (ppcls 2.6, `CropImage`).
    """

    axes: ClassVar[Sequence[int]] = (3,)

    height: Size
    width: Size
    place: Literal["centre", "top_left"] = "centre"

    def corner(self, tall: int, wide: int) -> tuple[int, int]:
        """The row and the column at which the part begins."""
        return ((tall - self.height) // 2, (wide - self.width) // 2) if self.place == "centre" else (0, 0)

    def run(self, value: Array) -> Array:
        tall, wide = value.shape[:2]
        if tall < self.height or wide < self.width:
            raise UsageError(
                f"it cuts {self.height} x {self.width} pixels out of {tall} x {wide}",
                hint="make the picture larger before it, by a `resize`",
            )
        top, left = self.corner(tall, wide)
        return value[top : top + self.height, left : left + self.width].copy()


plugin: type[Step] = Crop

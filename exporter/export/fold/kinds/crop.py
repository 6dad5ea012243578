"""A part of a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporter.base.errors import UsageError
from exporter.export.fold.base import Operator, sizes
from exporter.steps.kinds.crop import Crop

if TYPE_CHECKING:
    import paddle


class FoldedCrop(Operator[Crop]):
    """Slices rows and columns."""

    def run(self, step: Crop, value: paddle.Tensor) -> paddle.Tensor:
        tall, wide, _ = sizes(value, "crop")
        if tall < step.height or wide < step.width:
            raise UsageError(
                f"crop cuts {step.height} x {step.width} pixels out of {tall} x {wide}",
                where="pipeline.fold",
                hint="put a `resize` to a larger size before it",
            )
        top, left = step.corner(tall, wide)
        return value[:, top : top + step.height, left : left + step.width]


plugin: Operator[Crop] = FoldedCrop()

"""A border around a picture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporter.base.errors import UsageError
from exporter.export.fold.base import Operator, sizes
from exporter.export.fold.constants import floats
from exporter.steps.kinds.pad import Pad

if TYPE_CHECKING:
    import paddle


class FoldedPad(Operator[Pad]):
    """Joins borders of constants: `pad` has no kernel for uint8 (Paddle 3.3.1)."""

    def run(self, step: Pad, value: paddle.Tensor) -> paddle.Tensor:
        rows = 1 if step.axis == "first" else 0
        tall, wide = sizes(value, "pad")[rows : rows + 2]
        height, width = step.target(tall, wide)
        if height < tall or width < wide:
            raise UsageError(
                f"pad makes {height} x {width} pixels, and the picture has {tall} x {wide}",
                where="pipeline.fold",
                hint="put a `resize` or a `crop` before it",
            )
        top, left = step.corner(tall, wide)
        value = _joined(value, rows + 1, (top, height - tall - top), step)
        return _joined(value, rows + 2, (left, width - wide - left), step)


def _joined(value: paddle.Tensor, axis: int, borders: tuple[int, int], step: Pad) -> paddle.Tensor:
    """The value between two borders along an axis, either of which may be nothing."""
    import paddle

    before, after = (_border(value, axis, size, step) if size else None for size in borders)
    parts = [part for part in (before, value, after) if part is not None]
    return paddle.concat(parts, axis=axis) if len(parts) > 1 else value


def _border(value: paddle.Tensor, axis: int, size: int, step: Pad) -> paddle.Tensor:
    """`size` constant places along an axis; made of the value's own first place, so that the batch may be open."""
    import numpy as np
    import paddle

    dtype = str(value.dtype).rpartition(".")[2]
    fill = np.asarray(step.value, dtype).reshape((1, -1, 1, 1) if step.axis == "first" else (1, 1, 1, -1))
    place = paddle.slice(value, [axis], [0], [1])
    times = [size if at == axis else 1 for at in range(4)]
    # By way of float32: of uint8 there is no `tile` in every engine.
    border = paddle.tile(paddle.zeros_like(place.astype("float32")) + floats(fill), times)
    return border.astype(dtype)


plugin: Operator[Pad] = FoldedPad()

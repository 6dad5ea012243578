"""OpenCV's resize of uint8 pictures on Paddle operators, byte for byte: whole numbers, so that engines agree.

Everything is int32, and nothing is 2**24 or more: OpenVINO 2026.4 divides int32 in float32. It also stays what it is
where floats become float16.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from exporter.base.errors import UsageError
from exporter.export.fold import taps
from exporter.export.fold.constants import whole

if TYPE_CHECKING:
    import paddle

#: What a size is: a whole number, or a tensor of one, int32 [1].
Size: TypeAlias = Any
#: Two pixels for each place along an axis, as (which, its weight): int32 [size] each.
_Taps: TypeAlias = "tuple[tuple[paddle.Tensor, paddle.Tensor], ...]"
#: The largest size that is resized to where that of the picture is open: what is computed stays below 2**24.
LARGEST = 1023
_FIXED = "give the input one height and width, or leave the resize outside the graph: without `fold`"


def nearest(pictures: paddle.Tensor, height: Size, width: Size) -> paddle.Tensor:
    """`cv2.resize(picture, (width, height), interpolation=cv2.INTER_NEAREST)`.

    Pictures are uint8 [batch, rows, columns, channels].

    Raises:
        UsageError: rows or columns are open: OpenCV rounds the places in float64, which OpenVINO does not have.
    """
    import paddle

    for axis, size in ((2, width), (1, height)):
        source = size_of(pictures, axis)
        if not (isinstance(source, int) and isinstance(size, int)):
            raise UsageError("pictures of any size cannot be resized to the nearest pixel in a graph", hint=_FIXED)
        pictures = paddle.gather(pictures, whole(taps.nearest(source, size)), axis=axis)
    return pictures


def linear(pictures: paddle.Tensor, height: Size, width: Size) -> paddle.Tensor:
    """`cv2.resize(picture, (width, height))`, which is bilinear.

    Pictures are uint8 [batch, rows, columns, channels], whose rows and columns may be open (-1) while they are traced,
    and are 4096 at most then.

    Raises:
        UsageError: a size is open, and the picture is to be larger than :data:`LARGEST`.
    """
    import paddle

    (left, share_left), (right, share_right) = _taps(size_of(pictures, 2), width, rows=False)
    values = pictures.astype("int32")
    wide = paddle.gather(values, left, axis=2) * share_left.reshape([1, 1, -1, 1])
    wide = wide + paddle.gather(values, right, axis=2) * share_right.reshape([1, 1, -1, 1])
    wide = wide // 16
    parts = [
        _product(paddle.gather(wide, places, axis=1), weights.reshape([1, -1, 1, 1]))
        for places, weights in _taps(size_of(pictures, 1), height, rows=True)
    ]
    return ((parts[0] + parts[1] + 2) // 4).astype("uint8")


def size_of(pictures: paddle.Tensor, axis: int) -> Size:
    """The size of an axis: a whole number, or where it is open a tensor of one, int32 [1]."""
    import paddle

    size = pictures.shape[axis]
    return int(size) if isinstance(size, int) and size >= 0 else paddle.shape(pictures)[axis : axis + 1].astype("int32")


def _product(values: paddle.Tensor, weights: paddle.Tensor) -> paddle.Tensor:
    """`values * weights // 65536` of 15 and 12 bits, by halves of the values."""
    high = values // 256
    return (high * weights + (values - high * 256) * weights // 256) // 256


def _taps(source: Size, size: Size, *, rows: bool) -> _Taps:
    if not (isinstance(source, int) and isinstance(size, int)):
        return _linear_open(source, size, rows=rows)
    table = taps.linear(source, size, rows=rows)
    return tuple((whole(table.index[:, tap]), whole(table.weight[:, tap])) for tap in range(2))


def _numbered(size: Size) -> paddle.Tensor:
    """0, 1, … of the axis that is made."""
    import paddle

    if isinstance(size, int) and size > LARGEST:
        raise UsageError(
            f"a picture of any size is to be resized to {size} pixels, and {LARGEST} are the most",
            hint=_FIXED,
        )
    return paddle.arange(0, size, 1, dtype="int32")


def _linear_open(source: Size, size: Size, *, rows: bool) -> _Taps:
    """What :func:`exporter.export.fold.taps.linear` computes in floats, in whole numbers.

    The middle of a place lies `rest / whole` behind the pixel `first`. As float32 it has the 23 bits behind its leading
    one, so that of a middle of 2**e and more `rest / whole` is rounded to 23 - e bits; then to the 11 of a weight.
    """
    import paddle

    whole = size * 2
    ahead = (_numbered(size) * 2 + 1) * source - size
    first = (ahead + whole) // whole - 1  # -1 where the middle lies before the picture
    rest = ahead - first * whole
    steps = paddle.full_like(first, 2048)  # 2**(11 - e)
    for exponent in range(1, 12):
        steps = paddle.where(first >= 2**exponent, paddle.full_like(first, 2 ** (11 - exponent)), steps)
    coarse = rest * 4096 // whole
    left = (rest * 4096 - coarse * whole) * steps
    fine = left // whole
    left = left - fine * whole
    # Bits behind the weight's 11, all those of float32: one of `coarse`, then those of `fine`.
    odd = (fine - fine // 2 * 2) > 0
    up = paddle.logical_or(left * 2 > whole, paddle.logical_and(left * 2 == whole, odd))
    fine = fine + up.astype("int32")
    carried = fine // steps
    coarse, fine = coarse + carried, fine - carried * steps
    weight, half = coarse // 2, coarse - coarse // 2 * 2 > 0
    tie_up = paddle.logical_or(fine > 0, weight - weight // 2 * 2 > 0)
    weight = weight + paddle.logical_and(half, tie_up).astype("int32")
    last = source - 1
    if not rows:
        outside = paddle.logical_or(first < 0, first >= last)
        weight = paddle.where(outside, paddle.zeros_like(weight), weight)
    return (_within(first, last), 2048 - weight), (_within(first + 1, last), weight)


def _within(places: paddle.Tensor, last: Size) -> paddle.Tensor:
    import paddle

    last = last if not isinstance(last, int) else paddle.full([1], last, "int32")
    return paddle.minimum(paddle.maximum(places, paddle.zeros_like(places)), last.expand_as(places))

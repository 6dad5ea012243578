"""F.pad by sizes that the program computes."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value
from exporter.export.trace.fixes.sizes import computed, sizes_of
from exporter.paddle.values import is_variable, joined


def _all_axes(self: Layer, x: Tensor) -> Tensor:
    import paddle.nn.functional as F

    return F.pad(x, [0, 0, 0, x.shape[0]])


def _of_pictures(self: Layer, x: Tensor) -> Tensor:
    import paddle.nn.functional as F

    return F.pad(x, [0, x.shape[0], 0, 1])


class Pad(Fix):
    """A list for all axes is an attribute, which holds no size that is computed.

    A list for the axes of a picture is one too, in a legacy program; as one tensor it is read.
    """

    apis = ("paddle.nn.functional.pad",)
    seen = ("3.0.0", "3.3.1")
    examples = (
        Example(_all_axes, (("n", 4),)),
        Example(_of_pictures, (("n", 3, 4, 4),), formats=("pdmodel",)),
    )

    def instead(  # noqa: PLR0913 - the signature of paddle.nn.functional.pad
        self,
        stock: Value,
        x: Value,
        pad: Value,
        mode: str = "constant",
        value: Value = 0.0,
        data_format: Value = None,
        pad_from_left_axis: bool = True,
        name: str | None = None,
    ) -> Value:
        """With a computed size in a list for all axes, blocks of `value` are set beside x."""
        rank = len(x.shape)
        if mode != "constant" or not computed(pad) or len(pad) == 2 * (rank - 2):
            sizes = joined(pad, "int32") if computed(pad) and is_variable(x) else pad
            return stock(x, sizes, mode, value, data_format, pad_from_left_axis)
        pairs = list(zip(pad[::2], pad[1::2], strict=True))
        order = range(rank) if len(pairs) == rank and pad_from_left_axis else range(rank - 1, -1, -1)
        for axis, (before, after) in zip(order, pairs, strict=False):
            x = _beside(x, axis, before, after, value)
        return x


def _beside(x: Value, axis: int, before: Value, after: Value, value: Value) -> Value:
    """`x` between two blocks of `value`, as many rows of which as are asked for."""
    import paddle

    parts = [x]
    for place, count in ((0, before), (2, after)):
        if isinstance(count, int) and count == 0:
            continue
        sizes = sizes_of(x)
        sizes[axis] = count
        parts.insert(place, paddle.full(sizes, value, x.dtype))
    return paddle.concat(parts, axis) if len(parts) > 1 else x


plugin: Fix = Pad()

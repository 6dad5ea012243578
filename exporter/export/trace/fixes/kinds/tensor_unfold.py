"""paddle.unfold and Tensor.unfold: windows along an axis."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.export.trace.fixes.sizes import sizes_of
from exporter.paddle.patches import Patches


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return paddle.unfold(x, 1, 3, 2)


def _of_any_length(self: Layer, x: Tensor) -> Tensor:
    return x.unfold(-2, 2, 3)


class TensorUnfold(Fix):
    """Stock is marked "dynamic graph only": what it gives is a view, by strides that no program has."""

    apis = ("paddle.unfold",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 8),)), Example(_of_any_length, (("n", "h", 3),)))

    def install(self, patches: Patches, refuse: Refuse) -> None:
        import paddle

        patches.outermost(paddle.unfold, self.within_programs(self.instead, refuse))

    def instead(self, stock: Value, x: Value, axis: int, size: int, step: int, name: str | None = None) -> Value:
        """Windows of `size` every `step`, as a new last axis."""
        import paddle

        rank = len(x.shape)
        axis, sizes = axis % rank, sizes_of(x)
        if isinstance(sizes[axis], int) and size > sizes[axis]:
            raise ValueError(f"unfold: a window of {size} is longer than the axis, which has {sizes[axis]}")
        count = (sizes[axis] - size) // step + 1
        starts = paddle.arange(count, dtype="int64") * step
        places = paddle.unsqueeze(starts, 1) + paddle.arange(size, dtype="int64")
        windows = paddle.index_select(x, paddle.flatten(places), axis)
        split = paddle.reshape(windows, [*sizes[:axis], count, size, *sizes[axis + 1 :]])
        return paddle.transpose(split, [*range(axis + 1), *range(axis + 2, rank + 1), axis + 1])


plugin: Fix = TensorUnfold()

"""`x.view(*x.shape[:2], 4, -1)`: Tensor.view, and view_as, which share memory eagerly."""

from __future__ import annotations

import inspect

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.paddle.patches import Patches


def _numbers(self: Layer, x: Tensor) -> Tensor:
    return x.view(-1, 2) * 2.0


def _sizes(self: Layer, x: Tensor) -> Tensor:
    return x.view(*x.shape[:1], 2, -1) * 2.0, x.view(size=[x.shape[0] * 4]) + 1.0


def _other(self: Layer, x: Tensor) -> Tensor:
    y = x.reshape([-1, 2]) * 2.0
    return x.view_as(y) + y, x.view([-1, 1, 4]) - 1.0


class ViewMethod(Fix):
    """Both are marked "dynamic graph only"; in a program nothing shares memory, and a view of a shape is a reshape."""

    apis = ("paddle.Tensor.view", "paddle.Tensor.view_as")
    seen = ("3.3.1", "3.3.1")
    examples = (
        Example(_numbers, (("n", 4),)),
        Example(_sizes, (("n", 4),)),
        Example(_other, (("n", 4),), formats=("pir",)),
    )

    def install(self, patches: Patches, refuse: Refuse) -> None:
        import paddle

        from exporter.paddle.private import manipulation

        plain = inspect.unwrap(manipulation.view)

        def viewed(_: Value, x: Value, *shape: Value, **named: Value) -> Value:
            sizes = _sizes_of(shape, named)
            return plain(x, *shape, **named) if sizes is None else paddle.reshape(x, sizes)

        patches.outermost(manipulation.view, self.within_programs(viewed, refuse))
        patches.outermost(manipulation.view_as, self.within_programs(_viewed_as, refuse))


def _sizes_of(shape: tuple[Value, ...], named: dict[str, Value]) -> list[Value] | None:
    """The sizes that are given one by one, as a list or by name; None where a dtype is."""
    import paddle

    sizes = next((named[name] for name in ("shape_or_dtype", "size") if name in named), shape)
    if len(shape) == 1 and isinstance(shape[0], (list, tuple)):
        sizes = shape[0]
    of_sizes = isinstance(sizes, (list, tuple)) and "dtype" not in named
    return list(sizes) if of_sizes and all(isinstance(size, int) or paddle.is_tensor(size) for size in sizes) else None


def _viewed_as(stock: Value, x: Value, other: Value, name: Value = None) -> Value:
    import paddle

    return paddle.reshape(x, other.shape if -1 not in other.shape else paddle.shape(other))


plugin: Fix = ViewMethod()

"""`paddle.clip(x, 0, width - 1)`: a bound that a tensor or a size of the program is."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value
from exporter.paddle.values import in_program


def _index(self: Layer, x: Tensor) -> Tensor:
    return (x * 3.0).astype("int64").clip(0, x.shape[1] - 1)


def _bounds(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return paddle.clip(x, min=-x.shape[0], max=x.shape[1] - 3)


def _flat(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return paddle.clip(x.sum(), max=x.shape[0] - 2)


class Clip(Fix):
    """Stock refuses an int64 bound in a legacy program (`tensor/math.py`), and a size is one."""

    apis = ("paddle.clip",)
    formats = ("pdmodel",)
    seen = ("3.3.1", "3.3.1")
    examples = (Example(_index, (("n", "h"),)), Example(_bounds, (("n", "h"),)), Example(_flat, (("n", 4),)))

    def instead(self, stock: Value, x: Value, min: Value = None, max: Value = None, **named: Value) -> Value:
        import paddle

        becomes_float = "int" in str(x.dtype).lower() and any(type(bound) is float for bound in (min, max))
        if becomes_float or not any(_refused(bound) for bound in (min, max)):
            return stock(x, min, max, **named)
        for bound, limit in ((min, paddle.maximum), (max, paddle.minimum)):
            if bound is not None:
                tensor = paddle.reshape(bound, []) if in_program(bound) else paddle.full([], bound, x.dtype)
                x = limit(x, paddle.cast(tensor, x.dtype))
        return x


def _refused(bound: Value) -> bool:
    return in_program(bound) and "int64" in str(bound.dtype).lower()


plugin: Fix = Clip()

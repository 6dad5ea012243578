"""paddle.where of complex values in a legacy program."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle

    z = paddle.fft.rfft(x)
    chosen = paddle.where(paddle.abs(z) > 1, z, z * 0.5)
    return paddle.as_real(chosen), paddle.as_real(paddle.where(x[..., :4] > 0, z, x[..., :4]))


class Where(Fix):
    """A legacy program chooses among real tensors alone: each part is chosen."""

    apis = ("paddle.where",)
    formats = ("pdmodel",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 4, 6),)),)

    def instead(
        self, stock: Value, condition: Value, x: Value = None, y: Value = None, *rest: Value, **named: Value
    ) -> Value:
        import paddle

        if not any(isinstance(choice, complex) or _is_complex(choice) for choice in (x, y)):
            return stock(condition, x, y, *rest, **named)
        parts = (_parts(x), _parts(y))
        return paddle.complex(*(stock(condition, *chosen) for chosen in zip(*parts, strict=True)))


def _is_complex(value: Value) -> bool:
    import paddle

    return hasattr(value, "dtype") and paddle.is_complex(value)


def _parts(value: Value) -> tuple[Value, Value]:
    import paddle

    if _is_complex(value):
        return paddle.real(value), paddle.imag(value)
    if hasattr(value, "dtype"):
        return value, paddle.zeros_like(value)
    return complex(value).real, complex(value).imag


plugin: Fix = Where()

"""paddle.full_like, zeros_like and ones_like of complex values in a legacy program."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle

    z = paddle.fft.rfft(x)
    return paddle.as_real(z * paddle.full_like(z, 2.5) + paddle.zeros_like(z))


class FullLike(Fix):
    """A legacy program fills real tensors alone: each part is filled."""

    apis = ("paddle.full_like",)
    formats = ("pdmodel",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 4, 6),)),)

    def instead(self, stock: Value, x: Value, fill_value: Value, dtype: Value = None, **more: Value) -> Value:
        import paddle

        wanted = str(x.dtype if dtype is None else dtype).rpartition(".")[2].lower()
        like = paddle.real(x) if paddle.is_complex(x) else x
        if "complex" not in wanted or not isinstance(fill_value, (int, float, complex)):
            return stock(like, fill_value, dtype, **more)
        floats = "float64" if wanted == "complex128" else "float32"
        parts = (complex(fill_value).real, complex(fill_value).imag)
        return paddle.complex(*(stock(like, part, floats, **more) for part in parts))


plugin: Fix = FullLike()

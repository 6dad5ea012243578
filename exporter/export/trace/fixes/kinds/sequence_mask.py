"""F.sequence_mask up to a length that the program computes."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value
from exporter.paddle.values import is_variable


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle.nn.functional as F

    return F.sequence_mask((x[:, 0] > 0).astype("int64") + 1, x.shape[1], "float32")


class SequenceMask(Fix):
    """Stock asks for an int32 as the longest length, and a shape is int64."""

    apis = ("paddle.nn.functional.sequence_mask",)
    formats = ("pdmodel",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", "w"),)),)

    def instead(
        self, stock: Value, x: Value, maxlen: Value = None, dtype: Value = "int64", name: Value = None
    ) -> Value:
        """Ones before each length."""
        import paddle

        if not is_variable(maxlen):
            return stock(x, maxlen, dtype)
        places = paddle.arange(0, paddle.reshape(maxlen, []), 1, "int64")
        return paddle.less_than(places, paddle.unsqueeze(x, -1).astype("int64")).astype(dtype)


plugin: Fix = SequenceMask()

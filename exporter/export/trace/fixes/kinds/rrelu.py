"""F.rrelu in a legacy program."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle.nn.functional as F

    return F.rrelu(x, training=False)


class RRelu(Fix):
    """The legacy operator's second output is not declared: the file loads, and fails when it runs."""

    apis = ("paddle.nn.functional.rrelu",)
    formats = ("pdmodel",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 4),)),)

    def instead(
        self,
        stock: Value,
        x: Value,
        lower: float = 0.125,
        upper: float = 1.0 / 3.0,
        training: bool = True,
        name: str | None = None,
    ) -> Value:
        import paddle

        if training:
            return stock(x, lower, upper, training, name)
        return paddle.nn.functional.leaky_relu(x, (lower + upper) / 2.0)


plugin: Fix = RRelu()

"""paddle.concat along an axis that numpy computed."""

from __future__ import annotations

import numpy as np

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value


def _forward(self: Layer, x: Tensor) -> Tensor:
    import numpy
    import paddle

    return paddle.concat([x, x], numpy.int64(1))


class Concat(Fix):
    """numpy's integers are no int to a legacy program."""

    apis = ("paddle.concat",)
    formats = ("pdmodel",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 4),)),)

    def instead(self, stock: Value, x: Value, axis: Value = 0, **more: Value) -> Value:
        return stock(x, int(axis) if isinstance(axis, np.integer) else axis, **more)


plugin: Fix = Concat()

"""paddle.linalg.solve in a legacy program."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor
from exporter.export.trace.fixes.rebound import Rebound


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return paddle.linalg.solve(x @ x.transpose([0, 2, 1]) + paddle.eye(3), x)


class Solve(Rebound):
    """The legacy branch returns an unset name."""

    apis = ("paddle.linalg.solve",)
    examples = (Example(_forward, (("n", 3, 3),)),)


plugin: Fix = Solve()

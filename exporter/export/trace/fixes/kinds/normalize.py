"""F.normalize in a legacy program."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor
from exporter.export.trace.fixes.rebound import Rebound


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle.nn.functional as F

    return F.normalize(x)


class Normalize(Rebound):
    """The legacy branch returns an unset name."""

    apis = ("paddle.nn.functional.normalize",)
    examples = (Example(_forward, (("n", 4),)),)


plugin: Fix = Normalize()

"""Functions that are marked "dynamic graph only": as_strided, fill_ and zero_."""

from __future__ import annotations

import inspect

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor
from exporter.paddle.patches import Patches


def _as_strided(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return paddle.as_strided(x[0], [2, 2], [2, 1])


def _fill(self: Layer, x: Tensor) -> Tensor:
    y = x * 2
    y.fill_(3.0)
    return x + y


def _zero(self: Layer, x: Tensor) -> Tensor:
    y = x * 2
    y.zero_()
    return x + y


class DygraphOnly(Fix):
    """The mark refuses a legacy program; behind it they call C++, of which `lower/pdmodel` knows what is meant."""

    apis = tuple(f"paddle.Tensor.{name}" for name in ("as_strided", "fill_", "zero_"))
    formats = ("pdmodel",)
    seen = ("3.0.0", "3.3.1")
    examples = tuple(Example(forward, (("n", 4),)) for forward in (_as_strided, _fill, _zero))

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from exporter.paddle.private import manipulation

        for api in self.apis:
            marked = getattr(manipulation, api.rpartition(".")[2])
            plain = inspect.unwrap(marked)
            patches.outermost(
                marked, self.within_programs(lambda _, *args, plain=plain, **kwargs: plain(*args, **kwargs), refuse)
            )


plugin: Fix = DygraphOnly()

"""einops.rearrange and its kin with dims that vary."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.export.trace.fixes.sizes import sizes_of
from exporter.export.trace.fixes.variable import method
from exporter.paddle.patches import Patches
from exporter.paddle.values import in_program


def _flat(self: Layer, x: Tensor) -> Tensor:
    from einops import rearrange

    return rearrange(x, "batch channels height width -> batch (height width) channels")


def _apart(self: Layer, x: Tensor) -> Tensor:
    from einops import rearrange

    return rearrange(x[:, : x.shape[1]], "n (a b) h w -> n a b h w", a=2, b=2)


def _again(self: Layer, x: Tensor) -> Tensor:
    from einops import reduce, repeat

    return repeat(reduce(x, "n c (h two) w -> n c h w", "mean", two=2), "n c h w -> n c (h twice) w", twice=2)


class Einops(Fix):
    """einops takes the -1 of a dim that varies for its size: the product of two is 1, and no size is 32.

    Its own protocol has symbols for sizes, and other frameworks give some (`PaddleBackend.shape` in
    `einops/_backends.py`, 0.8.2).
    """

    apis = ("einops.rearrange", "einops.reduce", "einops.repeat")
    seen = ("3.3.1", "3.3.1")
    examples = tuple(Example(forward, (("n", 4, "h", "w"),)) for forward in (_flat, _apart, _again))

    def install(self, patches: Patches, refuse: Refuse) -> None:
        if find_spec("einops") is None:
            return
        backends = import_module("einops._backends")  # not only where it is loaded: a `forward` may import it itself
        stock = backends.PaddleBackend.shape

        def shape(self: Value, x: Value) -> Value:
            return tuple(sizes_of(x)) if in_program(x) else stock(self, x)

        patches.attribute(backends.PaddleBackend, "shape", method(shape))


plugin: Fix = Einops()

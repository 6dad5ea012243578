"""`x / 3` of float16."""

from __future__ import annotations

from collections.abc import Callable

from exporter.export.trace.fixes.base import Example, Fix, Refuse, Value
from exporter.export.trace.fixes.variable import method
from exporter.paddle.patches import Patches

#: As the dtypes of both kinds of programs call themselves.
_HALVES = ("FLOAT16", "FP16", "BFLOAT16", "BF16")


def _forward(self: Value, x: Value) -> Value:
    return (x.astype("float16") / 3).astype("float32")


class HalfDivided(Fix):
    """Stock multiplies by 1 / 3 as float16 has it (pir/math_op_patch.py), off by 2.4e-4; eager divides in float32."""

    apis = ("paddle.Tensor.__truediv__", "paddle.Tensor.__div__")
    seen = ("3.3.1", "3.3.1")
    examples = (Example(_forward, (("n", 64),)),)

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from exporter.paddle.private import Value as PirValue
        from exporter.paddle.private import Variable

        for owner in (PirValue, Variable):
            for name in ("__truediv__", "__div__"):
                patches.attribute(owner, name, method(_in_float32(vars(owner)[name])))


def _in_float32(stock: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    def divide(self: Value, other: Value) -> Value:
        if type(other) not in (int, float) or self.dtype.name not in _HALVES:
            return stock(self, other)
        return stock(self.astype("float32"), other).astype(self.dtype)

    return divide


plugin: Fix = HalfDivided()

"""`1.0 / math.sqrt(q.shape[-1])`: a function of `math`, of a number that the program computes."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.paddle.patches import Patches
from exporter.paddle.values import in_program


def _scaled(self: Layer, x: Tensor) -> Tensor:
    return x / math.sqrt(x.shape[-1])


def _logarithm(self: Layer, x: Tensor) -> Tensor:
    return x * (math.log(x.shape[0] + 1, 2) + math.log(x.shape[0] + 1) + math.exp(-x.shape[0]))


def _whole(self: Layer, x: Tensor) -> Tensor:
    half = math.ceil(x.shape[0] / 2)
    return x[:half] * 2.0, x[: math.floor(x.shape[0] / 2) + 1] + 1.0


class ScalarMath(Fix):
    """`math` takes numbers of Python alone, and asks a value of the program for one (`float(Tensor)`, 3.3.1).

    In code that dy2static converts the program computes it: in float64, and what is no whole number ends in the dtype
    that a number of Python has beside a tensor, which is the default one.
    """

    apis = tuple(f"math.{name}" for name in ("sqrt", "exp", "log", "log2", "log10", "ceil", "floor"))
    seen = ("3.3.1", "3.3.1")
    examples = (
        Example(_scaled, (("n", "h"),)),
        Example(_logarithm, (("n", 4),)),
        Example(_whole, (("n", 4),)),
    )

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from exporter.paddle.private import convert_call_func

        computing = _computing()

        def call(stock: Value, function: Value) -> Value:
            compute = computing.get(id(function))
            return stock(function) if compute is None else compute

        patches.body(convert_call_func.convert_call, call)


def _computing() -> Mapping[int, Callable[..., Value]]:
    """Return, by the identity of a function of `math`, what computes it of values of a program, too."""
    import paddle

    names = ("sqrt", "exp", "log2", "log10")
    own = {id(getattr(math, name)): _of_one(getattr(math, name), getattr(paddle, name)) for name in names}
    whole = {id(function): _of_one(function, getattr(paddle, function.__name__), "int64") for function in _WHOLE}
    return {**own, **whole, id(math.log): _logarithm_of}


_WHOLE = (math.ceil, math.floor)


def _of_one(plain: Callable[..., Value], computed: Callable[..., Value], dtype: str = "") -> Callable[..., Value]:
    def function(x: Value) -> Value:
        import paddle

        if not _is_number(x):
            return plain(x)
        return computed(x.astype("float64")).astype(dtype or paddle.get_default_dtype())

    return function


def _logarithm_of(x: Value, *base: Value) -> Value:
    import paddle

    if not any(map(_is_number, (x, *base))):
        return math.log(x, *base)
    wide = [
        number.astype("float64") if in_program(number) else paddle.full([], number, "float64") for number in (x, *base)
    ]
    top, *bottom = map(paddle.log, wide)
    return (top / bottom[0] if bottom else top).astype(paddle.get_default_dtype())


def _is_number(value: Value) -> bool:
    """Return whether a value of a program is one number, as a size is."""
    return in_program(value) and list(value.shape) in ([], [1])


plugin: Fix = ScalarMath()

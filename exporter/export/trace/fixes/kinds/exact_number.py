"""Numbers beside float64 and whole numbers: as `x * 0.1` of float64, or ids moved by 2 ** 24 + 1."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping

import numpy as np

from exporter.export.trace.fixes.base import Example, Fix, Refuse, Value
from exporter.export.trace.fixes.variable import method
from exporter.paddle.patches import Patches
from exporter.paddle.private import found
from exporter.paddle.values import in_program, is_variable

_OPERATORS = ("add", "radd", "sub", "rsub", "mul", "rmul", "truediv", "div")
#: Whole numbers up to here are in float32 what they are.
_WHOLE = 1 << 24


def _wide(self: object, x: Value) -> Value:
    y = x.astype("float64")
    return (y + 0.1) * 0.3, (0.1 - y) / 3.0


def _powers(self: object, x: Value) -> Value:
    import paddle

    y = x.astype("float64").abs() + 1.5
    return y ** (1 / 3), paddle.pow(y, 0.1)


def _whole(self: object, x: Value) -> Value:
    y = (x * 8).astype("int64")
    return y * (_WHOLE + 1), y + (_WHOLE + 1), (_WHOLE + 1) - y


def _functions(self: object, x: Value) -> Value:
    import paddle

    y = x.astype("float64")
    return paddle.scale(y, 0.3, 0.1), paddle.clip(y, -0.1, 0.1), paddle.full_like(y, 0.1) + y


def _made(self: object, x: Value) -> Value:
    import paddle

    return paddle.full([2], (1 << 53) + 1, "int64") + x.astype("int64").sum()


def _tensors(self: object, x: Value) -> Value:
    import paddle

    y = x.astype("float64")
    return y + paddle.to_tensor(0.3, dtype="float64"), y * paddle.to_tensor([0.1, 1, 0.7, 3], "float64")


class ExactNumber(Fix):
    """A program keeps these numbers in float32, an `int64` that is filled in float64; eager has them as they are.

    `x * 0.1` is a `scale` whose factor is a float32 tensor and whose bias a float32 attribute, as are the bounds of
    `clip`, the number of `full_like` (pir/math_op_patch.py, 3.3.1) and what `to_tensor` makes of numbers, whatever
    dtype it is asked for (so each `quantile` of float64). The whole file is then off by 1e-8 where eager is right to
    1e-16, and whole numbers are others. Of an exponent it is the other way round: eager rounds it, a program does not.
    """

    apis = (
        *(f"paddle.Tensor.__{name}__" for name in (*_OPERATORS, "pow")),
        *(f"paddle.{name}" for name in ("scale", "clip", "full_like", "full", "pow", "to_tensor")),
    )
    seen = ("3.3.1", "3.3.1")
    examples = (
        Example(_wide, (("n", 4),), formats=("pir",)),
        Example(_powers, (("n", 4),), formats=("pir",)),
        Example(_whole, (("n", 4),), formats=("pir",)),
        Example(_functions, (("n", 4),), formats=("pir",)),
        Example(_made, (("n", 4),)),
        Example(_tensors, (("n", 4),)),
    )

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from exporter.paddle.private import Value

        for name in (f"__{name}__" for name in _OPERATORS):
            patches.attribute(Value, name, method(_with_tensors(vars(Value)[name])))
        patches.attribute(Value, "__pow__", method(_with_exponent(vars(Value)["__pow__"])))
        for api, cure in _CURES.items():
            if (function := found(api)) is not None:
                patches.body(function, self.within_programs(cure, refuse, _begins_with_program))
        if (full := found("paddle.full")) is not None:
            patches.body(full, _full)
        if (to_tensor := found("paddle.to_tensor")) is not None:
            patches.body(to_tensor, _to_tensor)


def _begins_with_program(arguments: Iterable[Value]) -> bool:
    """Return whether a value of PIR comes first; numbers beside a legacy variable are written by pdmodel/exact.py."""
    first = next(iter(arguments), None)
    return in_program(first) and not is_variable(first)


def _with_tensors(stock: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    divides = stock.__name__ in ("__truediv__", "__div__")

    @functools.wraps(stock)
    def operator(self: Value, other: Value) -> Value:
        inverse = 1 / other if divides and type(other) in (int, float) and other else 0  # what stock multiplies by
        rounded = _is_rounded(other, self) or _is_rounded(float(inverse), self)
        return stock(self, _constant(other, self) if rounded else other)

    operator.__module__ = __name__
    return operator


def _with_exponent(stock: Callable[[Value, Value], Value]) -> Callable[[Value, Value], Value]:
    @functools.wraps(stock)
    def operator(self: Value, other: Value) -> Value:
        return _pow(stock, self, other)

    operator.__module__ = __name__
    return operator


def _scale(
    stock: Callable[..., Value], x: Value, scale: Value = 1.0, bias: Value = 0.0, *args: Value, **named: Value
) -> Value:
    plain = not args and not named and not any(map(in_program, (scale, bias)))
    if not plain or not any(_is_rounded(number, x) for number in (scale, bias)):
        return stock(x, scale, bias, *args, **named)
    return x * _constant(scale, x) + _constant(bias, x)


def _clip(
    stock: Callable[..., Value], x: Value, min: Value = None, max: Value = None, *args: Value, **named: Value
) -> Value:
    import paddle

    if args or named or not any(_is_rounded(bound, x) for bound in (min, max)):
        return stock(x, min, max, *args, **named)
    above = x if min is None else paddle.maximum(x, _tensor_of(min, x))
    return above if max is None else paddle.minimum(above, _tensor_of(max, x))


def _full_like(
    stock: Callable[..., Value], x: Value, fill_value: Value, dtype: Value = None, *args: Value, **named: Value
) -> Value:
    if dtype is not None or args or named or not _is_rounded(fill_value, x):
        return stock(x, fill_value, dtype, *args, **named)
    return stock(x, 0, dtype) + _constant(fill_value, x)


def _pow(stock: Callable[..., Value], x: Value, y: Value, *args: Value, **named: Value) -> Value:
    return stock(x, float(np.float32(y)) if _is_rounded(y, x) and type(y) is float else y, *args, **named)


_CURES: Mapping[str, Callable[..., Value]] = {
    "paddle.scale": _scale,
    "paddle.clip": _clip,
    "paddle.full_like": _full_like,
    "paddle.pow": _pow,
}


def _full(
    stock: Callable[..., Value], shape: Value, fill_value: Value, dtype: Value = None, *args: Value, **named: Value
) -> Value:
    import paddle

    exact = type(fill_value) is not int or abs(fill_value) <= 1 << 53 or "int64" not in str(dtype)
    if exact or paddle.in_dynamic_mode() or not -(1 << 63) <= fill_value < 1 << 63:
        return stock(shape, fill_value, dtype, *args, **named)
    high, low = divmod(fill_value, 1 << 32)
    return stock(shape, high, dtype, *args, **named) * stock([], 1 << 32, dtype) + stock([], low, dtype)


def _to_tensor(stock: Callable[..., Value], data: Value, dtype: Value = None, *args: Value, **named: Value) -> Value:
    import paddle

    if not paddle.in_dynamic_mode() and "float64" in str(dtype) and _holds_numbers(data):
        data = np.asarray(data, "float64")
    return stock(data, dtype, *args, **named)


def _holds_numbers(data: Value) -> bool:
    """Return whether these are numbers of Python, in lists or not."""
    return all(map(_holds_numbers, data)) if isinstance(data, (list, tuple)) else type(data) in (int, float)


def _is_rounded(number: Value, x: Value) -> bool:
    """Return whether a number of Python is another one in float32, and matters beside the tensor."""
    dtype = str(x.dtype).rpartition(".")[2].lower()
    if dtype in ("float64", "fp64") and type(number) in (int, float):
        return bool(np.isfinite(number)) and float(np.float32(number)) != number
    return (
        dtype in ("int32", "int64")
        and type(number) is int
        and abs(number) > _WHOLE
        and int(np.float32(number)) != number
    )


def _constant(number: float, x: Value) -> Value:
    """A tensor of the number as eager has it, which takes whole numbers in float64."""
    import paddle

    return paddle.full([], float(number) if "float" in str(x.dtype).lower() else int(float(number)), x.dtype)


def _tensor_of(bound: Value, x: Value) -> Value:
    return bound if in_program(bound) else _constant(bound, x)


plugin: Fix = ExactNumber()

"""What eager tensors and PIR values can do and the legacy Variable cannot."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from exporter.lower.pdmodel.dtypes import is_integer
from exporter.paddle.patches import Patches

#: Tensor.float() and its kin.
_CASTS = {
    "bool": "bool",
    "byte": "uint8",
    "uint8": "uint8",
    "char": "int8",
    "int8": "int8",
    "short": "int16",
    "int16": "int16",
    "int": "int32",
    "int32": "int32",
    "long": "int64",
    "int64": "int64",
    "half": "float16",
    "float16": "float16",
    "bfloat16": "bfloat16",
    "float": "float32",
    "float32": "float32",
    "double": "float64",
    "float64": "float64",
    "cfloat": "complex64",
    "complex64": "complex64",
    "cdouble": "complex128",
    "complex128": "complex128",
}


def install(patches: Patches) -> None:
    """Give Variable the missing members, and a shape that is a list as everywhere else in 3.x."""
    import paddle

    from exporter.paddle.private import Variable, manipulation

    missing: dict[str, Any] = {
        "is_cuda": property(lambda self: False),  # paddle.lerp asks
        "is_dist": lambda self: False,
        "device": property(lambda self: paddle.device.get_device()),
        "mT": property(lambda self: paddle.transpose(self, [*range(self.ndim - 2), self.ndim - 1, self.ndim - 2])),
        "to": _to,
        "fill_": manipulation.fill_,
        "zero_": manipulation.zero_,
        "new_zeros": lambda self, size, dtype=None, **_: paddle.zeros(size, dtype or self.dtype),
        "new_ones": lambda self, size, dtype=None, **_: paddle.ones(size, dtype or self.dtype),
        "new_full": lambda self, size, value, dtype=None, **_: paddle.full(size, value, dtype or self.dtype),
        "new_empty": lambda self, size, dtype=None, **_: paddle.empty(size, dtype or self.dtype),
        **{name: _cast_to(dtype) for name, dtype in _CASTS.items()},
    }
    for name, member in missing.items():
        if not hasattr(Variable, name):
            patches.attribute(Variable, name, _paddles(member))
    stock_divide = vars(Variable)["__truediv__"]

    def divide(self: Any, other: Any) -> Any:
        """Stock computes 1.0 / other in Python; eager divides by zero."""
        if type(other) in (int, float) and other == 0:
            return paddle.scale(self.astype("float32") if is_integer(self) else self, math.copysign(math.inf, other))
        return stock_divide(self, other)

    for name in ("__truediv__", "__div__"):
        patches.attribute(Variable, name, _paddles(divide))
    # Stock's reads a name that is never bound (base/layers/math_op_patch.py, 3.3.1).
    patches.attribute(Variable, "__abs__", _paddles(lambda self: paddle.abs(self)))
    for name in ("detach", "clone"):
        patches.attribute(Variable, name, _paddles(_computed_by(vars(Variable)[name])))
    if hasattr(paddle, "Size"):
        stock = vars(Variable)["shape"]
        patches.attribute(Variable, "shape", property(lambda self: paddle.Size(stock.fget(self))))


def _computed_by(stock: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Of a buffer stock calls the copy persistable too, and then saves a tensor that has no value (3.3.1)."""

    def copied(self: Any) -> Any:
        output = stock(self)
        output.persistable = False
        return output

    return copied


def _cast_to(dtype: str) -> Callable[[Any], Any]:
    return lambda self: self.astype(dtype)


def _to(self: Any, *args: Any, **kwargs: Any) -> Any:
    """Tensor.to(dtype | device | other): a program has no device, so only a dtype says something."""
    from exporter.paddle.private import core

    for value in (*args, *kwargs.values()):
        if isinstance(value, str) and not value.startswith(("cpu", "gpu", "cuda", "xpu")):
            return self.astype(value)
        if isinstance(value, (core.DataType, core.VarDesc.VarType)):
            return self.astype(value)
        if hasattr(value, "dtype") and hasattr(value, "shape"):
            return self.astype(value.dtype)
    return self


def _paddles(member: Any) -> Any:
    """dy2static must not transcribe it, and leaves Paddle's own functions alone."""
    from exporter.paddle.private import Variable

    if callable(member) and member.__module__ == __name__:
        member.__module__ = Variable.__module__
    return member

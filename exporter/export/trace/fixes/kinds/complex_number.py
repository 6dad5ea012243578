"""Arithmetic of a tensor and a complex number, as in `x * 1j`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor
from exporter.export.trace.fixes.variable import method
from exporter.paddle.patches import Patches

_OPERATORS = tuple(f"__{side}{name}__" for name in ("add", "sub", "mul", "truediv", "div", "pow") for side in ("", "r"))


def _of_complex(self: Layer, x: Tensor) -> Tensor:
    import paddle

    z = paddle.fft.rfft(x)
    return paddle.as_real((2 - 1j) * z + (1 + 2j)), paddle.as_real(z / (1 + 1j))


def _of_real(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return paddle.as_real(x * 1j), paddle.as_real(0.5j - x)


class ComplexNumber(Fix):
    """Stock gives the number the dtype of the tensor: in PIR a real one loses its imaginary part.

    In a legacy program it is a TypeError, or a variable without a value (pir/math_op_patch.py,
    base/layers/math_op_patch.py).
    """

    apis = tuple(f"paddle.Tensor.{name}" for name in _OPERATORS)
    seen = ("3.3.1", "3.3.1")
    examples = (Example(_of_complex, (("n", 4, 6),), formats=("pdmodel",)), Example(_of_real, (("n", 4),)))

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from exporter.paddle.private import Value, Variable

        for owner in (Value, Variable):
            for name in _OPERATORS:
                if name in vars(owner):
                    patches.attribute(owner, name, method(_with_numbers(vars(owner)[name])))


def _with_numbers(stock: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    import paddle

    def operator(self: Any, other: Any) -> Any:
        if not isinstance(other, complex):
            return stock(self, other)
        wide = self.dtype in (paddle.float64, paddle.complex128)
        x = self if paddle.is_complex(self) else self.astype("complex128" if wide else "complex64")
        parts = (paddle.full([], part, "float64" if wide else "float32") for part in (other.real, other.imag))
        return stock(x, paddle.complex(*parts))

    return operator


plugin: Fix = ComplexNumber()

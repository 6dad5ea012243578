"""What eager tensors and PIR values can do and the legacy `Variable` cannot."""

from __future__ import annotations

from collections.abc import Callable

from exporter.export.trace.fixes.base import Example, Fix, Layer, Refuse, Tensor, Value
from exporter.export.trace.fixes.variable import method
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


def _cast(self: Layer, x: Tensor) -> Tensor:
    return x.long()


def _new(self: Layer, x: Tensor) -> Tensor:
    return x + x.new_ones([4])


def _transposed(self: Layer, x: Tensor) -> Tensor:
    return x.mT


def _shape(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return paddle.jit.not_to_static(_flat)(x)


def _flat(x: Value) -> Value:
    return x.reshape([-1] + x.shape[1:])  # noqa: RUF005 - the sum is what is shown


class TensorMethods(Fix):
    """`Variable` lacks `float()`, `to()`, `new_zeros()`, `mT` and others; its shape is a tuple."""

    apis = ("paddle.Tensor",)
    formats = ("pdmodel",)
    seen = ("3.0.0", "3.3.1")
    examples = tuple(Example(forward, (("n", 4, 4),)) for forward in (_cast, _new, _transposed, _shape))

    def install(self, patches: Patches, refuse: Refuse) -> None:
        """Give it what is missing, and a shape that is a list as everywhere else in 3.x."""
        import paddle

        from exporter.paddle.private import Variable

        for name, member in _missing().items():
            if not hasattr(Variable, name):
                patches.attribute(Variable, name, method(member))
        if hasattr(paddle, "Size"):
            stock = vars(Variable)["shape"]
            patches.attribute(Variable, "shape", property(lambda self: paddle.Size(stock.fget(self))))


def _missing() -> dict[str, property | Callable[..., Value]]:
    import paddle

    from exporter.paddle.private import manipulation

    return {
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


def _cast_to(dtype: str) -> Callable[[Value], Value]:
    return lambda self: self.astype(dtype)


def _to(self: Layer, *args: Tensor, **kwargs: Tensor) -> Tensor:
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


plugin: Fix = TensorMethods()

"""Dtypes that a program's functions refuse, and the operators they append take: `t()` of bool, `concat` of uint8."""

from __future__ import annotations

import functools
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from exporter.export.trace.fixes.base import Example, Fix, Refuse
from exporter.paddle.patches import Patches

if TYPE_CHECKING:
    import paddle

#: Dtypes as kernels are registered, where that is not the name and `_t`; Paddle's `uint16` is bfloat16.
_REGISTERED = {
    "float32": "float",
    "float64": "double",
    "int32": "int",
    "bool": "bool",
    "uint16": "::phi::dtype::bfloat16",
    "float16": "::phi::dtype::float16",
}
#: What the checks call operands, of whose dtype the kernels are; not sizes and indices.
_OPERANDS = ("x", "y", "input")


def _transposed(self: object, x: paddle.Tensor) -> paddle.Tensor:
    return x.astype("bool").t()


def _small(self: object, x: paddle.Tensor) -> paddle.Tensor:
    return (x * 8).astype("int16").t().astype("int64")


def _joined(self: object, x: paddle.Tensor) -> paddle.Tensor:
    import paddle

    return paddle.concat([(x * x).astype("uint8")] * 2, axis=1).astype("int64")


class CheckedDtype(Fix):
    """Lists of dtypes in Python that only programs are held to, shorter than those of the kernels, which eager asks.

    The stock check remains where the operator's kernels lack the dtype, since the program would fail when it runs, and
    of complex values, which older runtimes lack: those are computed by their parts (`where.py`, `einsum.py`).
    """

    apis = ("paddle.t", "paddle.concat", "paddle.stack")
    seen = ("3.0.0", "3.3.1")
    examples = (
        Example(_transposed, (("n", 4),), formats=("pdmodel",)),
        Example(_small, (("n", 4),), formats=("pdmodel",)),
        Example(_joined, (("n", 4),)),
    )

    def install(self, patches: Patches, refuse: Refuse) -> None:
        from exporter.paddle.private import check_dtype, convert_dtype

        def checked(
            stock: Callable[..., None],
            input_dtype: object,
            input_name: str,
            expected_dtype: Collection[str],
            op_name: str,
            extra_message: str = "",
        ) -> None:
            dtype = convert_dtype(input_dtype)
            operand = input_name.partition("[")[0].lower() in _OPERANDS
            if not operand or _REGISTERED.get(dtype, f"{dtype}_t") not in _dtypes(op_name):
                stock(input_dtype, input_name, expected_dtype, op_name, extra_message)

        patches.body(check_dtype, checked)


@functools.cache
def _dtypes(operator: str) -> frozenset[str]:
    """The dtypes of the kernels of what `check_dtype` calls an operator: its name, or its legacy one."""
    from exporter.paddle.private import op_map

    kernels = _kernels()
    names = [operator, *(legacy for legacy, entry in op_map.items() if entry["phi_name"] == operator)]
    texts = [text for name in names for text in kernels.get(name, ())]
    return frozenset(text.partition("data_type[")[2].partition("]")[0] for text in texts)


@functools.cache
def _kernels() -> Mapping[str, Sequence[str]]:
    """All kernels, by operator; Paddle takes 15 ms to list them."""
    from exporter.paddle.private import core

    kernels: Mapping[str, Sequence[str]] = core._get_all_register_op_kernels("phi")
    return kernels


plugin: Fix = CheckedDtype()

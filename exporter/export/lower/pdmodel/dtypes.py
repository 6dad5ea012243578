"""The dtype rules of the table: which inputs are cast, and what the result is.

Eager Paddle casts inside its C++ entries; a legacy operator does not, so a rule writes the casts into the program.
The rules were read off eager Paddle 3.3.1, one call for each API and pair of dtypes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

from exporter.export.lower.pdmodel.call import Call

#: A value of a legacy program, or a number beside it.
Variable: TypeAlias = Any

_INTEGERS = ("BOOL", "UINT8", "INT8", "INT16", "INT32", "INT64")
_REAL_OF = {"COMPLEX64": "FP32", "COMPLEX128": "FP64"}


@dataclass(frozen=True)
class DtypeRule:
    """`apply` casts the inputs of a call where needed and returns the dtype of the result (a VarType)."""

    name: str
    meaning: str
    apply: Callable[[Call], Variable]


def cast(variable: Variable, dtype: Variable) -> Variable:
    """`variable` as `dtype`, the same one where nothing changes."""
    from exporter.paddle.private import convert_to_proto_type

    dtype = convert_to_proto_type(dtype)
    return variable if variable.dtype == dtype else variable.astype(dtype)


def is_integer(variable: Variable) -> bool:
    """Whether the elements are integers or bool."""
    return variable.dtype.name in _INTEGERS


def promote(operator: str, left: Variable, right: Variable) -> tuple[Variable, Variable]:
    """Both as their common dtype."""
    from exporter.paddle.private import core

    if left.dtype == right.dtype:
        return left, right
    common = core.get_promote_dtype_old_ir(operator, left.dtype, right.dtype)
    return cast(left, common), cast(right, common)


def yielding(left: Variable, right: Variable) -> tuple[Variable, Variable] | None:
    """Both as the dtype of the one that is no 0-D tensor; None where a 0-D tensor does not take the other's dtype.

    It does where both are integers, both floats or both complex.
    """
    from exporter.paddle.private import core

    scalar = len(left.shape) == 0
    if scalar == (len(right.shape) == 0) or not core.is_common_dtype_for_scalar(left.dtype, right.dtype):
        return None
    common = right.dtype if scalar else left.dtype
    return cast(left, common), cast(right, common)


def _vartype(name: str) -> Variable:
    from exporter.paddle.private import core

    return getattr(core.VarDesc.VarType, name)


def _same(call: Call) -> Variable:
    return call["x"].dtype


def _floating(call: Call) -> Variable:
    if is_integer(call["x"]):
        call["x"] = cast(call["x"], _vartype("FP32"))
    return call["x"].dtype


def _real(call: Call) -> Variable:
    dtype = call["x"].dtype
    return _vartype(_REAL_OF[dtype.name]) if dtype.name in _REAL_OF else dtype


def _boolean(call: Call) -> Variable:
    return _vartype("BOOL")


def _promoted(call: Call) -> Variable:
    call["x"], call["y"] = promote(call.api, call["x"], call["y"])
    return call["x"].dtype


def _compared(call: Call) -> Variable:
    _yielding(call)
    return _vartype("BOOL")


def _yielding(call: Call) -> Variable:
    """`x * 0-D`: see :func:`yielding`."""
    both = yielding(call["x"], call["y"])
    if both is not None:
        call["x"], call["y"] = both
    return _promoted(call)


def _summed(call: Call) -> Variable:
    """The input is cast to the dtype of the result first, as eager does; bool and int32 add up in int64."""
    from exporter.paddle.private import convert_to_proto_type

    wanted = call["dtype"]
    if wanted is not None:
        result = convert_to_proto_type(wanted)
    else:
        result = _vartype("INT64") if call["x"].dtype.name in ("BOOL", "INT32") else call["x"].dtype
    call["x"] = cast(call["x"], result)
    call["dtype"] = result
    return result


def _indexed(call: Call) -> Variable:
    from exporter.paddle.private import convert_to_proto_type

    call["dtype"] = convert_to_proto_type(call["dtype"])
    return call["dtype"]


SAME = DtypeRule("same", "the dtype of x", _same)
FLOATING = DtypeRule("float", "integers and bool are cast to float32 first", _floating)
REAL = DtypeRule("real", "the dtype of x, of a complex one its real part's", _real)
BOOLEAN = DtypeRule("bool", "bool", _boolean)
PROMOTED = DtypeRule("promote", "both are cast to their common dtype", _promoted)
COMPARED = DtypeRule("compare", "as promote, but a 0-D tensor of the same kind follows; the result is bool", _compared)
YIELDING = DtypeRule("promote, 0-D yields", "as promote, but a 0-D tensor of the same kind follows", _yielding)
SUMMED = DtypeRule("sum", "x is cast to the result: `dtype` if given, int64 for bool and int32, else x's", _summed)
INDEXED = DtypeRule("index", "`dtype`: int64 or int32", _indexed)

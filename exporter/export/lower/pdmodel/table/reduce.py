"""Reductions, and the indices of the largest and smallest."""

from __future__ import annotations

from typing import Any

from exporter.export.lower.pdmodel.attributes import LEAVE_OUT, Attribute, computed, flag
from exporter.export.lower.pdmodel.call import Call
from exporter.export.lower.pdmodel.dtypes import BOOLEAN, FLOATING, INDEXED, SAME, SUMMED, DtypeRule
from exporter.export.lower.pdmodel.entry import Sunk


def _all_axes(call: Call) -> bool:
    return len(call.axes("axis")) == len(call["x"].shape)


# The full list of axes AND reduce_all: Paddle 3.3.1's reduce_amax and reduce_amin ignore reduce_all.
_DIM = computed("axis", lambda call: call.axes("axis"))
_REDUCE_ALL = computed("axis covers all", _all_axes)


def _reduction(api: str, operator: str, dtype: DtypeRule, **more: Attribute) -> Sunk:
    attributes = {"dim": _DIM, "keep_dim": flag("keepdim"), "reduce_all": _REDUCE_ALL, **more}
    return Sunk(api, operator, dtype, "x, axis=None, keepdim=False", attributes=attributes, since="3.2")


def _sum_third_argument(call: Call) -> Any:
    """`sum(x, axis, True)`: the third argument is `dtype`, or `keepdim` if it is a bool (args_mapper.cc, 3.3.1)."""
    if isinstance(call["dtype"], bool):
        call["dtype"], call["keepdim"] = None, call["dtype"]


def _int32_stays(call: Call) -> Any:
    """Without out_dtype the kernel adds int32 and bool up in int64, also when the caller asked for them."""
    return int(call["dtype"]) if call["dtype"].name in ("INT32", "BOOL") else LEAVE_OUT


def _index(api: str, operator: str) -> Sunk:
    return Sunk(
        api,
        operator,
        INDEXED,
        "x, axis=None, keepdim=False, dtype='int64'",
        attributes={
            "axis": computed("axis, 0 for None", lambda call: int(_one_axis(call) or 0)),
            "flatten": computed("axis is None", lambda call: _one_axis(call) is None),
            "keepdims": flag("keepdim"),
            "dtype": computed("dtype", lambda call: int(call["dtype"])),
        },
        aliases={"keepdims": "keepdim"},
    )


def _one_axis(call: Call) -> Any:
    axis = call.constant("axis")
    while isinstance(axis, list):
        (axis,) = axis
    return axis


ENTRIES = (
    _reduction("amax", "reduce_amax", SAME),
    _reduction("amin", "reduce_amin", SAME),
    _reduction("all", "reduce_all", BOOLEAN),
    _reduction("any", "reduce_any", BOOLEAN),
    Sunk(
        "logsumexp",
        "logsumexp",
        FLOATING,
        "x, axis=None, keepdim=False",
        attributes={"axis": _DIM, "keepdim": flag("keepdim"), "reduce_all": _REDUCE_ALL},
        since="3.2",
    ),
    Sunk(
        "sum",
        "reduce_sum",
        SUMMED,
        "x, axis=None, dtype=None, keepdim=False",
        attributes={
            "dim": _DIM,
            "keep_dim": flag("keepdim"),
            "reduce_all": _REDUCE_ALL,
            "in_dtype": computed("the result's, for int32 and bool", _int32_stays),
            "out_dtype": computed("the result's, for int32 and bool", _int32_stays),
        },
        instead=_sum_third_argument,
        computed_in={"FP16": "float32"},  # on the CPU; a GPU adds up in float32, too
    ),
    _index("argmax", "arg_max"),
    _index("argmin", "arg_min"),
)

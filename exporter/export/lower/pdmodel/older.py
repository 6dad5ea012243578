"""Operators that an older runtime lacks, or reads another way, made of ones that it has.

Which runtime has what was found by loading the files of the case tables in it. Where there is no way, nothing is done
here, and `runtimes` says that the runtime cannot load the file.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from packaging.version import Version

from exporter.export.lower.pdmodel.appended import Appended, Attributes, Step, Tensors, only
from exporter.export.lower.pdmodel.exact import summed


@dataclass(frozen=True)
class Older:
    """`since`: the first Paddle that runs the operator as it is. `how(inputs, attributes)` gives the result otherwise.

    `how` gets the only Variable of each slot, by slot. It may return None: this use of the operator is fine everywhere.
    """

    since: Version
    how: Callable[[Tensors, Attributes], Any]
    why: str


def step(target: Version | None) -> Step:
    """Write these operators in the older way, those that the target needs; within that way they are as they are."""
    needed = {operator: older for operator, older in OLDER.items() if target is not None and target < older.since}
    within: set[str] = set()

    def write(appended: Appended) -> Any:
        older = needed.get(appended.operator)
        if older is None or appended.operator in within:
            return None
        within.add(appended.operator)
        try:
            return older.how({slot: only(value) for slot, value in appended.inputs.items()}, appended.attributes)
        finally:
            within.discard(appended.operator)

    return write


def _masked_fill(inputs: Tensors, attributes: Attributes) -> Any:
    import paddle

    x, mask, value = inputs["x"], inputs["mask"], inputs["value"]
    return paddle.where(mask, value.astype(x.dtype), x)


def _baddbmm(inputs: Tensors, attributes: Attributes) -> Any:
    import paddle

    product = paddle.matmul(inputs["X"], inputs["Y"])
    return attributes["Beta"] * inputs["Input"] + attributes["Alpha"] * product


def _copysign(inputs: Tensors, attributes: Attributes) -> Any:
    """The sign of -0.0 shows in its reciprocal."""
    import paddle

    x, y = inputs["x"], inputs["y"]
    size = paddle.abs(x)
    negative = paddle.logical_or(y < 0, paddle.logical_and(y == 0, paddle.reciprocal(y) < 0))
    return paddle.where(negative, -size, size)


def _shift(left: bool) -> Callable[[Tensors, Attributes], Any]:
    def how(inputs: Tensors, attributes: Attributes) -> Any:
        import paddle

        x, y = inputs["x"], inputs["y"]
        factor = paddle.pow(paddle.full_like(y, 2), y)
        return x * factor if left else paddle.floor_divide(x, factor)

    return how


def _gammaln(inputs: Tensors, attributes: Attributes) -> Any:
    import paddle

    return paddle.lgamma(inputs["x"])


def _strided_slice(inputs: Tensors, attributes: Attributes) -> Any:
    """`x[::-2]` is written from 2147483647 to -2147483648; 2.6 leaves an element out. So: flip, then every second."""
    import paddle

    top, bottom = np.iinfo("int32").max, np.iinfo("int32").min
    spans = zip(attributes["axes"], attributes["starts"], attributes["ends"], attributes["strides"], strict=True)
    whole = {axis: -step for axis, start, end, step in spans if (start, end) == (top, bottom) and step < 0}
    if not whole or attributes.get("decrease_axis"):
        return None
    flipped = paddle.flip(inputs["Input"], list(whole))
    kept = [
        (axis, 0, top, whole[axis]) if axis in whole else (axis, start, end, step)
        for axis, start, end, step in zip(
            attributes["axes"], attributes["starts"], attributes["ends"], attributes["strides"], strict=True
        )
    ]
    return paddle.strided_slice(flipped, *map(list, zip(*kept, strict=True)))


def _roll(inputs: Tensors, attributes: Attributes) -> Any:
    """2.6 has no kernel for bool."""
    import paddle

    x = inputs["X"]
    if x.dtype.name != "BOOL" or "ShiftsTensor" in inputs:
        return None
    return paddle.roll(x.astype("int32"), attributes["shifts"], attributes["axis"] or None).astype("bool")


def _isinf(inputs: Tensors, attributes: Attributes) -> Any:
    """2.6 has no kernels for small integers."""
    import paddle

    x = inputs["X"]
    return paddle.isinf(x.astype("int32")) if x.dtype.name in ("UINT8", "INT8", "INT16") else None


def _matrix_rank(inputs: Tensors, attributes: Attributes) -> Any:
    """Before 3.1 the result is int32."""
    from exporter.paddle.programs import append
    from exporter.paddle.values import is_variable

    tensors = {slot: [value] for slot, value in inputs.items() if is_variable(value)}
    from exporter.paddle.private import core

    return append("matrix_rank", tensors, attributes, core.VarDesc.VarType.INT32).astype("int64")


def _assign_value(inputs: Tensors, attributes: Attributes) -> Any:
    """float64 has no place in the operator before 3.0."""
    from exporter.paddle.private import core

    return summed(attributes) if attributes["dtype"] == core.VarDesc.VarType.FP64 else None


_3_0 = Version("3.0")
OLDER: Mapping[str, Older] = {
    "masked_fill": Older(_3_0, _masked_fill, "the operator is newer"),
    "baddbmm": Older(_3_0, _baddbmm, "the operator is newer"),
    "copysign": Older(_3_0, _copysign, "the operator is newer"),
    "gammaln": Older(_3_0, _gammaln, "the operator is newer"),
    "bitwise_left_shift": Older(_3_0, _shift(left=True), "the operator is newer"),
    "bitwise_right_shift": Older(_3_0, _shift(left=False), "the operator is newer"),
    "roll": Older(_3_0, _roll, "no kernel for bool"),
    "isinf_v2": Older(_3_0, _isinf, "no kernels for small integers"),
    "matrix_rank": Older(Version("3.1"), _matrix_rank, "the result is int32"),
    "strided_slice": Older(_3_0, _strided_slice, "a reversed slice from the end loses an element without a word"),
    "assign_value": Older(_3_0, _assign_value, "float64 constants cannot be read"),
}

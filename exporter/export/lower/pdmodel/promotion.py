"""Operators of two dtypes: the casts become part of the program.

Paddle leaves them to its executor, which adds them when the program runs (process_type_promotion in
paddle/base/framework.py). Other runtimes read the file as it is, and the dtype declared for the result is wrong.
"""

from __future__ import annotations

from exporter.export.lower.pdmodel.appended import Appended, only
from exporter.export.lower.pdmodel.dtypes import cast, is_integer, promote, yielding
from exporter.paddle.values import is_variable

#: Those in which eager casts a 0-D tensor to the other's dtype: `add(float32[2], float64[])` is float32. In the others,
#: as maximum, fmin, floor_divide, atan2 and where, it is float64 (measured on 3.3.1 for each of Paddle's list).
_YIELDING = frozenset(f"elementwise_{name}" for name in ("add", "sub", "mul", "div", "mod", "pow")) | frozenset(
    ("equal", "not_equal", "less_than", "less_equal", "greater_than", "greater_equal")
)


def step(appended: Appended) -> None:
    """Promote the inputs of every operator of Paddle's list."""
    from exporter.paddle.private import core, promoted_slots

    slots = promoted_slots.get(appended.operator)
    if not slots or not all(slot in appended.inputs for slot in slots):
        return
    left, right = (only(appended.inputs[slot]) for slot in slots)
    if not (is_variable(left) and is_variable(right)):
        return
    same = yielding(left, right)  # of a 0-D tensor and another of its kind
    if same is not None and appended.operator in _YIELDING:
        left, right = same
        appended.inputs.update(zip(slots, same, strict=True))
    if appended.operator == "elementwise_div" and left.dtype == right.dtype and is_integer(left):
        both = tuple(cast(operand, core.VarDesc.VarType.FP32) for operand in (left, right))  # as eager divides integers
    elif same is not None or core.need_type_promotion_old_ir(appended.operator, left.dtype, right.dtype):
        both = promote(appended.operator, left, right)
    else:
        return
    appended.inputs.update(zip(slots, both, strict=True))

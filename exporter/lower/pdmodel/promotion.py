"""Operators of two dtypes: the casts become part of the program.

Paddle leaves them to its executor, which adds them when the program runs (process_type_promotion in
paddle/base/framework.py). Other runtimes read the file as it is, and the dtype declared for the result is wrong.
"""

from __future__ import annotations

from typing import Any

from exporter.lower.pdmodel.dtypes import cast, is_integer, promote
from exporter.paddle.patches import Patches
from exporter.paddle.values import is_variable


def install(patches: Patches) -> None:
    """Let Block.append_op promote the inputs of every operator of Paddle's list."""
    from exporter.paddle.private import Block, core, promoted_slots

    stock = Block.append_op

    def append_op(self: Any, *args: Any, **kwargs: Any) -> Any:
        operator, inputs = str(kwargs.get("type")), kwargs.get("inputs")
        slots = promoted_slots.get(operator)
        if slots and isinstance(inputs, dict) and all(slot in inputs for slot in slots):
            left, right = (_only(inputs[slot]) for slot in slots)
            if operator == "elementwise_div" and is_variable(left) and left.dtype == right.dtype and is_integer(left):
                left, right = cast(left, core.VarDesc.VarType.FP32), cast(right, core.VarDesc.VarType.FP32)
                kwargs["inputs"] = {"X": [left], "Y": [right]}  # eager divides integers as float32
            both_known = is_variable(left) and is_variable(right)
            if both_known and core.need_type_promotion_old_ir(operator, left.dtype, right.dtype):
                both = promote(operator, left, right)
                kwargs["inputs"] = {**inputs, **dict(zip(slots, both, strict=True))}
        return stock(self, *args, **kwargs)

    patches.attribute(Block, "append_op", append_op)


def _only(value: Any) -> Any:
    return value[0] if isinstance(value, (list, tuple)) and len(value) == 1 else value

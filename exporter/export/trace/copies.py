"""Copies of what `forward` returns twice, or returns untouched: each output is a tensor of its own in the program.

A tensor that is returned twice comes out once, and the outputs behind it move up; an input that is returned untouched
breaks the predictor (both 3.3.1). Eager gives both, and so does a file with a copy.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from exporter.export.trace.fixes.base import Value

if TYPE_CHECKING:
    from paddle.static import Program


def with_copies(structure: Value, program: Program, inputs: Collection[str]) -> Value:
    """Return the same structure, in which a copy stands for each tensor that is an input or was there before.

    The copies are written at the end of the program.
    """
    import paddle

    returned: set[int] = set()

    def own(value: Value) -> Value:
        if isinstance(value, dict):
            return {key: own(inner) for key, inner in value.items()}
        if isinstance(value, (list, tuple)):
            several = [own(inner) for inner in value]
            return type(value)(*several) if hasattr(value, "_fields") else type(value)(several)
        if not hasattr(value, "stop_gradient") or _is_array(value):
            return value
        key = value.id if isinstance(getattr(value, "id", None), int) else id(value)
        if key not in returned and not _is_input(value, inputs):
            returned.add(key)
            return value
        with paddle.static.program_guard(program):
            return paddle.assign(value)

    eager = paddle.in_dynamic_mode()
    if eager:
        paddle.enable_static()
    try:
        return own(structure)
    finally:
        if eager:
            paddle.disable_static()


def _is_array(value: Value) -> bool:
    """Return whether it is a list that grows in a loop of the program, which no file gives."""
    return hasattr(value, "is_dense_tensor_array_type") and bool(value.is_dense_tensor_array_type())


def _is_input(value: Value, inputs: Collection[str]) -> bool:
    if hasattr(value, "get_defining_op"):  # PIR
        operation = value.get_defining_op()
        return operation is not None and operation.name() == "pd_op.data"
    return getattr(value, "name", None) in inputs

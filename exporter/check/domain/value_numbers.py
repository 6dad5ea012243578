"""Value numbers: what a tensor was made from, so that one computation written twice is known for one."""

from __future__ import annotations

from exporter.check.catalogue import entry
from exporter.check.domain.call import Call
from exporter.check.domain.values import Const, External, Layer, Sequence, Tensor, Value
from exporter.check.domain.views import note_view

_DEEPEST = 40


def numbered(value: Value, call: Call) -> Value:
    """The value, a tensor with its value number if its operator gives the same for the same."""
    if isinstance(value, Tensor) and not entry(call.last).has("fresh"):
        value.value_number = (call.last, *call.arguments, *call.keywords.items())
        note_view(value)
    return value


def same_number(one: object, other: object, depth: int = 0) -> bool:
    """Whether two values are certainly the same computation of the same things.

    The optimiser of Paddle 3.3.1 merges such operators; two outputs become one, and the predictor fails.
    """
    if type(one) is Value:
        return False  # nothing is known of either
    if one is other:
        return True
    if type(one) is not type(other) or depth > _DEEPEST:
        return False
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        numbered = bool(one.value_number) and not _by_summary(one)
        return numbered and same_number(one.value_number, other.value_number, depth + 1)
    if isinstance(one, Sequence) and isinstance(other, Sequence):
        settled = one.settled and other.settled and one.kind == other.kind
        return settled and same_number(one.items, other.items, depth + 1)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(same_number(a, b, depth + 1) for a, b in zip(one, other, strict=True))
    return isinstance(one, (Const, External, str)) and one == other


def _by_summary(value: Tensor) -> bool:
    """Whether a layer made it that stands for several."""
    operator, *operands = value.value_number
    return operator == "layer" and isinstance(operands[0], Layer) and operands[0].summary

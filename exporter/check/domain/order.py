"""Which values say the same: what tells a loop whether another turn of it could find anything new."""

from __future__ import annotations

from collections.abc import Sequence as Many

from exporter.check.domain.values import Broken, Const, External, Tensor, Union, Value

_DEEPEST = 6  # values inside values; what lies deeper is taken for something else

#: Where a value lies and what it was made from is nothing that it says: two turns compute two tensors alike.
_UNSAID = frozenset("fixed made name picked place scopes value_number viewed".split())


def alike(one: object, other: object, depth: int = 0) -> bool:
    """Whether two values, or contents, say the same; a tensor that the call did not compute is like itself alone."""
    if one is other or (isinstance(one, Broken) and isinstance(other, Broken)):
        return True
    if type(one) is not type(other) or depth > _DEEPEST:
        return False
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(alike(a, b, depth) for a, b in zip(one, other, strict=True))
    if isinstance(one, dict) and isinstance(other, dict):
        return list(one) == list(other) and all(alike(one[key], other[key], depth) for key in one)
    if isinstance(one, Union) and isinstance(other, Union):
        return _within(one.options, other.options, depth) and _within(other.options, one.options, depth)
    if not isinstance(one, Value) or not isinstance(other, Value) or type(one) in (Value, Const, External):
        return one == other
    computed = not isinstance(one, Tensor) or one.origin == "op"
    return computed and alike(_said(one), _said(other), depth + 1)


def _said(value: Value) -> dict[str, object]:
    return {name: part for name, part in vars(value).items() if name not in _UNSAID}


def _within(some: Many[Value], every: Many[Value], depth: int) -> bool:
    return all(any(alike(value, known, depth + 1) for known in every) for value in some)

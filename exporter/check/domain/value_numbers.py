"""Value numbers: what a tensor was made from.

One computation written twice is known for one by them, and tensors that share their data: in eager mode some operators
give a view, in a program nothing does.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping as Names

from exporter.check.catalogue import Entry, entry
from exporter.check.domain.call import Call
from exporter.check.domain.values import Const, Dim, External, Layer, Scalar, Sequence, Tensor, Value
from exporter.check.source.def_use import read_later

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


def note_view(value: Value) -> None:
    """Remember that a view of a tensor was made."""
    if isinstance(value, Tensor) and (base := _base(value)) is not None and _made_by(value).has("strided"):
        base.viewed = True


def refuses_in_place(tensor: Tensor) -> bool:
    """Whether an in-place function of this tensor cannot be traced: it is a view, or there is one of it.

    Source: 'stride_ops' in 'base/framework.py' of Paddle 3.3.1.
    """
    maker = _made_by(tensor)
    return tensor.viewed or maker.has("ends_strided") or (_base(tensor) is not None and maker.has("strided"))


def _made_by(tensor: Tensor) -> Entry:
    """What the catalogue says of the operator or layer that gave a tensor."""
    if not tensor.value_number:
        return Entry()
    operator, *operands = tensor.value_number
    if operator == "layer" and isinstance(operands[0], Layer):
        operator = operands[0].name.rpartition(".")[2]
    return entry(str(operator))


def still_needed(
    part: tuple[Tensor, Value], names: Names[str, Value], function: ast.AST | None, node: ast.Subscript
) -> str:
    """A name, read further on, of a tensor that shares the data that `node` writes, of a tensor at an index; or ""."""
    tensor, index = part
    mine, written = _bases(tensor), node.value.id if isinstance(node.value, ast.Name) else ""
    for name, other in names.items():
        if name == written or not isinstance(other, Tensor) or other is tensor:
            continue
        operator, *operands = other.value_number or ("",)
        if operator == "item" and operands[0] is tensor and _are_apart(operands[1], index):
            continue
        shared = any(other is each for each in mine) or any(tensor is each for each in _bases(other))
        if shared and read_later(function, name, node):
            return name
    return ""


def _are_apart(left: object, right: object) -> bool:
    """Return whether two indices of one tensor surely take different parts of it: `x[:, 0:2]` and `x[:, 4:]`."""
    both = [at.items if isinstance(at, Sequence) and at.kind == "tuple" else (at,) for at in (left, right)]
    if any(isinstance(place, Const) and type(place.value) is not int for place in (*both[0], *both[1])):
        return False  # an ellipsis or a new axis: the places do not belong to one another
    pairs = ((_range(first), _range(second)) for first, second in zip(*both, strict=False))
    return any(low and high and (low[1] <= high[0] or high[1] <= low[0]) for low, high in pairs)


def _range(index: object) -> tuple[float, float] | None:
    """From where to where an index goes along its axis, if that is known, and counted from the beginning."""
    if isinstance(index, Const) and type(index.value) is int and index.value >= 0:
        return index.value, index.value + 1
    if not isinstance(index, Sequence) or index.kind != "slice":
        return None
    ends = [end.value if isinstance(end, Const) else -1 for end in index.items[:2]]
    low, high = (usual if end is None else end for end, usual in zip(ends, (0, math.inf), strict=True))
    if isinstance(low, int) and isinstance(high, (int, float)) and low >= 0 and high >= 0:
        return low, high
    return None


def _base(tensor: Tensor) -> Tensor | None:
    """The tensor of which this one is a view."""
    maker = _made_by(tensor) if len(tensor.value_number) > 1 else Entry()
    if not maker.has("view") and not maker.has("strided"):
        return None
    base = tensor.value_number[1]
    if tensor.value_number[0] == "item" and not _plain_index(tensor.value_number[2]):
        return None
    return base if isinstance(base, Tensor) else None


def _bases(tensor: Tensor) -> list[Tensor]:
    found: list[Tensor] = []
    base = _base(tensor)
    while base is not None and len(found) < 20:
        found.append(base)
        base = _base(base) if _made_by(base).has("view") else None
    return found if _made_by(tensor).has("view") else []


def _plain_index(index: object) -> bool:
    """Whether an index is made of numbers and slices; any other makes a copy."""
    if isinstance(index, Sequence):
        return index.kind == "slice" or (index.kind == "tuple" and all(_plain_index(each) for each in index.items))
    whole = isinstance(index, Const) and not isinstance(index.value, (bool, str))
    return whole or isinstance(index, Dim) or (isinstance(index, Scalar) and index.kind == "int")

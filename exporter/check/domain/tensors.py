"""What Python makes of tensors: sizes that broadcast, what indexing takes, the dtype where it is certain."""

from __future__ import annotations

from collections.abc import Sequence as Many

from exporter.check.domain.contents import inputs_of
from exporter.check.domain.values import Const, Dim, Extent, External, Sequence, Size, Tensor, Value

NAMES = frozenset("float16 bfloat16 float32 float64 int8 int16 int32 int64 uint8 bool".split())


def named(value: Value) -> str:
    """The dtype that a value names: `"float32"` or `paddle.float32`."""
    text = value.value if isinstance(value, Const) else value.name if isinstance(value, External) else ""
    last = text.rpartition(".")[2] if isinstance(text, str) else ""
    return last if last in NAMES else ""


def of_pair(left: Value, right: Value) -> str:
    """The dtype of an arithmetic operator on tensors and numbers; division of integers is left open."""
    found = common((left, right))
    whole = all(isinstance(each, (Tensor, Const)) for each in (left, right))
    return found if whole and found.startswith("float") else ""


def common(values: Many[Value]) -> str:
    """The one dtype that all tensors among the values have, those in lists included."""
    found = {each for value in values for each in _dtypes(value)}
    return found.pop() if len(found) == 1 else ""


def _dtypes(value: Value) -> set[str]:
    if isinstance(value, Tensor):
        return {value.dtype}
    if isinstance(value, Sequence):
        return {dtype for part in value.parts() for dtype in _dtypes(part)}
    return set()


def operate(left: Value, right: Value, boolean: bool = False) -> Tensor:
    """What an arithmetic operator between two values gives, one of which is a tensor."""
    tensors = [each for each in (left, right) if isinstance(each, Tensor)]
    sizes, closed = broadcast(tensors) if tensors else ((), True)
    dtype = "bool" if boolean else of_pair(left, right)
    return Tensor(
        sizes,
        closed,
        inputs_of((left, right)),
        boolean=boolean,
        shaped=all(each.shaped for each in tensors),
        dtype=dtype,
    )


def take(tensor: Tensor, index: Value, known: tuple[Value, ...] | None) -> Tensor:
    """What indexing a tensor gives; `known` are the parts of the index, of which a slice is `External("slice")`."""
    parts = known if known is not None else (index,)
    sizes: list[Size] = []
    at = 0
    for part in parts:
        if isinstance(part, Const) and part.value is None:
            sizes.append(1)
            continue
        if isinstance(part, Const) and part.value is Ellipsis:
            return Tensor(tuple(sizes) + (tensor.sizes[:1] if not at else ()), False, tensor.inputs, guessed=False)
        if isinstance(part, Sequence) and part.kind == "slice":
            sizes.append(tensor.size(at) if whole_slice(part) else Extent.UNKNOWN)
        elif not isinstance(part, (Const, Dim)) and not (isinstance(part, Tensor) and part.closed and not part.sizes):
            sizes.append(Extent.UNKNOWN)
        at += 1
    inputs = inputs_of((tensor, *parts))
    made = Tensor((*sizes, *tensor.sizes[at:]), tensor.closed and at <= len(tensor.sizes), inputs, dtype=tensor.dtype)
    made.shaped = tensor.shaped
    return made


def whole_slice(index: Value) -> bool:
    """Whether an index is `:`."""
    return isinstance(index, Sequence) and index.kind == "slice" and all(each == Const(None) for each in index.items)


def broadcast(tensors: Many[Tensor]) -> tuple[tuple[Size, ...], bool]:
    """The sizes of the largest of several tensors, which the others are spread over, and whether they are all."""
    best = max(tensors, key=lambda one: (len(one.sizes), one.closed))
    for other in tensors:
        if len(other.sizes) == len(best.sizes) and other.size(0) is Extent.DYNAMIC:
            best = other
    return best.sizes, best.closed and all(one.closed for one in tensors)

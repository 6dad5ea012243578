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
        return {one for each in value.parts() for one in _dtypes(each)}
    return set()


def operate(left: Value, right: Value, boolean: bool = False) -> Tensor:
    """What an arithmetic operator between two values gives, one of which is a tensor."""
    tensors = [each for each in (left, right) if isinstance(each, Tensor)]
    sizes, closed = broadcast(tensors) if tensors else ((), True)
    dtype, shaped = "bool" if boolean else of_pair(left, right), all(each.shaped or not each.inputs for each in tensors)
    return Tensor(sizes, closed, inputs_of((left, right)), boolean=boolean, shaped=shaped, dtype=dtype)


def take(tensor: Tensor, index: Value) -> Tensor:
    """What indexing a tensor gives."""
    several = isinstance(index, Sequence) and index.kind == "tuple"
    parts = _without_ellipsis(tensor, index.parts() if several else (index,))
    sizes: list[Size] = []
    at = 0
    for part in parts:
        if isinstance(part, Const) and part.value is None:
            sizes.append(1)
            continue
        if isinstance(part, Const) and part.value is Ellipsis:
            return Tensor(tuple(sizes) + (tensor.sizes[:1] if not at else ()), False, tensor.inputs, guessed=False)
        if isinstance(part, Sequence) and part.kind == "slice":
            sizes.append(_sliced(tensor.size(at), part))
        elif not isinstance(part, (Const, Dim)) and not (isinstance(part, Tensor) and part.closed and not part.sizes):
            sizes.append(Extent.UNKNOWN)
        at += 1
    sizes += tensor.sizes[at:]
    closed = tensor.closed and at <= len(tensor.sizes)
    return Tensor(tuple(sizes), closed, inputs_of((tensor, *parts)), dtype=tensor.dtype, shaped=tensor.shaped)


def _without_ellipsis(tensor: Tensor, parts: tuple[Value, ...]) -> tuple[Value, ...]:
    """The parts of an index with `...` written out, where the rank is known."""
    taken = sum(part not in (Const(None), Const(Ellipsis)) for part in parts)
    if not tensor.closed or Const(Ellipsis) not in parts or taken > len(tensor.sizes):
        return parts
    at = parts.index(Const(Ellipsis))
    whole = Sequence("slice", (Const(None),) * 3)
    return (*parts[:at], *(whole,) * (len(tensor.sizes) - taken), *parts[at + 1 :])


def _sliced(size: Size, part: Sequence) -> Size:
    """How much of a size a slice takes."""
    if whole_slice(part):
        return size
    known = slice_of(part)
    return len(range(size)[known]) if known and isinstance(size, int) and size >= 0 else Extent.UNKNOWN


def slice_of(index: Sequence) -> slice | None:
    """The slice that an index stands for, if its bounds are known."""
    bounds = [each.value for each in index.items if isinstance(each, Const)]
    whole = [each for each in bounds if each is None or isinstance(each, int)]
    return slice(*whole) if len(whole) == len(index.items) == 3 and whole[2] != 0 else None


def whole_slice(index: Value) -> bool:
    """Whether an index is `:`."""
    return isinstance(index, Sequence) and index.kind == "slice" and all(each == Const(None) for each in index.items)


def broadcast(tensors: Many[Tensor]) -> tuple[tuple[Size, ...], bool]:
    """The sizes of several tensors spread over each other, and whether they are all; those of the largest, if not."""
    if len(tensors) == 1:
        return tensors[0].sizes, tensors[0].closed
    if all(tensor.closed for tensor in tensors):
        rank = max(len(tensor.sizes) for tensor in tensors)
        spread = [(1,) * (rank - len(tensor.sizes)) + tensor.sizes for tensor in tensors]
        return tuple(map(_spread, zip(*spread, strict=True))), True
    best = max(tensors, key=lambda one: (len(one.sizes), one.closed))
    for other in tensors:
        if len(other.sizes) == len(best.sizes) and other.size(0) is Extent.DYNAMIC:
            best = other
    return best.sizes, False


def _spread(sizes: tuple[Size, ...]) -> Size:
    """The size along an axis that several tensors have, each of them that size or 1."""
    known = [size for size in sizes if size != 1]
    number = next((size for size in known if isinstance(size, int)), None)
    varying = next((size for size in known if size is not Extent.UNKNOWN), Extent.UNKNOWN)
    return 1 if not known else varying if number is None else number

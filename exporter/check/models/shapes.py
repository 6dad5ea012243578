"""The sizes and the dtype of what Paddle's operators and layers give, by the words of the catalogue.

Only shapes that decide a rule are followed: above all whether the first dimension varies from call to call.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from exporter.check.catalogue import entry
from exporter.check.domain.call import Call
from exporter.check.domain.tensors import broadcast, common, named
from exporter.check.domain.values import UNKNOWN, Const, Dim, Extent, Layer, Sequence, Shape, Size, Tensor, Value

#: The first sizes of a tensor, and whether they are all.
Sizes: TypeAlias = tuple[tuple[Size, ...], bool]
_MOST_PARTS = 16


def apply_operator(call: Call) -> Value:
    """What a tensor function or method gives, by the last part of its name."""
    name, inputs = plain_name(call.last), call.inputs
    known = entry(name)
    if known.sizes == "many":
        return _many(name, call)
    if known.sizes == "pair" or (name == "unique" and any(key.startswith("return_") for key in call.keywords)):
        lead = call.tensor.sizes if call.tensor else ()
        return Sequence("tuple", (Tensor(lead, inputs=inputs), Tensor(lead, inputs=inputs)))
    sizes, closed = _sizes(known.sizes, call)
    given = [part for value in call.every for part in (value, *value.parts()) if isinstance(part, Tensor)]
    shaped = bool(inputs) and all(tensor.shaped or not tensor.inputs for tensor in given)  # made from dimensions alone
    boolean = known.dtype == "bool"
    return Tensor(sizes, closed, inputs, boolean=boolean, dtype=dtype_of(call), shaped=shaped)


def plain_name(name: str) -> str:
    """The name of an operator without the `_` of its in-place form."""
    return name[:-1] if name.endswith("_") and not name.endswith("__") else name


def dtype_of(call: Call) -> str:
    """The dtype of what an operator gives; empty where it is not certain."""
    known = entry(plain_name(call.last))
    if known.dtype == "named":
        return named(call.given(1, "dtype"))
    if known.dtype in ("bool", "float32"):
        return known.dtype
    if "dtype" in call.keywords:
        return named(call.keywords["dtype"]) if known.has("typed") else ""
    if not known.dtype.startswith("kept"):
        return known.dtype
    dtype = common(call.arguments)
    return dtype if known.dtype == "kept" or dtype.startswith("float") else ""


def gives_itself(call: Call) -> bool:
    """Whether a method gives the tensor itself: a cast to the dtype that it has, or `contiguous`.

    Source: measured on Paddle 3.3.1; the function `paddle.cast` makes a new tensor in any case.
    """
    if call.last == "contiguous":
        return True
    if call.last in ("to", "cpu", "cuda") and isinstance(call.first, Tensor) and call.first.origin == "parameter":
        return "dtype" not in call.keywords and not any(map(named, call.arguments[1:]))
    dtype = call.first.dtype if isinstance(call.first, Tensor) else ""
    return call.last in ("astype", "float") and bool(dtype) and dtype_of(call) == dtype


def apply_layer(layer: Layer, call: Call) -> Value:
    """What a layer of Paddle's gives, called in evaluation."""
    name = layer.name.rpartition(".")[2]
    given = call.arguments[0] if call.arguments else next(iter(call.keywords.values()), UNKNOWN)
    if name == "Identity" or (name.startswith("Dropout") and layer.given(0, "p") == Const(0)):
        return given
    first, known = call.tensor, entry(name)
    if known.sizes == "recurrent":
        lead = first.sizes[:1] if first else ()
        state: Value = Tensor(inputs=call.inputs)
        state = Sequence("tuple", (), state) if "LSTM" in name else state
        return Sequence("tuple", (Tensor(lead, inputs=call.inputs), state))
    if first is None:
        return Tensor(inputs=call.inputs)
    sizes, closed = _sizes_after_layer(known.sizes, first, layer)
    return Tensor(sizes, closed, call.inputs, dtype=first.dtype if first.dtype.startswith("float") else "")


def _sizes_after_layer(rule: str, first: Tensor, layer: Layer) -> Sizes:
    if rule == "features":
        width = _size_of(layer.given(1, "out_features"))
        return (*first.sizes[:-1], width) if first.closed else first.sizes[:-1] or first.sizes[:1], first.closed
    if rule == "embedded":
        width = _size_of(layer.given(1, "embedding_dim"))
        return ((*first.sizes, width) if first.closed else first.sizes), first.closed
    if rule == "channels" and first.closed and len(first.sizes) > 2:
        space = (Extent.UNKNOWN,) * (len(first.sizes) - 2)
        return (first.size(0), _size_of(layer.given(1, "out_channels")), *space), True
    return (first.sizes, first.closed) if rule == "same" else (first.sizes[:1], False)


def _sizes(rule: str, call: Call) -> Sizes:
    """The sizes of one tensor; of nothing that is a tensor, only those that the arguments say."""
    if (stated := _STATED.get(rule)) is not None and (call.arguments or rule == "given" or rule == "counted"):
        return stated(call)
    following = _FOLLOWING.get(rule)
    return following(call.tensor, call) if following is not None and call.tensor is not None else ((), False)


def _expanded(call: Call) -> Sizes:
    """Sizes that are stated; -1 stands for that of the tensor, which is spread over them from the end."""
    sizes, closed = stated_sizes(call.given(1, "shape"))
    first = call.tensor
    kept = [first.size(at - len(sizes)) if first and first.closed else Extent.UNKNOWN for at in range(len(sizes))]
    return tuple(old if size == -1 else size for size, old in zip(sizes, kept, strict=True)), closed


def _reshaped(call: Call) -> Sizes:
    rest = Sequence("list", tuple(call.arguments[1:]))
    sizes, closed = stated_sizes(call.keywords.get("shape", call.arguments[1] if len(call.arguments) == 2 else rest))
    first = call.tensor
    varies = first is not None and Extent.DYNAMIC in first.sizes
    known = [size for size in sizes if isinstance(size, int) and size != -1]
    if -1 in sizes:
        left = Extent.DYNAMIC if varies and len(known) == len(sizes) - 1 else Extent.UNKNOWN
        sizes = tuple(left if size == -1 else size for size in sizes)
    if first is not None:
        sizes = tuple(first.size(at) if size == 0 else size for at, size in enumerate(sizes))
    return sizes, closed


def _counted(call: Call) -> Sizes:
    end = call.arguments[min(len(call.arguments) - 1, 1)] if call.arguments else UNKNOWN
    return (_size_of(end),), True


def _stacked(call: Call) -> Sizes:
    given = call.arguments[0]
    if not isinstance(given, Sequence):
        return (), False
    example, axis = _example(given), _axis(call)
    count: Size = Extent.UNKNOWN if given.rest is not None else len(given.items)
    if axis in (None, 0):
        return (count, *(example.sizes if example else ())), bool(example and example.closed)
    return (example.sizes[:1] if example else ()), False


def _joined(call: Call) -> Sizes:
    given, axis = call.arguments[0], _axis(call)
    example = _example(given) if isinstance(given, Sequence) else None
    if example is None or not isinstance(given, Sequence) or axis in (None, 0) or not isinstance(axis, int):
        return (() if example is None or axis in (None, 0) else example.sizes[:1]), False
    at = axis + len(example.sizes) if axis < 0 else axis
    parts = [item.size(at) if isinstance(item, Tensor) else Extent.UNKNOWN for item in given.parts()]
    if not example.closed or not 0 <= at < len(example.sizes):
        return example.sizes[:1], False
    return (*example.sizes[:at], _sum(parts, given.rest is None), *example.sizes[at + 1 :]), True


def _sum(parts: list[Size], all_known: bool) -> Size:
    """The size of what several are joined to: a number if all are, varying if one does."""
    whole = [part for part in parts if isinstance(part, int)]
    if len(whole) == len(parts) and all_known:
        return sum(whole)
    return Extent.DYNAMIC if Extent.DYNAMIC in parts and Extent.UNKNOWN not in parts else Extent.UNKNOWN


def _example(given: Sequence) -> Tensor | None:
    return next((item for item in (*given.items, given.rest) if isinstance(item, Tensor)), None)


#: Sizes that the arguments state.
_STATED: dict[str, Callable[[Call], Sizes]] = {
    "given": lambda call: stated_sizes(call.given(0, "shape")),
    "reshaped": _reshaped,
    "expanded": _expanded,
    "counted": _counted,
    "stacked": _stacked,
    "joined": _joined,
}


def _same(first: Tensor, call: Call) -> Sizes:
    return broadcast([value for value in call.arguments if isinstance(value, Tensor)] or [first])


def _reduced(first: Tensor, call: Call) -> Sizes:
    axis = _axis(call)
    keep = any(isinstance(value, Const) and value.value is True for value in call.every)
    if axis is None and "axis" not in call.keywords:
        return ((1,) * len(first.sizes), first.closed) if keep else ((), True)
    if not isinstance(axis, int):
        return (), False
    if axis < 0 and not first.closed:  # of a tensor of unknown rank a far axis goes, the first stays
        return first.sizes[:1], False
    at = axis + len(first.sizes) if axis < 0 else axis
    middle: tuple[Size, ...] = (1,) if keep else ()
    return (*first.sizes[:at], *middle, *first.sizes[at + 1 :]), first.closed


def _unsqueezed(first: Tensor, call: Call) -> Sizes:
    axis = _axis(call)
    if isinstance(axis, int) and 0 <= axis <= len(first.sizes):
        return (*first.sizes[:axis], 1, *first.sizes[axis:]), first.closed
    return first.sizes[:1] if axis == -1 else (), False


def _permuted(first: Tensor, call: Call) -> Sizes:
    order = call.given(1, "perm").listed or ()
    axes = [item.value for item in order if isinstance(item, Const)]
    if not axes or len(axes) != len(order):
        return (), False
    return tuple(first.size(axis) if isinstance(axis, int) else Extent.UNKNOWN for axis in axes), True


#: Sizes that follow from those of the first tensor.
_FOLLOWING: dict[str, Callable[[Tensor, Call], Sizes]] = {
    "same": _same,
    "reduced": _reduced,
    "one": lambda first, call: ((), True),
    "product": lambda first, call: (first.sizes[:1] if not first.closed or len(first.sizes) > 1 else (), False),
    "unsqueezed": _unsqueezed,
    "permuted": _permuted,
    "flattened": lambda first, call: (first.sizes[:1] if len(call.arguments) > 1 or call.keywords else (), False),
    "lead": lambda first, call: (first.sizes[:1], False),
}


def _many(name: str, call: Call) -> Value:
    if name == "nonzero" and "as_tuple" not in call.keywords:
        return Tensor(inputs=call.inputs, dtype="")
    first = call.tensor
    axis = call.keywords.get("axis", call.arguments[-1] if len(call.arguments) > 2 else Const(0))
    part = _part(first, axis.value if isinstance(axis, Const) else None, call.inputs)
    count = call.given(1, "num_or_sections", "chunks")
    if isinstance(count, Const) and isinstance(count.value, int) and 0 < count.value <= _MOST_PARTS:
        return Sequence("list", tuple(replace(part) for _ in range(count.value)))
    return Sequence("list", (), part)


def _part(first: Tensor | None, axis: object, inputs: frozenset[str]) -> Tensor:
    """One of the parts that a tensor is split into along an axis."""
    if first is None or not isinstance(axis, int) or axis == 0:
        return Tensor(inputs=inputs)
    if not first.closed or not -len(first.sizes) <= axis < len(first.sizes):
        return Tensor(first.sizes[:1], False, inputs)
    at = axis % len(first.sizes)
    return Tensor((*first.sizes[:at], Extent.UNKNOWN, *first.sizes[at + 1 :]), True, inputs)


def stated_sizes(shape: Value) -> Sizes:
    """The sizes that a list states, none where it is not known."""
    if isinstance(shape, Shape):
        return shape.tensor.sizes, shape.tensor.closed
    if shape.listed is not None:
        return tuple(map(_size_of, shape.listed)), True
    return (), False


def _size_of(value: Value) -> Size:
    if isinstance(value, Const) and isinstance(value.value, int):
        return value.value
    return value.size if isinstance(value, Dim) else Extent.UNKNOWN


def _axis(call: Call) -> object:
    given = call.given(1, "axis", "dim", default=Const(None))
    return given.value if isinstance(given, Const) else Extent.UNKNOWN

"""The ONNX graph while it is written: tensors by name, nodes in order, constants as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from exporter.base.tensors import Array

#: What a node's input may be given as: a number becomes a constant of the first tensor's dtype.
Given: TypeAlias = "Tensor | float | None"


@dataclass(frozen=True)
class Tensor:
    """A value of the graph. `shape` is as far as it is known (-1: it varies); `array` is a constant's content."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    array: Array | None = field(default=None, compare=False, repr=False)

    @property
    def rank(self) -> int:
        """How many dims there are."""
        return len(self.shape)

    @property
    def is_float(self) -> bool:
        """Return whether it holds floats of any width."""
        return "float" in self.dtype


#: The dtype of the parts of a complex value.
FLOATS_OF = {"complex64": "float32", "complex128": "float64"}


@dataclass(frozen=True)
class Pair:
    """A complex value: two real tensors of one shape."""

    real: Tensor
    imag: Tensor


@dataclass(frozen=True)
class Growing:
    """A list that a loop appends to: all its members' numbers in a row, their sizes likewise, and how many they are."""

    numbers: Tensor
    sizes: Tensor
    count: Tensor

    @property
    def parts(self) -> tuple[Tensor, Tensor, Tensor]:
        """The tensor that a loop carries of it."""
        return self.numbers, self.sizes, self.count


@dataclass(frozen=True)
class Node:
    """One ONNX operator; an attribute may be a :class:`Graph`. `about` goes into its `metadata_props`."""

    kind: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: dict[str, Any]
    about: dict[str, str]


@dataclass
class Graph:
    """The main graph, or the body of an If or a Loop."""

    nodes: list[Node] = field(default_factory=list)
    inputs: list[Tensor] = field(default_factory=list)
    outputs: list[Tensor] = field(default_factory=list)


_BOOL = frozenset("Equal Greater GreaterOrEqual Less LessOrEqual And Or Xor Not IsNaN IsInf".split())
_INT64 = frozenset("Shape Size NonZero ArgMax ArgMin NonMaxSuppression".split())
#: Operators of which ONNX Runtime 1.31 has no kernel for float64 on the CPU.
_NO_FLOAT64 = frozenset(
    "Acos Acosh Asin Asinh Atan Atanh AveragePool Conv ConvTranspose Cosh DeformConv Elu Erf GlobalAveragePool "
    "GlobalMaxPool GridSample HardSigmoid HardSwish InstanceNormalization LeakyRelu LpPool MaxRoiPool NonZero "
    "Resize Selu Sinh Softplus Tan".split()
)


class Builder:
    """Emits nodes into the current graph and keeps the constants of the whole model."""

    def __init__(self, opset: int) -> None:
        self.opset = opset
        self.constants: dict[str, Array] = {}
        self.graph = Graph()
        self.about: dict[str, str] = {}
        self.lacking: set[str] = set()  # what ONNX Runtime does not compute of what was emitted
        self._named: dict[tuple[str, tuple[int, ...], bytes], str] = {}
        self._count = 0

    def name(self, stem: str) -> str:
        """A name that is free in the whole model."""
        self._count += 1
        return f"{stem}.{self._count}"

    def rename(self, x: Tensor, name: str, start: int) -> Tensor:
        """Call a tensor `name` if a node from number `start` of the current graph makes it; else leave it."""
        nodes = self.graph.nodes
        if not any(x.name in node.outputs for node in nodes[start:]):
            return x
        for at, node in enumerate(nodes[start:], start):
            inputs, outputs = (
                tuple(name if given == x.name else given for given in names) for names in (node.inputs, node.outputs)
            )
            nodes[at] = replace(node, inputs=inputs, outputs=outputs)
        return replace(x, name=name)

    def constant(self, value: Any, dtype: str = "int64") -> Tensor:
        """A constant; equal ones share a name."""
        import numpy as np

        array = np.ascontiguousarray(np.asarray(value).astype(dtype)).reshape(np.shape(value))
        key = (array.dtype.name, array.shape, array.tobytes())
        name = self._named.get(key)
        if name is None:
            name = self._named[key] = self.name("const")
            self.constants[name] = array
        return Tensor(name, dtype, array.shape, array)

    def many(self, kind: str, *inputs: Given, shapes: Sequence[tuple[int, ...]], **attributes: Any) -> list[Tensor]:
        """Emit a node with several results, all of the first input's dtype; give their shapes."""
        given = self._tensors(inputs)
        dtype = next((one.dtype for one in given if one is not None), "float32")
        if dtype == "float64" and kind in _NO_FLOAT64:
            self.lacking.add(kind)
        made = [Tensor(self.name(kind), dtype, tuple(shape)) for shape in shapes]
        names = tuple(one.name if one is not None else "" for one in given)
        while names and not names[-1]:
            names = names[:-1]
        outputs = tuple(one.name for one in made)
        self.graph.nodes.append(Node(kind, names, outputs, attributes, dict(self.about)))
        return made

    def emit(
        self, kind: str, *inputs: Given, dtype: str | None = None, shape: Sequence[int] | None = None, **attributes: Any
    ) -> Tensor:
        """Emit a node with one result.

        Its dtype is the operator's own, else the first input's; its shape is broadcast from the inputs' unless given.
        """
        if kind == "Where" and any(isinstance(one, Tensor) and one.dtype == "bool" for one in inputs[1:]):
            return self._choice(*self._tensors(inputs))
        (made,) = self.many(kind, *inputs, shapes=[()], **attributes)
        given = [one for one in self._tensors(inputs) if one is not None]
        if dtype is None:
            own = given[1].dtype if kind == "Where" else made.dtype
            dtype = "bool" if kind in _BOOL else "int64" if kind in _INT64 else own
        known = tuple(shape) if shape is not None else broadcast([one.shape for one in given])
        return Tensor(made.name, dtype, known)

    def _choice(self, *inputs: Tensor | None) -> Tensor:
        """Emit `Where` for bool by logical operators: ONNX Runtime 1.31 has no kernel for it."""
        condition, x, y = inputs
        chosen = self.emit("And", condition, self.cast(x, "bool") if x else None)
        other = self.emit("And", self.emit("Not", condition), self.cast(y, "bool") if y else None)
        return self.emit("Or", chosen, other)

    def _tensors(self, inputs: Sequence[Given]) -> list[Tensor | None]:
        first = next((one.dtype for one in inputs if isinstance(one, Tensor) and one.dtype != "bool"), None)
        found: list[Tensor | None] = []
        for one in inputs:
            if isinstance(one, (int, float)):
                found.append(self.constant(one, first or "float32"))
            else:
                found.append(one)
        return found

    def cast(self, x: Tensor, dtype: str) -> Tensor:
        """The same numbers in another dtype; nothing is emitted where it has it."""
        if x.dtype == dtype:
            return x
        if x.array is not None and "bfloat16" not in (dtype, x.dtype) and x.array.dtype.kind in "iub":
            return self.constant(x.array, dtype)
        return self.emit("Cast", x, to=onnx_dtype(dtype), dtype=dtype, shape=x.shape)

    def reshape(self, x: Tensor, target: Tensor | Sequence[int], shape: Sequence[int] | None = None) -> Tensor:
        """Reshape to a list of sizes (0 copies a size, -1 is what is left), or to a vector that is computed."""
        if not isinstance(target, Tensor):
            sizes = [int(one) for one in target]
            known = [x.shape[at] if one == 0 and at < x.rank else one for at, one in enumerate(sizes)]
            return self.emit("Reshape", x, self.constant(sizes), shape=shape or known)
        sizes = list(shape) if shape is not None else [-1] * max(target.shape[0], 0)
        return self.emit("Reshape", x, target, shape=sizes, allowzero=1)

    def squeeze(self, x: Tensor, axes: Sequence[int]) -> Tensor:
        """Take out dims of size 1."""
        gone = {axis % x.rank for axis in axes}
        left = [size for at, size in enumerate(x.shape) if at not in gone]
        return self.emit("Squeeze", x, self.constant(sorted(gone)), shape=left) if gone else x

    def unsqueeze(self, x: Tensor, axes: Sequence[int]) -> Tensor:
        """Put in dims of size 1; the axes count in the result."""
        rank = x.rank + len(axes)
        put = {axis % rank for axis in axes}
        sizes = iter(x.shape)
        shape = [1 if at in put else next(sizes) for at in range(rank)]
        return self.emit("Unsqueeze", x, self.constant(sorted(put)), shape=shape) if put else x

    def transpose(self, x: Tensor, perm: Sequence[int]) -> Tensor:
        """Put dims in another order; nothing is emitted where it is theirs."""
        order = [axis % x.rank for axis in perm] if x.rank else []
        if order == list(range(x.rank)):
            return x
        return self.emit("Transpose", x, perm=order, shape=[x.shape[axis] for axis in order])

    def shape_of(self, x: Tensor) -> Tensor:
        """The sizes as an int64 vector, a constant where all are known."""
        if all(size >= 0 for size in x.shape):
            return self.constant(list(x.shape)) if x.shape else self.constant([], "int64")
        return self.emit("Shape", x, shape=[x.rank])

    def size_of(self, x: Tensor, axis: int) -> Tensor:
        """One size as an int64 vector of one element."""
        axis %= x.rank
        if x.shape[axis] >= 0:
            return self.constant([x.shape[axis]])
        return self.emit("Shape", x, start=axis, end=axis + 1, shape=[1])

    def numbering(self, count: Tensor, size: int = -1) -> Tensor:
        """0, 1, 2, …, as many as a scalar says; `size` is that number where it is known."""
        return self.emit("Range", self.constant(0), count, self.constant(1), shape=[size])

    def places(self, count: Tensor) -> Tensor:
        """The same by a vector of one number; a constant where that is one."""
        import numpy as np

        if count.array is not None:
            return self.constant(np.arange(int(count.array[0])))
        return self.numbering(self.squeeze(count, [0]))

    def concat(self, parts: Sequence[Tensor], axis: int = 0) -> Tensor:
        """Join tensors of one dtype along an axis."""
        if len(parts) == 1:
            return parts[0]
        sizes = [one.shape[axis] for one in parts]
        shape = list(parts[0].shape)
        shape[axis] = -1 if -1 in sizes else sum(sizes)
        return self.emit("Concat", *parts, axis=axis % parts[0].rank, shape=shape)

    def slice(self, x: Tensor, starts: Sequence[int], ends: Sequence[int], axes: Sequence[int]) -> Tensor:
        """A slice of step 1 by constant bounds."""
        shape = list(x.shape)
        for start, end, axis in zip(starts, ends, axes, strict=True):
            size = shape[axis]
            shape[axis] = len(range(*slice(start, end).indices(size))) if size >= 0 else -1
        return self.emit("Slice", x, *map(self.constant, (list(starts), list(ends), list(axes))), shape=shape)

    def expand(self, x: Tensor, sizes: Tensor, shape: Sequence[int]) -> Tensor:
        """Broadcast to the sizes, which must be the result's own."""
        return self.emit("Expand", x, sizes, shape=shape)

    def reduce(self, kind: str, x: Tensor, axes: Sequence[int] | None, keep: bool) -> Tensor:
        """ReduceSum and its like; axes are an input since opset 13 for the sum, since 18 for the others."""
        listed = list(range(x.rank)) if axes is None else sorted({axis % x.rank for axis in axes} if x.rank else ())
        shape = [1 if at in listed else size for at, size in enumerate(x.shape) if keep or at not in listed]
        if not listed:
            return x
        if kind == "ReduceSum" or self.opset >= 18:
            return self.emit(kind, x, self.constant(listed), keepdims=int(keep), shape=shape)
        return self.emit(kind, x, axes=listed, keepdims=int(keep), shape=shape)


def value_name(number: int) -> str:
    """Return the name of a PIR value in the ONNX file."""
    return f"%{number}"


def onnx_dtype(name: str) -> int:
    """ONNX's number of a dtype."""
    from onnx import TensorProto

    names = {"float32": "FLOAT", "float64": "DOUBLE"}
    return int(TensorProto.DataType.Value(names.get(name, name.upper())))


def broadcast(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The sizes of what is computed of tensors of these sizes, as numpy broadcasts."""
    rank = max(map(len, shapes), default=0)
    found = []
    for at in range(-rank, 0):
        sizes = {shape[at] for shape in shapes if len(shape) >= -at} - {1}
        found.append(max(sizes, default=1) if sizes else 1)
    return tuple(found)

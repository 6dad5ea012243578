"""What a name may stand for when a model is run on paper: values without numbers.

Two names for one tensor hold one object, so aliases show by identity. Objects that code can change (lists, instances)
keep their content in ordinary attributes, which the interpreter writes through
:class:`exporter.check.paper.store.Store`.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from collections.abc import Sequence as Many
from dataclasses import dataclass, field
from enum import Enum
from functools import reduce
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from exporter.check.module import ClassInfo, ParsedModule


class Extent(Enum):
    """A dimension without a number: it varies from call to call, or nothing is known of it."""

    DYNAMIC = "dynamic"
    UNKNOWN = "unknown"


#: A dimension: its size, or what is known instead.
Size: TypeAlias = int | Extent


class Value:
    """Anything that an expression may give. The class itself stands for what is not known."""


UNKNOWN = Value()


@dataclass(frozen=True)
class Const(Value):
    """A Python number, text, bool or None that is known."""

    value: object


@dataclass(eq=False)
class Scalar(Value):
    """A Python number, text or bool of unknown content; `kind` is the name of its type."""

    kind: str


@dataclass(eq=False)
class Tensor(Value):
    """A tensor.

    `sizes` are its first dimensions, all of them if `closed`. `inputs` are the names of the inputs of `forward` whose
    data it depends on. `origin` is `op`, `input`, `parameter`, `buffer` or `eager` (made outside the trace and
    registered nowhere); `name` and `made` (a module and node) tell more of it. `guessed`: only taken for a tensor, as
    a parameter of `forward` usually is one. `shaped`: it was computed from dimensions alone.
    """

    sizes: tuple[Size, ...] = ()
    closed: bool = False
    inputs: frozenset[str] = frozenset()
    origin: str = "op"
    name: str = ""
    boolean: bool = False
    guessed: bool = False
    made: tuple[ParsedModule, ast.AST] | None = None
    place: tuple[int, str] | None = None
    shaped: bool = False

    def size(self, axis: int) -> Size:
        """The size along an axis, which may count from the end."""
        if axis < 0:
            axis = axis + len(self.sizes) if self.closed else len(self.sizes)
        return self.sizes[axis] if 0 <= axis < len(self.sizes) else Extent.UNKNOWN


@dataclass(eq=False)
class Shape(Value):
    """`tensor.shape`, whole."""

    tensor: Tensor


@dataclass(eq=False)
class Dim(Value):
    """A dimension of a tensor, or a number computed from some. Where dynamic, the trace holds a scalar tensor."""

    size: Size
    inputs: frozenset[str] = frozenset()

    @property
    def dynamic(self) -> bool:
        """Whether it is known to vary from call to call."""
        return self.size is Extent.DYNAMIC


@dataclass(eq=False)
class Array(Value):
    """Something of NumPy's; `scalar` where it is a single number of NumPy's own type."""

    scalar: bool = False


@dataclass(eq=False)
class Sequence(Value):
    """A list, tuple, set, LayerList …: `items` are known, `rest` stands for all further ones.

    `kind` is `list`, `tuple`, `set`, `range`, or the qualified name of a class. `home` says where it lives if it
    outlives the call (`self.cache`, `global CACHE`). `grown_in_branch`: an item was added under a tensor condition.
    """

    kind: str
    items: tuple[Value, ...] = ()
    rest: Value | None = None
    home: str = ""
    place: tuple[int, str] | None = None
    grown_in_branch: bool = False


@dataclass(eq=False)
class Mapping(Value):
    """A dict or LayerDict by constant key, in the order of insertion; `rest` stands for all further values."""

    items: dict[object, Value] = field(default_factory=dict)
    rest: Value | None = None
    home: str = ""
    place: tuple[int, str] | None = None


@dataclass(eq=False)
class Instance(Value):
    """An object of a class of the user's.

    `complete`: it is surely a whole model, or built by one. `lasting`: it was there before the call of the model.
    """

    cls: ClassInfo
    attributes: dict[str, Value] = field(default_factory=dict)
    complete: bool = False
    lasting: bool = False
    registered: bool = False
    hooks: tuple[Value, ...] = ()


@dataclass(eq=False)
class Layer(Value):
    """A layer of Paddle's own, by qualified name, with what it was made from."""

    name: str
    arguments: tuple[Value, ...] = ()
    keywords: dict[str, Value] = field(default_factory=dict)
    training: bool = False
    hooks: tuple[Value, ...] = ()
    registered: bool = False


@dataclass(eq=False)
class Function(Value):
    """A function, method (`owner` is bound) or lambda of the user's; `scopes` is where its free names live.

    `converted`: dy2static rewrites its control flow. It does so for functions that a converted function calls by name,
    not for generators, for lambdas made elsewhere, nor behind `functools.partial` or `not_to_static`.
    """

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    module: ParsedModule
    scopes: tuple[dict[str, Value], ...] = ()
    owner: Value | None = None
    cls: ClassInfo | None = None
    converted: bool = True
    cached: bool = False
    defaults: dict[str, Value] = field(default_factory=dict)


@dataclass(eq=False)
class Partial(Value):
    """`functools.partial` of something."""

    function: Value
    arguments: tuple[Value, ...]
    keywords: dict[str, Value]


@dataclass(eq=False)
class Class(Value):
    """A class of the user's."""

    info: ClassInfo


@dataclass(frozen=True)
class External(Value):
    """A thing of a library, by qualified name: `paddle.nn.functional.relu`, `numpy.random`, `builtins.max`."""

    name: str


@dataclass(eq=False)
class Method(Value):
    """A method of a value that is not the user's: `Tensor.tolist`, `list.append`."""

    owner: Value
    name: str


@dataclass(eq=False)
class Super(Value):
    """`super()` inside a method of `cls`."""

    instance: Value
    cls: ClassInfo


@dataclass(eq=False)
class Either(Value):
    """One of several, which is not known."""

    options: tuple[Value, ...]


@dataclass(eq=False)
class Broken(Value):
    """A name that a tensor condition has left in a state which no program can hold; reading it is the fault.

    `reason` is `undefined`, `none` or `number`; `node` is the assignment at fault; `value` what analysis goes on with.
    """

    reason: str
    name: str
    module: ParsedModule
    node: ast.AST
    value: Value


#: Names that hold a value only on some ways through the code.
UNBOUND = Const("<unbound>")

_NUMBERS = (int, float)
_MOST_OPTIONS = 4


def options(value: Value) -> tuple[Value, ...]:
    """What a value may be: itself, or each of several."""
    if isinstance(value, Broken):
        value = value.value
    return value.options if isinstance(value, Either) else (value,)


def only_tensor(value: Value) -> bool:
    """Whether it is a tensor in the trace for certain: one is known, or it is a dimension that varies."""
    return (isinstance(value, Tensor) and not value.guessed) or (isinstance(value, Dim) and value.dynamic)


def holds(value: Value, wanted: Callable[[Value], bool]) -> bool:
    """Whether a value, or one inside its containers, is what is wanted."""
    if isinstance(value, (Sequence, Mapping)):
        every = (*(value.items.values() if isinstance(value, Mapping) else value.items), value.rest)
        return any(holds(each, wanted) for each in every if each is not None)
    if isinstance(value, Either):
        return any(holds(each, wanted) for each in value.options)
    return wanted(value)


def inputs_of(values: Many[Value]) -> frozenset[str]:
    """The inputs of `forward` that any of the values depend on, containers looked into."""
    found: frozenset[str] = frozenset()
    for value in values:
        if isinstance(value, (Tensor, Dim)):
            found |= value.inputs
        elif isinstance(value, Sequence):
            found |= inputs_of((*value.items, *((value.rest,) if value.rest else ())))
        elif isinstance(value, Mapping):
            found |= inputs_of((*value.items.values(), *((value.rest,) if value.rest else ())))
        elif isinstance(value, Either):
            found |= inputs_of(value.options)
        elif isinstance(value, Broken):
            found |= inputs_of((value.value,))
    return found


def join(one: Value, other: Value) -> Value:
    """What a name stands for after two ways through the code meet, when Python chose the way."""
    if one is other or one == other:
        return one
    if isinstance(one, Broken) or isinstance(other, Broken):
        return one if isinstance(one, Broken) else other
    if one is UNBOUND or other is UNBOUND:
        return other if one is UNBOUND else one
    if isinstance(one, Tensor) and isinstance(other, Tensor):
        return join_tensors(one, other)
    if isinstance(one, Sequence) and isinstance(other, Sequence) and one.kind == other.kind:
        return _join_sequences(one, other)
    if type(one) is Value or type(other) is Value:
        return UNKNOWN
    if isinstance(one, Dim) and isinstance(other, Dim):
        return Dim(_join_sizes(one.size, other.size) if one.size != other.size else one.size, one.inputs | other.inputs)
    if isinstance(one, (Scalar, Array)) and type(one) is type(other):
        return one
    merged: list[Value] = list(options(one))
    merged += [each for each in options(other) if each not in merged]
    return Either(tuple(merged)) if len(merged) <= _MOST_OPTIONS else UNKNOWN


def join_tensors(one: Tensor, other: Tensor) -> Tensor:
    """A tensor that is one of two."""
    length = min(len(one.sizes), len(other.sizes))
    sizes = tuple(
        one.sizes[i] if one.sizes[i] == other.sizes[i] else _join_sizes(one.sizes[i], other.sizes[i])
        for i in range(length)
    )
    return Tensor(
        sizes,
        one.closed and other.closed and len(one.sizes) == len(other.sizes),
        one.inputs | other.inputs,
        boolean=one.boolean and other.boolean,
        guessed=one.guessed and other.guessed,
    )


def _join_sizes(one: Size, other: Size) -> Size:
    return Extent.DYNAMIC if Extent.DYNAMIC in (one, other) and Extent.UNKNOWN not in (one, other) else Extent.UNKNOWN


def _join_sequences(one: Sequence, other: Sequence) -> Sequence:
    grown = one.grown_in_branch or other.grown_in_branch
    if len(one.items) == len(other.items) and one.rest is None and other.rest is None:
        items = tuple(join(a, b) for a, b in zip(one.items, other.items, strict=True))
        return Sequence(one.kind, items, None, one.home or other.home, one.place or other.place, grown)
    every = [*one.items, *other.items, *(each for each in (one.rest, other.rest) if each is not None)]
    rest = join_all(every)
    return Sequence(one.kind, (), rest, one.home or other.home, one.place or other.place, grown)


def element(value: Sequence | Mapping) -> Value:
    """What any one item of a container may be."""
    every = list(value.items.values() if isinstance(value, Mapping) else value.items)
    if value.rest is not None:
        every.append(value.rest)
    return join_all(every)


def join_all(values: Many[Value]) -> Value:
    """One of several; unknown if there are none."""
    return reduce(join, values) if values else UNKNOWN


def select(one: Value, other: Value) -> tuple[Value, str]:
    """What a name stands for when a tensor chose the way, and why the program cannot hold it (empty if it can).

    Sources: measured on Paddle 3.3.1 (dy2static builds one output of one type for both sides of a branch).
    """
    if one is other or one == other:
        return one, ""
    if one is UNBOUND or other is UNBOUND:
        return (other if one is UNBOUND else one), "undefined"
    none, some = (one, other) if _is(one, type(None)) else (other, one)
    if _is(none, type(None)):
        return some, "none" if isinstance(some, (Tensor, Dim, Sequence, Const)) else ""
    kinds = {type(each.value) for each in (one, other) if isinstance(each, Const)}
    if kinds == {int, float}:
        return Tensor((), True), "number"
    if kinds - {int, float, bool} and all(isinstance(each, Const) for each in (one, other)):
        return UNKNOWN, "python"
    if kinds and kinds <= {int, float, bool}:
        return Tensor((), True, inputs_of((one, other))), ""
    return join(one, other), ""


def _is(value: Value, kind: type) -> bool:
    return isinstance(value, Const) and isinstance(value.value, kind)


def register(value: Value) -> None:
    """A layer has taken in a layer, or a container of Paddle's that holds some: their parameters are its own."""
    if isinstance(value, (Layer, Instance)):
        value.registered = True
    elif isinstance(value, Tensor) and value.origin == "parameter":
        value.place = value.place or (id(value), "")
    elif isinstance(value, Sequence) and value.kind.startswith("paddle."):
        for each in (*value.items, *((value.rest,) if value.rest is not None else ())):
            register(each)
    elif isinstance(value, Either):
        for each in value.options:
            register(each)

"""What a name may stand for while a model is interpreted: values without numbers.

Two names for one tensor hold one object, so aliases show by identity. Objects that code can change keep their content
in ordinary attributes, which the interpreter writes through :class:`exporter.check.state.heap.Heap`.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from enum import Enum
from typing import TypeAlias

from exporter.check.source.project import ClassInfo, ParsedModule


class Extent(Enum):
    """A dimension without a number: it varies from call to call, or nothing is known of it.

    One that is `CARRIED` is another in each turn of a loop of the program; the trace has that of the first turn.
    """

    DYNAMIC = "dynamic"
    CARRIED = "carried"
    UNKNOWN = "unknown"


#: A dimension: its size, or what is known instead.
Size: TypeAlias = int | Extent


class Value:
    """Anything that an expression may give. The class itself stands for what is not known."""

    def parts(self) -> tuple[Value, ...]:
        """The values inside."""
        return ()

    @property
    def listed(self) -> tuple[Value, ...] | None:
        """All items of a list or another sequence, where each is known."""
        return None


UNKNOWN = Value()


@dataclass(unsafe_hash=True, repr=False)
class Const(Value):
    """A Python number, text, bool or None that is known."""

    value: object


@dataclass(eq=False, repr=False)
class Scalar(Value):
    """A Python number, text or bool of unknown content; `kind` is the name of its type."""

    kind: str


@dataclass(eq=False, repr=False)
class Tensor(Value):
    """A tensor.

    `sizes` are its first dimensions, all of them if `closed`. `inputs` are the names of the inputs of `forward` whose
    data it depends on. `origin` is `op`, `input`, `parameter`, `buffer` or `eager` (made outside the trace and
    registered nowhere); `name` and `made` (a module and node) tell more of it. `guessed`: only taken for a tensor, as
    a parameter of `forward` usually is one. `shaped`: it was computed from dimensions alone. `dtype` is empty where it
    is not known. `value_number` is the operator and what it was given, `viewed` whether a view of it was made.
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
    dtype: str = ""
    value_number: tuple[object, ...] = ()
    viewed: bool = False

    def size(self, axis: int) -> Size:
        """The size along an axis, which may count from the end."""
        if axis < 0:
            axis = axis + len(self.sizes) if self.closed else len(self.sizes)
        return self.sizes[axis] if 0 <= axis < len(self.sizes) else Extent.UNKNOWN


@dataclass(eq=False, repr=False)
class Shape(Value):
    """`tensor.shape`, whole: eagerly a `paddle.Size`, which a trace has a list for; or a `list` or `tuple` of it."""

    tensor: Tensor
    kind: str = "paddle.Size"


@dataclass(eq=False, repr=False)
class Dim(Value):
    """A dimension of a tensor, or a number computed from some. Where dynamic, the trace holds a scalar tensor."""

    size: Size
    inputs: frozenset[str] = frozenset()

    @property
    def dynamic(self) -> bool:
        """Whether it is known to vary from call to call."""
        return self.size is Extent.DYNAMIC


@dataclass(eq=False, repr=False)
class Array(Value):
    """Something of NumPy's; `scalar` where it is a single number of NumPy's own type."""

    scalar: bool = False


@dataclass(eq=False, repr=False, kw_only=True)
class Container(Value):
    """A sequence or a dict: values that are known one by one, and `rest` for all further ones.

    `home` says where it lives if it outlives the call (`self.cache`, `global CACHE`), and `fixed` that no code changes
    it there: an empty one may be filled by another name. `picked` are values of the rest, taken out by a known index.
    """

    home: str = ""
    place: tuple[int, str] | None = None
    fixed: bool = False
    picked: dict[object, Value] = field(default_factory=dict)

    @property
    def known(self) -> tuple[Value, ...]:
        """The values that are known one by one."""
        raise NotImplementedError

    @property
    def rest(self) -> Value | None:
        """What all further values may be; None where there are none."""

    @property
    def settled(self) -> bool:
        """Whether nothing but what is seen here can be in it: no earlier call could have changed it."""
        return self.rest is None and not self.home

    def parts(self) -> tuple[Value, ...]:
        return (*self.known, self.rest) if self.rest is not None else self.known


@dataclass(eq=False, repr=False)
class Sequence(Container):
    """A list, tuple, set, range, LayerList (`kind` is the qualified name of a class) and the like.

    `grown_in_branch`: an item was added under more tensor conditions and loops than the `made` that it was made under.
    """

    kind: str
    items: tuple[Value, ...] = ()
    rest: Value | None = None
    grown_in_branch: bool = False
    made: int = 0

    @property
    def known(self) -> tuple[Value, ...]:
        return self.items

    @property
    def listed(self) -> tuple[Value, ...] | None:
        return self.items if self.rest is None and (self.items or self.settled) else None

    @property
    def settled(self) -> bool:
        kept = self.fixed or self.kind == "tuple" or (bool(self.items) and self.kind.startswith("paddle."))
        return self.rest is None and (kept or not self.home)


@dataclass(eq=False, repr=False)
class Mapping(Container):
    """A dict or LayerDict by constant key, in the order of insertion.

    `factory` makes what is asked for and not there, in a `defaultdict`. `registers`: it is a LayerDict, and owns what
    is put into it.
    """

    kind = "dict"
    items: dict[object, Value] = field(default_factory=dict)
    rest: Value | None = None
    factory: Value | None = None
    registers: bool = False

    @property
    def known(self) -> tuple[Value, ...]:
        return tuple(self.items.values())


@dataclass(eq=False, repr=False)
class Instance(Value):
    """An object of a class of the user's.

    `complete`: it is surely a whole model, or built by one. `persistent`: it was there before the call of the model.
    `before` and `hooks` are called before and after it is. `summary`: it stands for several that were made alike.
    """

    cls: ClassInfo
    attributes: dict[str, Value] = field(default_factory=dict)
    complete: bool = False
    persistent: bool = False
    registered: bool = False
    hooks: tuple[Value, ...] = ()
    before: tuple[Value, ...] = ()
    summary: bool = False
    weightless: bool = False


@dataclass(eq=False, repr=False)
class Fields(Value):
    """What `collections.namedtuple` makes: the names of the fields, and defaults for the last of them."""

    names: tuple[str, ...]
    defaults: tuple[Value, ...]


@dataclass(eq=False, repr=False)
class Record(Value):
    """An object of a library's with attributes of its own: `types.SimpleNamespace`; `persistent` as for an instance."""

    attributes: dict[str, Value]
    persistent: bool = False


@dataclass(eq=False, repr=False)
class Attributes(Value):
    """The `__dict__` of an object: another way to its attributes."""

    owner: Instance


@dataclass(eq=False, repr=False)
class Layer(Value):
    """A layer of Paddle's own, by qualified name, with what it was made from.

    A `summary` stands for several like it; one that is `weightless` has no parameters.
    """

    name: str
    arguments: tuple[Value, ...] = ()
    keywords: dict[str, Value] = field(default_factory=dict)
    training: bool = False
    hooks: tuple[Value, ...] = ()
    registered: bool = False
    before: tuple[Value, ...] = ()
    summary: bool = False
    weightless: bool = False

    def given(self, position: int, name: str) -> Value:
        """What it was made with by that name, or at that position."""
        return self.keywords.get(name, self.arguments[position] if len(self.arguments) > position else UNKNOWN)


@dataclass(eq=False, repr=False)
class Function(Value):
    """A function, method (`owner` is bound) or lambda of the user's; `scopes` is where its free names live.

    `converted`: dy2static rewrites its control flow. It does so for functions that a converted function calls by name,
    not for generators, nor behind `not_to_static`; of lambdas made elsewhere the exporter sees to it. `inline`: it
    stands inside a converted function, and is so whoever calls it. `dispatched`: `functools.singledispatch` chooses by
    the type of the first argument which function is run. `manager`: `contextlib.contextmanager` made it one.
    """

    node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    module: ParsedModule
    scopes: tuple[dict[str, Value], ...] = ()
    owner: Value | None = None
    cls: ClassInfo | None = None
    converted: bool = True
    cached: bool = False
    dispatched: bool = False
    manager: bool = False
    inline: bool = False


@dataclass(eq=False, repr=False)
class Partial(Value):
    """`functools.partial` of something."""

    function: Value
    arguments: tuple[Value, ...]
    keywords: dict[str, Value]


@dataclass(eq=False, repr=False)
class Class(Value):
    """A class of the user's."""

    info: ClassInfo


@dataclass(unsafe_hash=True, repr=False)
class External(Value):
    """A thing of a library, by qualified name: `paddle.nn.functional.relu`, `numpy.random`, `builtins.max`."""

    name: str


@dataclass(eq=False, repr=False)
class Method(Value):
    """A method of a value that is not the user's: `Tensor.tolist`, `list.append`."""

    owner: Value
    name: str


@dataclass(eq=False, repr=False)
class Super(Value):
    """`super()` inside a method of `cls`."""

    instance: Value
    cls: ClassInfo


@dataclass(eq=False, repr=False)
class Union(Value):
    """One of several, which is not known."""

    options: tuple[Value, ...]

    def parts(self) -> tuple[Value, ...]:
        return self.options


@dataclass(eq=False, repr=False)
class Broken(Value):
    """A name that a tensor condition has left in a state which no program can hold; reading it is the fault.

    `reason` is `undefined`, `none` or `number`; `node` is the assignment at fault; `value` what analysis
    goes on with; `other` the assignment on the other side of the branch. `certain` as for a site: of the branch.
    """

    reason: str
    name: str
    module: ParsedModule
    node: ast.AST
    value: Value
    other: ast.AST | None = None
    certain: bool = True

    def parts(self) -> tuple[Value, ...]:
        return (self.value,)


#: Begins the value number of a layer's own parameter, which the layer follows.
WEIGHT = "weight of"
UNNAMED = "*"  # among the attributes of an instance: it has further ones, whose names are not known
#: Names that hold a value only on some ways through the code.
UNBOUND = Const("<unbound>")


def options(value: Value) -> tuple[Value, ...]:
    """What a value may be: itself, or each of several."""
    if isinstance(value, Broken):
        value = value.value
    return value.options if isinstance(value, Union) else (value,)


def only_tensor(value: Value) -> bool:
    """Whether it is a tensor in the trace for certain: one is known, or it is a dimension that varies."""
    return (isinstance(value, Tensor) and not value.guessed) or (isinstance(value, Dim) and value.dynamic)


def kind_of(value: Value) -> str:
    """The name under which methods of a value are known to rules: `Tensor`, `Layer`, `list`, `dict`."""
    if isinstance(value, Tensor):
        return "Tensor"
    if isinstance(value, (Instance, Layer)):
        return "Layer"
    if isinstance(value, Sequence):
        return value.kind
    if isinstance(value, Mapping):
        return "dict"
    return type(value).__name__


def keys_of(owner: Mapping) -> Sequence:
    """The keys of a dict, as walking through it gives them."""
    keys = tuple(Const(key) for key in owner.items)
    return Sequence("list", keys, Scalar("str") if owner.rest else None, home=owner.home, fixed=owner.fixed)


#: What every layer has from `paddle.nn.Layer`.
LAYER_METHODS = frozenset(
    "register_buffer create_parameter create_tensor create_variable add_sublayer add_parameter train eval sublayers "
    "named_sublayers children named_children parameters named_parameters buffers named_buffers apply state_dict "
    "set_state_dict load_dict to full_name extra_repr register_forward_pre_hook register_forward_post_hook float half "
    "clear_gradients set_dict bfloat16 astype __setattr__".split()
)
#: What taking a hook away is called.
REMOVE_HOOK = "paddle hook.remove"

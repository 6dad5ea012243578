"""What calls of Python's builtins give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from exporter.check.domain.call import Call
from exporter.check.domain.contents import inputs_of, is_pair
from exporter.check.domain.join import join
from exporter.check.domain.values import (
    UNKNOWN,
    UNNAMED,
    Attributes,
    Class,
    Const,
    Container,
    Dim,
    Extent,
    External,
    Instance,
    Mapping,
    Scalar,
    Sequence,
    Shape,
    Super,
    Tensor,
    Value,
    kind_of,
    only_tensor,
)
from exporter.check.interpret.attributes import set_named
from exporter.check.interpret.events import call_handed_over, call_unseen, emit_call, read_content
from exporter.check.interpret.items import iterate
from exporter.check.interpret.truth import ask
from exporter.check.state.run import Run

_TYPES = {"int": int, "float": float, "bool": bool, "str": str}
_CONTAINERS = frozenset({"builtins.list", "builtins.tuple", "builtins.dict", "builtins.set"})
_PLAIN_BASES = ("paddle.", "builtins.", "abc.", "typing.")  # of libraries, that give a layer no further attributes
_SHORT_RANGE = 8  # numbers that are gone through one by one


def compare_by_key(run: Run, call: Call) -> None:
    """Compare what a `key` function returns, in `sorted`, `max` and `min`."""
    if "key" in call.keywords and call.arguments and call.last in ("sorted", "max", "min"):
        several = len(call.arguments) > 1
        item = join(*call.arguments[:2]) if several else iterate(run, call.first, call.node, call.last)
        compared = call_unseen(run, call.keywords["key"], (item,), call.node)
        emit_call(run, f"builtins.{call.last}", Call(call.node, (Sequence("list", (compared, compared)),)))


def _hasattr(run: Run, call: Call) -> Value:
    if len(call.arguments) == 2 and isinstance(call.first, Instance):
        with run.effects.reaching():
            run.effects.read((id(call.first.attributes), str(getattr(call.arguments[1], "value", ""))))
    return Scalar("bool")


def _text(run: Run, call: Call) -> Value:
    known = call.last == "str" and len(call.arguments) == 1 and isinstance(call.first, Const)
    return Const(str(call.first.value)) if known and isinstance(call.first, Const) else Scalar("str")


def _isinstance(run: Run, call: Call) -> Value:
    value, kinds = call.first, call.given(1)
    every = kinds.items if isinstance(kinds, Sequence) else (kinds,)
    names = {kind.name for kind in every if isinstance(kind, External)}
    containers = bool(names) and names <= _CONTAINERS
    if isinstance(value, Container) and containers and (kind := f"builtins.{kind_of(value)}") in _CONTAINERS:
        return Const(kind in names)
    foreign = bool(names) and len(names) == len(every) and all(map(_is_no_tensor, names))
    if isinstance(value, Tensor) and not value.guessed and value.value_number[:1] != ("number",) and foreign:
        return Const(False)
    plain = names and names <= {"builtins.int", "builtins.float", "builtins.str", *_CONTAINERS}
    if isinstance(value, Const) and plain:
        return Const(f"builtins.{type(value.value).__name__}" in names)
    return Scalar("bool")


def _is_no_tensor(kind: str) -> bool:
    """Return whether a tensor is no instance of a type, by the type's qualified name."""
    return kind.startswith(("builtins.", "collections.", "typing.", "numpy.")) and kind != "builtins.object"


def _number(run: Run, call: Call) -> Value:
    name, value = call.last, call.first
    if isinstance(value, Instance) and value.cls.method(f"__{name}__") is not None:
        return call_unseen(run, run.attribute(value, f"__{name}__", call.node), (), call.node)
    if isinstance(value, Const) and isinstance(value.value, (int, float, str)) and name in _TYPES:
        try:
            return Const(_TYPES[name](value.value))
        except (ValueError, OverflowError):
            return UNKNOWN
    if isinstance(value, Tensor) and run.forward:
        number = ("number", value, name) if name in _TYPES else ()
        return Tensor((), True, value.inputs, boolean=name == "bool", value_number=number)
    return value if isinstance(value, Dim) else Scalar(name)


def _extreme(run: Run, call: Call) -> Value:
    compare_by_key(run, call)
    arguments = call.arguments
    if len(arguments) < 2:
        return iterate(run, call.first, call.node, call.last)
    if all(isinstance(value, Const) and isinstance(value.value, (int, float)) for value in arguments):
        values = [value.value for value in arguments if isinstance(value, Const)]
        return Const(max(values) if call.last == "max" else min(values))  # type: ignore[type-var]
    if any(isinstance(value, (Tensor, Dim)) for value in arguments):
        return Tensor((), True, inputs_of(arguments)) if any(map(only_tensor, arguments)) else Dim(Extent.UNKNOWN)
    return Scalar("number")


def _total(run: Run, call: Call) -> Value:
    walked = isinstance(call.first, (Sequence, Tensor))
    inner = iterate(run, call.first, call.node, call.last) if walked else UNKNOWN
    if call.last != "sum":
        return Scalar("number")
    if isinstance(inner, Tensor):
        return Tensor(inner.sizes, inner.closed, inputs_of((call.first,)))
    return Scalar("number") if isinstance(inner, (Const, Scalar)) else UNKNOWN


def make_sequence(run: Run, call: Call) -> Value:
    """Return the value of a call of `list`, `tuple`, `set`, `frozenset` or `sorted`."""
    compare_by_key(run, call)
    name, first = call.last, call.first
    if name == "sorted" and not call.keywords and isinstance(first, Sequence) and (known := _in_order(first)):
        read_content(run, first)
        return Sequence("list", known)
    kind = name if name in ("list", "tuple", "set") else "set" if name == "frozenset" else "list"
    if not call.arguments:
        return Sequence(kind, made=run.now.branches + run.now.loops)
    if isinstance(first, Shape) and name != "sorted":
        return replace(first, kind=kind)
    if first.listed is not None and name in ("list", "tuple"):
        return Sequence(kind, first.listed, made=run.now.branches + run.now.loops)
    return Sequence(kind, (), iterate(run, first, call.node, name), made=run.now.branches + run.now.loops)


def _in_order(given: Sequence) -> tuple[Value, ...]:
    """The items of a sequence of texts, or of pairs that begin with one, sorted; empty if they are anything else."""
    texts = [item.parts()[0] if is_pair(item) else item for item in given.items]
    known = [text.value for text in texts if isinstance(text, Const) and isinstance(text.value, str)]
    if given.listed is None or len(known) != len(texts):
        return ()
    return tuple(item for _, item in sorted(zip(known, given.items, strict=True), key=lambda pair: pair[0]))


def _len(run: Run, call: Call) -> Value:
    value = call.first
    if isinstance(value, Tensor):
        size = value.size(0)
        return Const(size) if isinstance(size, int) else Dim(Extent.UNKNOWN if value.guessed else size)
    if isinstance(value, Shape):
        return Const(len(value.tensor.sizes)) if value.tensor.closed else Scalar("int")
    return Const(len(value.known)) if isinstance(value, Container) and value.settled else Scalar("int")


def _range(run: Run, call: Call) -> Value:
    item: Value = Scalar("int")
    bounds = tuple(value for value in call.arguments if only_tensor(value))
    if bounds:
        item = Tensor((), True)
        run.consume(*(value for value in bounds if isinstance(value, Tensor)))
    numbers = [value.value for value in call.arguments if isinstance(value, Const) and isinstance(value.value, int)]
    if numbers and len(numbers) == len(call.arguments) and (len(numbers) < 3 or numbers[2] != 0):
        count = range(*numbers[:3])
        if not count[_SHORT_RANGE:]:
            return Sequence("range", tuple(Const(number) for number in count))
    return Sequence("range", bounds, item)


def _enumerate(run: Run, call: Call) -> Value:
    source, node = call.first, call.node
    item = iterate(run, source, node, "enumerate in for" if node is run.usage.walked else "enumerate")
    if isinstance(source, Sequence) and source.items and source.settled and len(call.every) == 1:
        pairs = tuple(Sequence("tuple", (Const(at), value)) for at, value in enumerate(source.items))
        return Sequence("generator", pairs, home=source.home)
    home = source.home if isinstance(source, Sequence) else ""
    return Sequence("generator", (), Sequence("tuple", (Scalar("int"), item), home=home))


def _zip(run: Run, call: Call) -> Value:
    items = tuple(iterate(run, value, call.node, "zip") for value in call.arguments)
    known = [value for value in call.arguments if isinstance(value, Sequence) and value.settled]
    if known and len(known) == len(call.arguments):
        rows = zip(*(value.items for value in known), strict=False)
        return Sequence("generator", tuple(Sequence("tuple", row) for row in rows))
    return Sequence("generator", (), Sequence("tuple", items))


def _map(run: Run, call: Call) -> Value:
    items = tuple(iterate(run, value, call.node, "map") for value in call.arguments[1:])
    return Sequence("generator", (), call_handed_over(run, call.first, Call(call.node, items)))


def _filter(run: Run, call: Call) -> Value:
    item = iterate(run, call.given(1), call.node, "filter")
    ask(run, call_unseen(run, call.first, (item,), call.node), "filter", call.node)
    return Sequence("generator", (), item)


def _super(run: Run, call: Call) -> Value:
    frame, arguments = run.frame, call.arguments
    receiver = next(iter(frame.names.values()), UNKNOWN)
    owner = arguments[1] if len(arguments) == 2 else receiver
    if not arguments and run.now.converted and isinstance(receiver, Instance) and frame.cls is not receiver.cls:
        emit_call(run, "inherited super", Call(call.node), receiver)
    cls = call.first.info if isinstance(call.first, Class) else frame.cls
    return Super(owner, cls) if cls is not None else UNKNOWN


def _getattr(run: Run, call: Call) -> Value:
    owner, name = call.first, call.given(1)
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return UNKNOWN
    if len(call.arguments) == 2:
        return run.attribute(owner, name.value, call.node)
    if isinstance(owner, Tensor) and name.value not in ("shape", "dtype", "ndim"):
        return UNKNOWN
    found = run.attribute(owner, name.value, call.node)
    return call.arguments[2] if type(found) is Value and _lacks(owner, name.value) else found


def _lacks(owner: Value, name: str) -> bool:
    """Return whether an object surely has no such attribute: its classes were read, and whatever sets one of it."""
    if not isinstance(owner, Instance) or not owner.complete or {name, UNNAMED} & owner.attributes.keys():
        return False
    return all(base == "object" or base.startswith(_PLAIN_BASES) for base in owner.cls.family if isinstance(base, str))


def _setattr(run: Run, call: Call) -> Value:
    if len(call.arguments) == 3:
        set_named(run, *call.arguments, call.node)
    return Const(None)


def make_dict(run: Run, call: Call) -> Mapping:
    """Return the value of a call of `dict` with a dict, with pairs or with keywords."""
    made, first = Mapping({name: value for name, value in call.keywords.items()}), call.first
    if isinstance(first, Mapping):
        made.items, made.rest = {**first.items, **made.items}, first.rest
    elif call.arguments and first.listed is not None and all(map(is_pair, first.listed)):
        pairs = [pair.parts() for pair in first.listed]
        made.items = {key.value: value for key, value in pairs if isinstance(key, Const)} | made.items
    elif call.arguments:
        run.consume(*call.arguments)
        made.rest = UNKNOWN
    return made


_MODELS = {
    _number: "int float bool abs round",
    _extreme: "max min",
    _total: "sum any all",
    make_sequence: "list tuple set frozenset sorted reversed",
    _text: "print str repr format",
    _isinstance: "isinstance",
    _hasattr: "hasattr",
    _len: "len",
    _range: "range",
    _enumerate: "enumerate",
    _zip: "zip",
    _map: "map",
    _filter: "filter",
    _super: "super",
    _getattr: "getattr",
    _setattr: "setattr object.__setattr__",
    make_dict: "dict",
}
FUNCTIONS: dict[str, Callable[[Run, Call], Value]] = {
    **{f"builtins.{name}": model for model, names in _MODELS.items() for name in names.split()},
    **dict.fromkeys(("builtins.callable", "builtins.issubclass"), lambda run, call: Scalar("bool")),
    "builtins.dict.fromkeys": lambda run, call: Mapping(rest=call.given(1)),
    "builtins.iter": lambda run, call: call.first,
    "builtins.next": lambda run, call: iterate(run, call.first, call.node, "next"),
    "builtins.type": lambda run, call: Class(call.first.cls) if isinstance(call.first, Instance) else UNKNOWN,
    "builtins.vars": lambda run, call: Attributes(call.first) if isinstance(call.first, Instance) else UNKNOWN,
}

"""What calls of Python's builtins give."""

from __future__ import annotations

import ast

from exporter.check.domain.contents import inputs_of, is_pair
from exporter.check.domain.join import join
from exporter.check.domain.values import (
    UNKNOWN,
    Attributes,
    Class,
    Const,
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
    only_tensor,
)
from exporter.check.interpret.attributes import set_attribute
from exporter.check.interpret.events import call_unseen, emit_call, read_content
from exporter.check.interpret.items import iterate
from exporter.check.interpret.truth import ask
from exporter.check.state.run import Run

_TYPES = {"int": int, "float": float, "bool": bool, "str": str}


def call_builtin(run: Run, name: str, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    """What a builtin gives."""
    special = _BUILTINS.get(name)
    if special is not None:
        return special(run, arguments, keywords, node)
    first = arguments[0] if arguments else UNKNOWN
    if name in ("int", "float", "bool", "abs", "round"):
        return _number(run, name, first, node)
    if name in ("max", "min"):
        compared_by_key(run, name, arguments, keywords, node)
        return _extreme(run, name, arguments, node)
    if name in ("list", "tuple", "set", "frozenset", "sorted", "reversed"):
        compared_by_key(run, name, arguments, keywords, node)
        if name == "sorted" and not keywords and isinstance(first, Sequence) and (known := _in_order(first)):
            read_content(run, first)
            return Sequence("list", known)
        return _collected(run, name, first, node, bool(arguments))
    if name in ("sum", "any", "all"):
        inner = iterate(run, first, node, name) if isinstance(first, (Sequence, Tensor)) else UNKNOWN
        if name == "sum" and isinstance(inner, Tensor):
            return Tensor(inner.sizes, inner.closed, inputs_of((first,)))
        return Scalar("number") if name != "sum" or isinstance(inner, (Const, Scalar)) else UNKNOWN
    if name in ("print", "str", "repr", "format", "isinstance", "hasattr", "callable", "issubclass"):
        return _judged(run, name, arguments)
    run.consume(*arguments, *keywords.values())
    return UNKNOWN


def compared_by_key(
    run: Run, name: str, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
) -> None:
    """What a `key` function gives is what is compared."""
    if "key" in keywords and arguments and name in ("sorted", "max", "min"):
        item = iterate(run, arguments[0], node, name) if len(arguments) == 1 else join(arguments[0], arguments[1])
        compared = call_unseen(run, keywords["key"], (item,), node)
        emit_call(run, node, f"builtins.{name}", None, (Sequence("list", (compared, compared)),), {})


def _judged(run: Run, name: str, arguments: tuple[Value, ...]) -> Value:
    if name == "hasattr" and len(arguments) == 2 and isinstance(arguments[0], Instance):
        with run.effects.reaching():
            run.effects.read((id(arguments[0].attributes), str(getattr(arguments[1], "value", ""))))
    if name == "isinstance" and len(arguments) == 2:
        return _isinstance(arguments[0], arguments[1])
    if name == "str" and len(arguments) == 1 and isinstance(arguments[0], Const):
        return Const(str(arguments[0].value))
    return Scalar("bool" if name in ("isinstance", "hasattr", "callable", "issubclass") else "str")


def _isinstance(value: Value, kinds: Value) -> Value:
    names = {
        each.name for each in (kinds.items if isinstance(kinds, Sequence) else (kinds,)) if isinstance(each, External)
    }
    containers = {"builtins.list", "builtins.tuple", "builtins.dict", "builtins.set"}
    if isinstance(value, Sequence) and value.kind in ("list", "tuple", "set") and names and names <= containers:
        return Const(f"builtins.{value.kind}" in names)
    if isinstance(value, Mapping) and names and names <= containers:
        return Const("builtins.dict" in names)
    if isinstance(value, Tensor) and not value.guessed and names and names <= containers:
        return Const(False)
    if isinstance(value, Const) and names and names <= {"builtins.int", "builtins.float", "builtins.str", *containers}:
        return Const(f"builtins.{type(value.value).__name__}" in names)
    return Scalar("bool")


def _number(run: Run, name: str, value: Value, node: ast.AST) -> Value:
    if isinstance(value, Instance) and value.cls.method(f"__{name}__") is not None:
        return call_unseen(run, run.attribute(value, f"__{name}__", node), (), node)
    if isinstance(value, Const) and isinstance(value.value, (int, float, str)) and name in _TYPES:
        try:
            return Const(_TYPES[name](value.value))
        except (ValueError, OverflowError):
            return UNKNOWN
    if isinstance(value, Tensor) and run.forward:
        value_number = ("number", value) if name in _TYPES else ()
        return Tensor((), True, value.inputs, boolean=name == "bool", value_number=value_number)
    return value if isinstance(value, Dim) else Scalar(name)


def _extreme(run: Run, name: str, arguments: tuple[Value, ...], node: ast.AST) -> Value:
    if len(arguments) == 1:
        return iterate(run, arguments[0], node, name)
    if all(isinstance(each, Const) and isinstance(each.value, (int, float)) for each in arguments):
        values = [each.value for each in arguments if isinstance(each, Const)]
        return Const(max(values) if name == "max" else min(values))  # type: ignore[type-var]
    if any(isinstance(each, (Tensor, Dim)) for each in arguments):
        return Tensor((), True, inputs_of(arguments)) if any(map(only_tensor, arguments)) else Dim(Extent.UNKNOWN)
    return Scalar("number")


def _collected(run: Run, name: str, first: Value, node: ast.AST, given: bool) -> Value:
    kind = name if name in ("list", "tuple", "set") else "list"
    if not given:
        return Sequence(kind)
    if isinstance(first, Shape) and name != "sorted":
        return first
    if isinstance(first, Sequence) and first.rest is None and name in ("list", "tuple"):
        return Sequence(kind, first.items)
    return Sequence(kind, (), iterate(run, first, node, name))


def _in_order(given: Sequence) -> tuple[Value, ...]:
    """The items of a sequence of texts, or of pairs that begin with one, sorted; empty if they are anything else."""
    texts = [each.items[0] if isinstance(each, Sequence) and is_pair(each) else each for each in given.items]
    known = [each.value for each in texts if isinstance(each, Const) and isinstance(each.value, str)]
    if given.rest is not None or len(known) != len(texts):
        return ()
    return tuple(item for _, item in sorted(zip(known, given.items, strict=True), key=lambda pair: pair[0]))


def _len(run: Run, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    value = arguments[0] if arguments else UNKNOWN
    if isinstance(value, Tensor):
        size = value.size(0)
        return Const(size) if isinstance(size, int) else Dim(Extent.UNKNOWN if value.guessed else size)
    if isinstance(value, Shape):
        return Const(len(value.tensor.sizes)) if value.tensor.closed else Scalar("int")
    if isinstance(value, Sequence) and value.settled:
        return Const(len(value.items))
    if isinstance(value, Mapping) and value.rest is None and not value.home:
        return Const(len(value.items))
    return Scalar("int")


def _range(run: Run, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    item: Value = Scalar("int")
    bounds = tuple(each for each in arguments if only_tensor(each))
    if bounds:
        item = Tensor((), True)
        run.consume(*(each for each in bounds if isinstance(each, Tensor)))
    if all(isinstance(each, Const) and isinstance(each.value, int) for each in arguments) and arguments:
        numbers = [each.value for each in arguments if isinstance(each, Const) and isinstance(each.value, int)]
        if len(arguments) < 3 or numbers[2] != 0:
            count = range(*numbers[:3])
            if not count:
                return Sequence("range")
            if len(count) <= 8:
                return Sequence("range", tuple(Const(each) for each in count))
    return Sequence("range", bounds, item)


def _enumerate(run: Run, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    source = arguments[0] if arguments else UNKNOWN
    item = iterate(run, source, node, "enumerate in for" if node is run.usage.walked else "enumerate")
    if isinstance(source, Sequence) and source.items and source.settled and len(arguments) + len(keywords) == 1:
        pairs = tuple(Sequence("tuple", (Const(at), each)) for at, each in enumerate(source.items))
        return Sequence("generator", pairs, home=source.home)
    return Sequence("generator", (), Sequence("tuple", (Scalar("int"), item), home=_home(source)))


def _zip(run: Run, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    items = tuple(iterate(run, each, node, "zip") for each in arguments)
    known = [each for each in arguments if isinstance(each, Sequence) and each.settled]
    if known and len(known) == len(arguments):
        rows = zip(*(each.items for each in known), strict=False)
        return Sequence("generator", tuple(Sequence("tuple", row) for row in rows))
    return Sequence("generator", (), Sequence("tuple", items))


def _home(value: Value) -> str:
    return value.home if isinstance(value, Sequence) else ""


def _map(run: Run, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    items = tuple(iterate(run, each, node, "map") for each in arguments[1:])
    return Sequence("generator", (), call_unseen(run, arguments[0], items, node) if arguments else UNKNOWN)


def _filter(run: Run, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    if len(arguments) != 2:
        return UNKNOWN
    item = iterate(run, arguments[1], node, "filter")
    ask(run, call_unseen(run, arguments[0], (item,), node), "filter", node)
    return Sequence("generator", (), item)


def _super(run: Run, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    frame = run.frame
    first = next(iter(frame.names.values()), UNKNOWN)
    owner = arguments[1] if len(arguments) == 2 else first
    if not arguments and run.now.converted and isinstance(first, Instance) and frame.cls is not first.cls:
        emit_call(run, node, "inherited super", first, (), {})
    cls = arguments[0].info if arguments and isinstance(arguments[0], Class) else frame.cls
    return Super(owner, cls) if cls is not None else UNKNOWN


def _getattr(run: Run, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    if len(arguments) >= 2 and isinstance(arguments[1], Const) and isinstance(arguments[1].value, str):
        owner = arguments[0]
        if len(arguments) > 2 and isinstance(owner, Tensor) and arguments[1].value not in ("shape", "dtype", "ndim"):
            return UNKNOWN
        found = run.attribute(owner, arguments[1].value, node)
        if len(arguments) > 2 and type(found) is Value and isinstance(owner, Instance) and owner.complete:
            return arguments[2]  # all that its constructor sets is known
        return join(found, arguments[2]) if len(arguments) > 2 and type(found) is Value else found
    return UNKNOWN


def _setattr(run: Run, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    if len(arguments) == 3 and isinstance(arguments[1], Const):
        set_attribute(run, arguments[0], str(arguments[1].value), arguments[2], node)
    return Const(None)


def _vars(run: Run, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    owner = arguments[0] if arguments else UNKNOWN
    return Attributes(owner) if isinstance(owner, Instance) else UNKNOWN


def _dict(run: Run, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    made = Mapping({key: each for key, each in keywords.items()})
    if arguments and isinstance(arguments[0], Mapping):
        made.items = {**arguments[0].items, **made.items}
        made.rest = arguments[0].rest
    elif arguments:
        pairs = arguments[0]
        if isinstance(pairs, Sequence) and pairs.rest is None and all(is_pair(each) for each in pairs.items):
            named = [each.items for each in pairs.items if isinstance(each, Sequence)]
            made.items = {key.value: value for key, value in named if isinstance(key, Const)} | made.items
        else:
            run.consume(*arguments)
            made.rest = UNKNOWN
    return made


def _type(run: Run, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    value = arguments[0] if arguments else UNKNOWN
    return Class(value.cls) if isinstance(value, Instance) else UNKNOWN


def _next(run: Run, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    return iterate(run, arguments[0], node, "next") if arguments else UNKNOWN


def _iter(run: Run, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    return arguments[0] if arguments else UNKNOWN


_BUILTINS = {
    "len": _len,
    "range": _range,
    "enumerate": _enumerate,
    "zip": _zip,
    "map": _map,
    "filter": _filter,
    "super": _super,
    "getattr": _getattr,
    "setattr": _setattr,
    "object.__setattr__": _setattr,
    "vars": _vars,
    "dict": _dict,
    "type": _type,
    "next": _next,
    "iter": _iter,
}

"""What calls of builtins, NumPy, the standard library and Paddle give, on paper."""

from __future__ import annotations

import ast
from functools import lru_cache
from typing import TYPE_CHECKING

from exporter.check.paper.paddle_api import CONTAINERS, apply_operator, is_layer_class, is_plain
from exporter.check.paper.syntax import inside
from exporter.check.paper.values import (
    UNKNOWN,
    Array,
    Class,
    Const,
    Dim,
    Extent,
    External,
    Instance,
    Layer,
    Mapping,
    Partial,
    Scalar,
    Sequence,
    Shape,
    Super,
    Tensor,
    Value,
    element,
    inputs_of,
    join,
    only_tensor,
    register,
)

if TYPE_CHECKING:
    from exporter.check.paper.calls import Calls

LAYER_METHODS = frozenset(
    "register_buffer create_parameter create_tensor create_variable add_sublayer add_parameter train eval sublayers "
    "named_sublayers children named_children parameters named_parameters buffers named_buffers apply state_dict "
    "set_state_dict load_dict to full_name extra_repr register_forward_pre_hook register_forward_post_hook float half "
    "clear_gradients set_dict bfloat16 astype".split()
)
_TYPES = {"int": int, "float": float, "bool": bool, "str": str}


@lru_cache(maxsize=4096)
def is_generator(node: ast.AST | None) -> bool:
    """Whether a function yields, nested functions left out."""
    if not isinstance(node, ast.FunctionDef):
        return False
    nested = (ast.FunctionDef, ast.Lambda, ast.ClassDef)
    return any(isinstance(each, (ast.Yield, ast.YieldFrom)) for each in inside(node, nested))


def call_external(
    run: Calls, name: str, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
) -> Value:
    """What a function or class of a library gives."""
    top, _, last = name.partition(".")
    if name == "copy.deepcopy" and arguments and isinstance(arguments[0], (Layer, Instance)):
        run.emit_call(node, "new layer", None, arguments, keywords)
    if top == "builtins":
        return _builtin(run, last, arguments, keywords, node)
    if top == "paddle":
        return _paddle(run, name, arguments, keywords, node)
    if top == "numpy" and name not in _STAND_INS:
        run.consumed(arguments, keywords)
        return _numpy(last, arguments)
    if top == "math":
        tensors = any(only_tensor(each) for each in arguments)
        return Dim(Extent.DYNAMIC, inputs_of(arguments)) if tensors else Scalar("number")
    if top == "itertools":
        return Sequence("generator", (), _element_of_all(run, arguments, node))
    return _tool(run, name, arguments, keywords, node)


def _tool(run: Calls, name: str, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    """What functools, collections and copy give."""
    if name == "functools.partial" and arguments:
        return Partial(arguments[0], arguments[1:], keywords)
    if name == "functools.reduce" and len(arguments) > 1:
        item = run.iterate(arguments[1], node, "reduce")
        return run.call_unseen(arguments[0], (item, item), node)
    if name in _STAND_INS:
        return External(_STAND_INS[name])
    if name == "collections.namedtuple.made":
        return Sequence("tuple", (*arguments, *keywords.values()))
    if name == "collections.OrderedDict":
        return _builtin(run, "dict", arguments, keywords, node)
    if name in ("copy.copy", "copy.deepcopy") and arguments:
        return _copied(arguments[0])
    run.consumed(arguments, keywords)
    return UNKNOWN


#: What a call of these gives is something to be called.
_STAND_INS = {
    "collections.namedtuple": "collections.namedtuple.made",
    "functools.wraps": "functools.update_wrapper",
    "numpy.random.default_rng": "numpy.random.generator",
    "numpy.random.RandomState": "numpy.random.generator",
    "random.Random": "random.generator",
    "random.SystemRandom": "random.generator",
}


_ARRAY_MAKERS = frozenset(
    "array asarray zeros ones full empty eye identity arange linspace logspace tri tril triu diag load fromfile "
    "concatenate stack hstack vstack meshgrid tile repeat zeros_like ones_like broadcast_to random rand randn uniform "
    "normal permutation".split()
)


def _numpy(name: str, arguments: tuple[Value, ...]) -> Array:
    """An array, or a single number where nothing makes an array of it."""
    single = name.rpartition(".")[2] not in _ARRAY_MAKERS and not any(
        isinstance(each, Array) and not each.scalar for each in arguments
    )
    lone = name == "array" and bool(arguments) and isinstance(arguments[0], (Const, Scalar))
    sized = name.startswith("random.") and len(arguments) < 3  # one draw, unless a size is given
    return Array(scalar=single or lone or sized)


def _element_of_all(run: Calls, arguments: tuple[Value, ...], node: ast.AST) -> Value:
    """What walking through several things gives, taken together."""
    found: Value = UNKNOWN
    for number, each in enumerate(arguments):
        one = run.iterate(each, node, "itertools") if isinstance(each, (Sequence, Tensor, Shape)) else UNKNOWN
        found = one if number == 0 else join(found, one)
    return found


def _copied(value: Value) -> Value:
    if isinstance(value, Sequence):
        return Sequence(value.kind, value.items, value.rest)
    return value


def _paddle(run: Calls, name: str, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    last = name.rpartition(".")[2]
    if name in CONTAINERS:
        return _registered(_container(run, name, arguments, node))
    if is_layer_class(name):
        return Layer(name, arguments, keywords)
    first = arguments[0] if arguments else UNKNOWN
    if last in ("spectral_norm", "weight_norm", "remove_weight_norm"):
        return first
    if last == "shape" and isinstance(first, Tensor):
        return Tensor((len(first.sizes) if first.closed else Extent.UNKNOWN,), True, first.inputs)
    if is_plain(name):
        return UNKNOWN
    if last == "assign":
        _written(run, arguments[1:], node)
    for each in (*arguments, *keywords.values()):
        if isinstance(each, (Sequence, Mapping)):
            run.capture(element(each), node, "container")
    value = apply_operator(last, arguments, keywords)
    if last.endswith("_") and not last.endswith("__") and isinstance(first, Tensor):
        run.tensor_written(first, node)
        return first
    return run.made_here(value, node) if isinstance(value, Tensor) else value


def _written(run: Calls, targets: tuple[Value, ...], node: ast.AST) -> None:
    for each in targets:
        if isinstance(each, Tensor):
            run.tensor_written(each, node)


def _registered(container: Value) -> Value:
    """A container of layers; whatever it holds is a sublayer of it."""
    if isinstance(container, (Sequence, Mapping)):
        every = container.items.values() if isinstance(container, Mapping) else container.items
        for each in (*every, *((container.rest,) if container.rest is not None else ())):
            register(each)
    return container


def _container(run: Calls, name: str, arguments: tuple[Value, ...], node: ast.AST) -> Value:
    kind = "paddle.nn.LayerList" if name.endswith("ParameterList") else name
    if not arguments:
        return Mapping() if kind.endswith("LayerDict") else Sequence(kind)
    first = arguments[0]
    if kind.endswith("LayerDict"):
        return Mapping(dict(first.items), first.rest) if isinstance(first, Mapping) else Mapping({}, UNKNOWN)
    if len(arguments) == 1 and isinstance(first, Sequence) and first.kind in ("list", "tuple", "generator"):
        return Sequence(kind, first.items, first.rest)
    if kind.endswith("Sequential"):
        layers = [each.items[1] if _is_pair(each) else each for each in arguments]  # type: ignore[attr-defined]
        return Sequence(kind, tuple(layers))
    return Sequence(kind, (), run.iterate(first, node, "list"))


def _is_pair(value: Value) -> bool:
    return isinstance(value, Sequence) and value.kind == "tuple" and len(value.items) == 2


def _builtin(run: Calls, name: str, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    special = _BUILTINS.get(name)
    if special is not None:
        return special(run, arguments, keywords, node)
    first = arguments[0] if arguments else UNKNOWN
    if name in ("int", "float", "bool", "abs", "round"):
        return _number(run, name, first)
    if name in ("max", "min"):
        return _extreme(run, name, arguments, node)
    if name in ("list", "tuple", "set", "frozenset", "sorted", "reversed"):
        return _collected(run, name, first, node, bool(arguments))
    if name in ("sum", "any", "all"):
        inner = run.iterate(first, node, name) if isinstance(first, (Sequence, Tensor)) else UNKNOWN
        if name == "sum" and isinstance(inner, Tensor):
            return Tensor(inner.sizes, inner.closed, inputs_of((first,)))
        return Scalar("number") if name != "sum" or isinstance(inner, (Const, Scalar)) else UNKNOWN
    if name in ("print", "str", "repr", "format", "isinstance", "hasattr", "callable", "issubclass"):
        return _judged(name, arguments)
    run.consumed(arguments, keywords)
    return UNKNOWN


def _judged(name: str, arguments: tuple[Value, ...]) -> Value:
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


def _number(run: Calls, name: str, value: Value) -> Value:
    if isinstance(value, Const) and isinstance(value.value, (int, float, str)) and name in _TYPES:
        try:
            return Const(_TYPES[name](value.value))
        except (ValueError, OverflowError):
            return UNKNOWN
    if isinstance(value, Tensor) and run.forward:
        return Tensor((), True, value.inputs, boolean=name == "bool")
    return value if isinstance(value, Dim) else Scalar(name)


def _extreme(run: Calls, name: str, arguments: tuple[Value, ...], node: ast.AST) -> Value:
    if len(arguments) == 1:
        return run.iterate(arguments[0], node, name)
    if all(isinstance(each, Const) and isinstance(each.value, (int, float)) for each in arguments):
        values = [each.value for each in arguments if isinstance(each, Const)]
        return Const(max(values) if name == "max" else min(values))  # type: ignore[type-var]
    if any(isinstance(each, (Tensor, Dim)) for each in arguments):
        return Tensor((), True, inputs_of(arguments)) if any(map(only_tensor, arguments)) else Dim(Extent.UNKNOWN)
    return Scalar("number")


def _collected(run: Calls, name: str, first: Value, node: ast.AST, given: bool) -> Value:
    kind = name if name in ("list", "tuple", "set") else "list"
    if not given:
        return Sequence(kind)
    if isinstance(first, Shape) and name != "sorted":
        return first
    if isinstance(first, Sequence) and first.rest is None and name in ("list", "tuple"):
        return Sequence(kind, first.items)
    return Sequence(kind, (), run.iterate(first, node, name))


def _len(run: Calls, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    value = arguments[0] if arguments else UNKNOWN
    if isinstance(value, Tensor):
        size = value.size(0)
        return Const(size) if isinstance(size, int) else Dim(Extent.UNKNOWN if value.guessed else size)
    if isinstance(value, Shape):
        return Const(len(value.tensor.sizes)) if value.tensor.closed else Scalar("int")
    if isinstance(value, (Sequence, Mapping)) and value.rest is None and not value.home:
        return Const(len(value.items))
    return Scalar("int")


def _range(run: Calls, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    item: Value = Scalar("int")
    bounds = tuple(each for each in arguments if only_tensor(each))
    if bounds:
        item = Tensor((), True)
    if all(isinstance(each, Const) and isinstance(each.value, int) for each in arguments) and arguments:
        numbers = [each.value for each in arguments if isinstance(each, Const) and isinstance(each.value, int)]
        if len(arguments) < 3 or numbers[2] != 0:
            count = range(*numbers[:3])
            if 0 < len(count) <= 8:
                return Sequence("range", tuple(Const(each) for each in count))
    return Sequence("range", bounds, item)


def _enumerate(run: Calls, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    source = arguments[0] if arguments else UNKNOWN
    item = run.iterate(source, node, "enumerate")
    return Sequence("generator", (), Sequence("tuple", (Scalar("int"), item)))


def _zip(run: Calls, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    items = tuple(run.iterate(each, node, "zip") for each in arguments)
    return Sequence("generator", (), Sequence("tuple", items))


def _map(run: Calls, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    items = tuple(run.iterate(each, node, "map") for each in arguments[1:])
    return Sequence("generator", (), run.call_unseen(arguments[0], items, node) if arguments else UNKNOWN)


def _filter(run: Calls, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    if len(arguments) != 2:
        return UNKNOWN
    item = run.iterate(arguments[1], node, "filter")
    run.test(run.call_unseen(arguments[0], (item,), node), "filter", node)
    return Sequence("generator", (), item)


def _super(run: Calls, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    frame = run.frame
    first = next(iter(frame.names.values()), UNKNOWN)
    owner = arguments[1] if len(arguments) == 2 else first
    cls = arguments[0].info if arguments and isinstance(arguments[0], Class) else frame.cls
    return Super(owner, cls) if cls is not None else UNKNOWN


def _getattr(run: Calls, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    if len(arguments) >= 2 and isinstance(arguments[1], Const) and isinstance(arguments[1].value, str):
        found = run.attribute(arguments[0], arguments[1].value, node)
        return join(found, arguments[2]) if len(arguments) > 2 and type(found) is Value else found
    return UNKNOWN


def _setattr(run: Calls, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    if len(arguments) == 3 and isinstance(arguments[1], Const):
        run.set_attribute(arguments[0], str(arguments[1].value), arguments[2], node)
    return Const(None)


def _dict(run: Calls, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    made = Mapping({key: each for key, each in keywords.items()})
    if arguments and isinstance(arguments[0], Mapping):
        made.items = {**arguments[0].items, **made.items}
        made.rest = arguments[0].rest
    elif arguments:
        pairs = arguments[0]
        if isinstance(pairs, Sequence) and pairs.rest is None and all(_is_pair(each) for each in pairs.items):
            named = [each.items for each in pairs.items if isinstance(each, Sequence)]
            made.items = {key.value: value for key, value in named if isinstance(key, Const)} | made.items
        else:
            made.rest = UNKNOWN
    return made


def _type(run: Calls, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    value = arguments[0] if arguments else UNKNOWN
    return Class(value.cls) if isinstance(value, Instance) else UNKNOWN


def _next(run: Calls, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    return run.iterate(arguments[0], node, "next") if arguments else UNKNOWN


def _iter(run: Calls, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
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
    "dict": _dict,
    "type": _type,
    "next": _next,
    "iter": _iter,
}

"""What calls of libraries give: the the room of each."""

from __future__ import annotations

import ast
from dataclasses import replace

from exporter.check.domain.contents import inputs_of, is_pair, register, summarize
from exporter.check.domain.join import element, join
from exporter.check.domain.value_numbers import numbered
from exporter.check.domain.values import (
    REMOVE_HOOK,
    UNKNOWN,
    Array,
    Const,
    Dim,
    Extent,
    External,
    Fields,
    Function,
    Instance,
    Layer,
    Mapping,
    Partial,
    Record,
    Scalar,
    Sequence,
    Shape,
    Tensor,
    Value,
    only_tensor,
)
from exporter.check.interpret.calls import hooked_after, hooked_before
from exporter.check.interpret.events import call_unseen, capture, emit_call, made_here, tensor_written
from exporter.check.interpret.items import item, iterate
from exporter.check.interpret.operators import binary
from exporter.check.models.builtins import call_builtin
from exporter.check.models.methods import unhooked
from exporter.check.models.paddle import (
    CONTAINERS,
    apply_layer,
    apply_operator,
    has_no_weights,
    is_layer_class,
    is_plain,
)
from exporter.check.state.run import Run


def call_external(
    run: Run, name: str, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
) -> Value:
    """What a function or class of a library gives."""
    top, _, last = name.partition(".")
    if name == "copy.deepcopy" and arguments and isinstance(arguments[0], (Layer, Instance)):
        emit_call(run, node, "new layer", None, arguments, keywords)
    if top == "builtins":
        return call_builtin(run, last, arguments, keywords, node)
    if top == "paddle":
        return _paddle(run, name, arguments, keywords, node)
    if top == "numpy" and name not in _STAND_INS:
        if handed_on(name) and arguments and isinstance(arguments[0], Tensor) and run.forward:
            return numbered(apply_operator(last, arguments, keywords), last, arguments, keywords)
        run.consume(*arguments, *keywords.values())
        return _numpy(last, arguments)
    if top == "math":
        tensors = any(only_tensor(each) for each in arguments)
        return Dim(Extent.DYNAMIC, inputs_of(arguments)) if tensors else Scalar("number")
    if top == "operator":
        return _operator(run, last, arguments, keywords, node)
    if top == "itertools":
        return Sequence("generator", (), _element_of_all(run, arguments, node))
    return _tool(run, name, arguments, keywords, node)


def _operator(run: Run, name: str, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    """What a function of the module `operator` gives."""
    kind = _OPERATORS.get(name.strip("_"))
    if kind is not None and len(arguments) == 2:
        return binary(run, arguments[0], kind, arguments[1], node)
    if name == "getitem" and len(arguments) == 2:
        return item(run, arguments[0], arguments[1], node)
    run.consume(*arguments, *keywords.values())
    return UNKNOWN


def _tool(run: Run, name: str, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    """What functools, types, collections and copy give."""
    if name == "functools.partial" and arguments:
        return Partial(arguments[0], arguments[1:], keywords)
    if name == "types.MethodType" and len(arguments) == 2 and isinstance(arguments[0], Function):
        return replace(arguments[0], owner=arguments[1])
    if name in ("types.SimpleNamespace", "argparse.Namespace", "threading.local"):
        return Record(dict(keywords), not run.forward)
    if name == "functools.reduce" and len(arguments) > 1:
        return _reduced(run, arguments, node)
    if name == "collections.namedtuple" and len(arguments) > 1:
        return _fields(arguments[1], keywords.get("defaults"))
    if name in _STAND_INS:
        return External(_STAND_INS[name])
    if name.startswith("collections."):
        return _collection(run, name, arguments, keywords, node)
    if name in ("copy.copy", "copy.deepcopy") and arguments:
        return _copied(arguments[0])
    run.consume(*arguments, *keywords.values())
    return UNKNOWN


def _collection(run: Run, name: str, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    if name == "collections.namedtuple.made":
        return Sequence("tuple", (*arguments, *keywords.values()))
    if name == "collections.OrderedDict":
        return call_builtin(run, "dict", arguments, keywords, node)
    if name == "collections.deque":
        return call_builtin(run, "list", arguments[:1], {}, node)
    if name == "collections.defaultdict" and arguments and run.forward:
        return Mapping(factory=arguments[0])
    if name in ("collections.defaultdict", "collections.Counter"):
        return Mapping({}, UNKNOWN)
    run.consume(*arguments, *keywords.values())
    return UNKNOWN


def _fields(names: Value, defaults: Value | None) -> Value:
    """A class of named tuples, if its fields are known."""
    if isinstance(names, Const) and isinstance(names.value, str):
        known = tuple(names.value.replace(",", " ").split())
    elif isinstance(names, Sequence) and names.rest is None:
        known = tuple(str(each.value) for each in names.items if isinstance(each, Const))
    else:
        return External(_STAND_INS["collections.namedtuple"])
    return Fields(known, defaults.items if isinstance(defaults, Sequence) and defaults.rest is None else ())


def _reduced(run: Run, arguments: tuple[Value, ...], node: ast.AST) -> Value:
    """`functools.reduce`, item by item where few are known."""
    item, source = iterate(run, arguments[1], node, "reduce"), arguments[1]
    few = isinstance(source, Sequence) and source.rest is None and 0 < len(source.items) <= _FEW
    items = list(source.items) if isinstance(source, Sequence) and few else [item, item]
    value = arguments[2] if len(arguments) > 2 else items.pop(0)
    for each in items:
        value = call_unseen(run, arguments[0], (value, each), node)
    return value


#: What a call of these gives is something to be called.
_STAND_INS = {
    "collections.namedtuple": "collections.namedtuple.made",  # of fields that are not known
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


_OPERATORS = {
    "add": ast.Add,
    "iadd": ast.Add,
    "sub": ast.Sub,
    "mul": ast.Mult,
    "truediv": ast.Div,
    "floordiv": ast.FloorDiv,
    "mod": ast.Mod,
    "pow": ast.Pow,
    "matmul": ast.MatMult,
    "concat": ast.Add,
}


_FEW = 8  # items that are gone through one by one


#: What NumPy does with an object that it cannot read by calling the object's own method or operator.
_HANDED_ON = frozenset(
    "mean sum prod any all sqrt exp log log2 log10 log1p expm1 sin cos tan sinh cosh tanh abs absolute square negative "
    "reciprocal argmax argmin around round clip cumsum flip add subtract multiply divide power ndim size squeeze "
    "swapaxes transpose".split()
)


def handed_on(name: str) -> bool:
    """Whether a function of NumPy works on a tensor of the trace (each measured with NumPy 2 and Paddle 3.3.1)."""
    return name.startswith("numpy.") and name.removeprefix("numpy.") in _HANDED_ON


def _numpy(name: str, arguments: tuple[Value, ...]) -> Array:
    """An array, or a single number where nothing makes an array of it."""
    single = name.rpartition(".")[2] not in _ARRAY_MAKERS and not any(
        isinstance(each, Array) and not each.scalar for each in arguments
    )
    lone = name == "array" and bool(arguments) and isinstance(arguments[0], (Const, Scalar))
    sized = name.startswith("random.") and len(arguments) < 3  # one draw, unless a size is given
    return Array(scalar=single or lone or sized)


def _element_of_all(run: Run, arguments: tuple[Value, ...], node: ast.AST) -> Value:
    """What walking through several things gives, taken together."""
    found: Value = UNKNOWN
    for number, each in enumerate(arguments):
        one = iterate(run, each, node, "itertools") if isinstance(each, (Sequence, Tensor, Shape)) else UNKNOWN
        found = one if number == 0 else join(found, one)
    return found


def _copied(value: Value) -> Value:
    summarize(value)
    if isinstance(value, Sequence):
        return Sequence(value.kind, value.items, value.rest)
    return value


def _paddle(run: Run, name: str, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    last = name.rpartition(".")[2]
    if name in CONTAINERS:
        return _registered(_container(run, name, arguments, node))
    if is_layer_class(name):
        return Layer(
            name, arguments, keywords, training=run.forward, weightless=has_no_weights(name, keywords)
        )  # a model is put into evaluation once it is built
    first = arguments[0] if arguments else UNKNOWN
    if last in ("spectral_norm", "weight_norm", "remove_weight_norm"):
        return first
    if last == "shape" and isinstance(first, Tensor):
        return Tensor((len(first.sizes) if first.closed else Extent.UNKNOWN,), True, first.inputs, shaped=True)
    if is_plain(name):
        return _plain(run, name, arguments, keywords)
    if last == "assign":
        _written(run, arguments[1:], node)
    for each in (*arguments, *keywords.values()):
        if isinstance(each, (Sequence, Mapping)):
            capture(run, element(each), node, "container")
    value = numbered(apply_operator(last, arguments, keywords), last, arguments, keywords)
    if last.endswith("_") and not last.endswith("__") and isinstance(first, Tensor):
        tensor_written(run, first, node)
        return first
    return made_here(run, value, node) if isinstance(value, Tensor) else value


def _plain(run: Run, name: str, arguments: tuple[Value, ...], keywords: dict[str, Value]) -> Value:
    """What a function of Paddle gives that gives no tensor; the methods of a distribution are known by name."""
    if run.forward and name.endswith((".in_dynamic_mode", ".in_dygraph_mode")):
        return Const(False)  # so the trace goes
    if not name.startswith("paddle.distribution."):
        return UNKNOWN
    run.consume(*arguments, *keywords.values())
    return External(name)


def _written(run: Run, targets: tuple[Value, ...], node: ast.AST) -> None:
    for each in targets:
        if isinstance(each, Tensor):
            tensor_written(run, each, node)


def _registered(container: Value) -> Value:
    """A container of layers; whatever it holds is a sublayer of it."""
    if isinstance(container, (Sequence, Mapping)):
        every = container.items.values() if isinstance(container, Mapping) else container.items
        for each in (*every, *((container.rest,) if container.rest is not None else ())):
            register(each)
    return container


def _container(run: Run, name: str, arguments: tuple[Value, ...], node: ast.AST) -> Value:
    kind = "paddle.nn.LayerList" if name.endswith("ParameterList") else name
    if not arguments:
        return Mapping(fixed=True, registers=True) if kind.endswith("LayerDict") else Sequence(kind)
    first = arguments[0]
    if kind.endswith("LayerDict"):
        if isinstance(first, Sequence) and first.rest is None and all(is_pair(each) for each in first.items):
            first = call_builtin(run, "dict", arguments, {}, node)
        given = first if isinstance(first, Mapping) else Mapping({}, UNKNOWN)
        return Mapping(dict(given.items), given.rest, registers=True)
    if len(arguments) == 1 and isinstance(first, Sequence) and first.kind in ("list", "tuple", "generator"):
        return Sequence(kind, first.items, first.rest)
    if kind.endswith("Sequential"):
        layers = [each.items[1] if is_pair(each) else each for each in arguments]  # type: ignore[attr-defined]
        return Sequence(kind, tuple(layers))
    return Sequence(kind, (), iterate(run, first, node, "list"))


def _external(
    run: Run, function: External, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
) -> Value:
    if function.name == REMOVE_HOOK:
        return unhooked(run, *arguments)
    emit_call(run, node, function.name, None, arguments, keywords)
    return call_external(run, function.name, arguments, keywords, node)


def _layer(run: Run, layer: Layer, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    arguments = hooked_before(run, layer, arguments, node)
    emit_call(run, node, f"{layer.name}.forward", layer, arguments, keywords)
    value = apply_layer(layer, arguments, keywords)
    if isinstance(value, Tensor) and not value.value_number and "Dropout" not in layer.name:
        value.value_number = ("layer", layer, *arguments, *keywords.values())
    return hooked_after(run, layer, arguments, value, node)


CALLERS = {External: _external, Layer: _layer}

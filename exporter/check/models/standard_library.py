"""What calls of Python's standard library give: math, operator, itertools, functools, collections, types, copy."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from exporter.check.domain.call import Call
from exporter.check.domain.contents import inputs_of, summarize
from exporter.check.domain.join import join
from exporter.check.domain.values import (
    UNKNOWN,
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
from exporter.check.interpret.events import call_handed_over, emit_call
from exporter.check.interpret.items import item, iterate
from exporter.check.interpret.operators import ARITHMETIC, binary
from exporter.check.models.python import make_dict, make_sequence
from exporter.check.state.run import Run

_FEW = 8  # items that are gone through one by one
_OPERATORS: dict[str, type] = {name: kind for kind, name in ARITHMETIC.items()} | {"iadd": ast.Add, "concat": ast.Add}
#: What a call of these gives is something to be called.
_MAKES = {
    "collections.namedtuple": "collections.namedtuple.made",  # of fields that are not known
    "functools.wraps": "functools.update_wrapper",
    "numpy.random.default_rng": "numpy.random.generator",
    "numpy.random.RandomState": "numpy.random.generator",
    "random.Random": "random.generator",
    "random.SystemRandom": "random.generator",
}


def _math(run: Run, call: Call) -> Value:
    return Dim(Extent.DYNAMIC, inputs_of(call.arguments)) if any(map(only_tensor, call.arguments)) else Scalar("number")


def _operator(run: Run, call: Call) -> Value:
    kind = _OPERATORS.get(call.name.partition(".")[2].strip("_"))
    if kind is not None and len(call.arguments) == 2:
        return binary(run, call.first, kind, call.arguments[1], call.node)
    if call.name == "operator.getitem" and len(call.arguments) == 2:
        return item(run, call.first, call.arguments[1], call.node)
    return run.unmodelled(call)


def _itertools(run: Run, call: Call) -> Value:
    """What walking through several things gives, taken together."""
    found: Value = UNKNOWN
    for number, value in enumerate(call.arguments):
        walked = isinstance(value, (Sequence, Tensor, Shape))
        part = iterate(run, value, call.node, "itertools") if walked else UNKNOWN
        found = part if number == 0 else join(found, part)
    return Sequence("generator", (), found)


def _bound_method(run: Run, call: Call) -> Value:
    if len(call.arguments) == 2 and isinstance(call.first, Function):
        return replace(call.first, owner=call.arguments[1])
    return run.unmodelled(call)


def _reduce(run: Run, call: Call) -> Value:
    """`functools.reduce`, item by item where few are known."""
    if len(call.arguments) < 2:
        return run.unmodelled(call)
    source = call.arguments[1]
    one = iterate(run, source, call.node, "reduce")
    items = [*source.listed] if source.listed and len(source.listed) <= _FEW else [one, one]
    value = call.arguments[2] if len(call.arguments) > 2 else items.pop(0)
    for following in items:
        value = call_handed_over(run, call.first, Call(call.node, (value, following)))
    return value


def _namedtuple(run: Run, call: Call) -> Value:
    """A class of named tuples, if its fields are known."""
    names, defaults = call.given(1), call.keywords.get("defaults", UNKNOWN)
    if isinstance(names, Const) and isinstance(names.value, str):
        known = tuple(names.value.replace(",", " ").split())
    elif names.listed is not None:
        known = tuple(str(name.value) for name in names.listed if isinstance(name, Const))
    else:
        return External(_MAKES["collections.namedtuple"])
    return Fields(known, defaults.listed or ())


def _dict_with_defaults(run: Run, call: Call) -> Value:
    if call.last == "defaultdict" and call.arguments and run.forward:
        return replace(make_dict(run, replace(call, arguments=call.arguments[1:])), factory=call.first)
    return Mapping({}, UNKNOWN)


def _copy(run: Run, call: Call) -> Value:
    if call.last == "deepcopy" and isinstance(call.first, (Layer, Instance)):
        emit_call(run, "new layer", call)
    summarize(value := call.first)
    return Sequence(value.kind, value.items, value.rest) if isinstance(value, Sequence) else value


FUNCTIONS: dict[str, Callable[[Run, Call], Value]] = {
    "collections.Counter": _dict_with_defaults,
    "collections.OrderedDict": make_dict,
    "collections.defaultdict": _dict_with_defaults,
    "collections.deque": lambda run, call: make_sequence(
        run, replace(call, name="builtins.list", arguments=call.arguments[:1], keywords={})
    ),
    "collections.namedtuple": _namedtuple,
    "collections.namedtuple.made": lambda run, call: Sequence("tuple", call.every),
    "copy.copy": _copy,
    "copy.deepcopy": _copy,
    "functools.partial": lambda run, call: Partial(call.first, call.arguments[1:], call.keywords),
    "functools.reduce": _reduce,
    "types.MethodType": _bound_method,
    **dict.fromkeys(
        ("types.SimpleNamespace", "argparse.Namespace", "threading.local"),
        lambda run, call: Record(dict(call.keywords), not run.forward),
    ),
    **dict.fromkeys(_MAKES.keys() - {"collections.namedtuple"}, lambda run, call: External(_MAKES[call.name])),
}
PACKAGES = {"math": _math, "operator": _operator, "itertools": _itertools}

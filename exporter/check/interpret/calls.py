"""Calls of classes, objects, partials, layers in a row, one of several, and libraries; hooks before and after."""

from __future__ import annotations

from dataclasses import replace

from exporter.check.domain.call import Call
from exporter.check.domain.contents import holds_weights, inputs_of, summarize
from exporter.check.domain.join import join_all
from exporter.check.domain.values import (
    REMOVE_HOOK,
    UNKNOWN,
    Class,
    Const,
    External,
    Fields,
    Function,
    Instance,
    Layer,
    Partial,
    Scalar,
    Sequence,
    Tensor,
    Union,
    Value,
)
from exporter.check.interpret.events import call_handed_over, call_unseen, emit_call
from exporter.check.interpret.functions import call_function, kind_of_argument
from exporter.check.state.run import Run


def _call_fields(run: Run, fields: Fields, call: Call) -> Value:
    defaults = dict(zip(fields.names[len(fields.names) - len(fields.defaults) :], fields.defaults, strict=False))
    return _named_tuple(fields.names, defaults, call)


def _named_tuple(names: tuple[str, ...], defaults: dict[str, Value], call: Call) -> Sequence:
    """The fields in their order, as far as each is known."""
    given = defaults | dict(zip(names, call.arguments, strict=False)) | call.keywords
    if not names or given.keys() != {*names}:
        return Sequence("tuple", call.every)
    return Sequence("tuple", tuple(given[name] for name in names))


def _call_class(run: Run, function: Class, call: Call) -> Value:
    """An object of a class of the user's, its constructor run."""
    info = function.info
    if info.is_tuple:
        with run.at_import(info.module):
            defaults = {name: run.evaluate(info.assigned[name]) for name in info.fields if name in info.assigned}
        return _named_tuple(info.fields, defaults, call)
    key = (id(info), *call.keywords, *map(kind_of_argument, call.every))
    plain = (Const, External, Class, Scalar)
    simple = not run.forward and all(isinstance(each, plain) or each is UNKNOWN for each in call.every)
    if simple and key in run.memory.instances:  # twins behave alike: one is run for all
        summarize(run.memory.instances[key])
        return run.memory.instances[key]
    made = Instance(info, complete=True, persistent=not run.forward)
    run.memory.scopes.append(made.attributes)
    if simple:
        run.memory.instances[key] = made
    constructor = info.method("__init__")
    if constructor is not None:
        owner, method = constructor
        came_from = (run.frame.module, call.node) if run.now.converted else run.now.called_from
        with run.circumstances(converted=run.now.converted and not run.forward, called_from=came_from):
            call_function(run, Function(method, owner.module, (), made, owner), call)
    elif info.is_dataclass:
        made.attributes.update(dict(zip(info.fields, call.arguments, strict=False)), **call.keywords)
    else:
        run.consume(*call.every)
    if info.is_layer and holds_weights(made):
        name = "new layer" if holds_weights(made, certain=True) else "maybe new layer"
        emit_call(run, name, call)
    return made


def _call_instance(run: Run, owner: Instance, call: Call) -> Value:
    for name in ("forward", "__call__"):
        if owner.cls.method(name) is not None:
            method = run.attribute(owner, name, call.node)
            call = hooked_before(run, owner, call)
            return hooked_after(run, owner, call, run.call(method, call))
    if owner.cls.is_layer:  # its forward is inherited from Paddle
        first = next((each for each in call.arguments if isinstance(each, Tensor)), None)
        return Tensor(first.sizes[:1] if first else (), False, call.inputs)
    return run.unmodelled(call)


def hooked_before(run: Run, layer: Layer | Instance, call: Call) -> Call:
    """What a layer is called with after the hooks before it had their say; dy2static does not convert hooks."""
    for hook in layer.before:
        given = call_unseen(run, hook, (layer, Sequence("tuple", call.arguments)), call.node)
        if given.listed is not None:
            call = replace(call, arguments=given.listed)
        elif isinstance(given, Tensor):
            call = replace(call, arguments=(given,))
    return call


def hooked_after(run: Run, layer: Layer | Instance, call: Call, value: Value) -> Value:
    """What a layer gives after the hooks behind it had their say."""
    for hook in layer.hooks:
        given = call_unseen(run, hook, (layer, Sequence("tuple", call.arguments), value), call.node)
        value = value if isinstance(given, Const) or type(given) is Value else given
    return value


def _call_partial(run: Run, function: Partial, call: Call) -> Value:
    arguments, keywords = (*function.arguments, *call.arguments), {**function.keywords, **call.keywords}
    return call_handed_over(run, function.function, Call(call.node, arguments, keywords))


def _call_union(run: Run, function: Union, call: Call) -> Value:
    with run.circumstances(undecided=run.now.undecided + 1):
        return join_all([run.call(each, replace(call)) for each in function.options if not isinstance(each, Const)])


def _call_sequence(run: Run, layers: Sequence, call: Call) -> Value:
    if layers.kind != "paddle.nn.Sequential":
        return UNKNOWN
    value = call.first
    for layer in layers.parts():
        if type(layer) is Value:
            value = Tensor(value.sizes[:1] if isinstance(value, Tensor) else (), False, inputs_of((value,)))
        else:
            value = run.call(layer, Call(call.node, (value,)))
    return value


def _call_external(run: Run, function: External, call: Call) -> Value:
    """What the model of its name gives, else that of its package."""
    name = call.name = function.name
    if name != REMOVE_HOOK:
        emit_call(run, name, call)
    model = run.tables.functions.get(name) or run.tables.packages.get(name.partition(".")[0], Run.unmodelled)
    return model(run, call)


CALLERS = {
    Class: _call_class,
    External: _call_external,
    Fields: _call_fields,
    Instance: _call_instance,
    Partial: _call_partial,
    Sequence: _call_sequence,
    Union: _call_union,
}

"""What methods of tensors, arrays, lists, dicts and layers do."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import replace

from exporter.check.domain.call import Call
from exporter.check.domain.contents import inputs_of, mode_matters, register
from exporter.check.domain.join import element, join, rest_with
from exporter.check.domain.values import (
    REMOVE_HOOK,
    UNKNOWN,
    Array,
    Const,
    External,
    Instance,
    Layer,
    Mapping,
    Method,
    Partial,
    Record,
    Scalar,
    Sequence,
    Tensor,
    Union,
    Value,
    keys_of,
    kind_of,
)
from exporter.check.interpret.attributes import set_named
from exporter.check.interpret.events import emit_call, is_own_key, read_content, write_container
from exporter.check.interpret.items import grow, iterate
from exporter.check.models.paddle import operate
from exporter.check.models.python import compare_by_key, make_dict
from exporter.check.models.shapes import apply_operator, gives_itself
from exporter.check.source.syntax import definition_around, inside, of_kind
from exporter.check.state.run import Run

#: Methods of an array that give one number.
_TO_NUMBER = frozenset("mean sum max min std var prod item any all argmax argmin ptp dot trace".split())
#: A `range` that begins with 0.
_COUNTS = re.compile(r"range\([^,]+\)")
_HOOKS = {"register_forward_pre_hook": "before", "register_forward_post_hook": "hooks"}


def _method(run: Run, method: Method, call: Call) -> Value:
    owner, name, call.name = method.owner, method.name, method.name
    if name == "train" and (matters := mode_matters(owner)) is not True:
        name = "maybe train" if matters is None else "eval"
    emit_call(run, f"{kind_of(owner)}.{name}", call, owner)
    model = _MODELS.get(type(owner))
    return model(run, owner, call) if model is not None else run.unmodelled(call)


def _text(run: Run, owner: Value, call: Call) -> Value:
    return Scalar("str")


def _array(run: Run, owner: Array, call: Call) -> Value:
    run.consume(*call.every)
    return Array(scalar=owner.scalar or (call.name in _TO_NUMBER and not call.every))


def _tensor(run: Run, owner: Tensor, call: Call) -> Value:
    name = call.name
    if name in ("dim", "ndimension", "rank") and owner.closed:
        return Const(len(owner.sizes))
    if name in ("dim", "ndimension", "rank", "element_size") or (name.startswith("is_") and name != "is_empty"):
        return Scalar("int")
    if name == "item" and run.forward:
        number = ("number", owner)
        return Tensor((), True, owner.inputs, boolean=owner.boolean, dtype=owner.dtype, value_number=number)
    if name in ("size", "numel"):
        return Tensor((), True, owner.inputs)
    if not run.forward and name in ("item", "numpy"):
        return Scalar("number") if name == "item" else Array()
    if name == "tolist":
        return Sequence("list", (), Scalar("number"))
    if name in ("backward", "register_hook", "clear_grad"):
        return Const(None)
    whole = replace(call, arguments=(owner, *call.arguments))
    return owner if gives_itself(whole) else operate(run, whole)


# ------------------------------------------------------------------------------------------------------ lists and dicts


def _sequence(run: Run, owner: Sequence, call: Call) -> Value:
    name = call.name
    if name == "sort":
        compare_by_key(run, Call(call.node, (owner,), call.keywords, "builtins.sorted"))
    if name in ("append", "add_sublayer", "insert", "extend") and call.arguments:
        _add(run, owner, call)
        return Const(None)
    if name == "pop" and not call.arguments and (last := _last(run, owner)) is not None:
        return last
    if name in ("pop", "remove", "clear", "reverse", "sort", "popleft"):
        return _shuffle(run, owner, call)
    if name in ("index", "count"):
        return Scalar("int")
    if name == "copy":
        return Sequence(owner.kind, owner.items, owner.rest)
    if name in ("sublayers", "children"):
        return Sequence("list", owner.items, owner.rest)
    run.consume(*call.arguments)
    return UNKNOWN


def _add(run: Run, owner: Sequence, call: Call) -> None:
    """A list takes in one more item, or several."""
    last = call.arguments[-1]
    items: tuple[Value, ...] = (last,)
    if call.name == "extend":
        items = last.listed if last.listed is not None else (iterate(run, last, call.node, "extend"),)
    if owner.kind.startswith("paddle."):
        for item in items:
            register(item)
    if call.name == "insert" and call.first == Const(0) and owner.rest is None and not run.now.depth:
        write_container(run, owner, call.node)
        run.heap.change(owner, items=(*items, *owner.items))
    else:
        if call.name == "append":
            run.effects.push(owner.place)
        grow(run, owner, items, call.node)


def _last(run: Run, owner: Sequence) -> Value | None:
    """The last item of a list, taken off; None where it is not known, or where this call did not put it there."""
    now = run.now
    if now.branches or now.undecided or now.depth or owner.rest is not None or not owner.items:
        return None
    if owner.place is not None and not run.effects.pop(owner.place):
        return None
    last = owner.items[-1]
    run.heap.change(owner, items=owner.items[:-1])
    return last


def _shuffle(run: Run, owner: Sequence, call: Call) -> Value:
    """A list whose items are not known one by one any more."""
    if call.name == "clear":
        run.effects.kill(owner.place)
    used = run.effects.of(owner.place).write is None and call.node not in run.usage.dropped
    write_container(run, owner, call.node)
    if used and call.name.startswith("pop"):
        read_content(run, owner)  # what it gives lay there before the call
    value = element(owner)
    run.heap.change(owner, rest=value if owner.parts() else None, items=())
    return value if call.name.startswith("pop") else Const(None)


def _mapping(run: Run, owner: Mapping, call: Call) -> Value:
    name = call.name
    if name == "values":
        return Sequence("list", tuple(owner.items.values()), owner.rest, home=owner.home, fixed=owner.fixed)
    if name == "keys":
        return keys_of(owner)
    if name == "items":
        pairs = tuple(Sequence("tuple", (Const(key), value), home=owner.home) for key, value in owner.items.items())
        rest = Sequence("tuple", (Scalar("str"), owner.rest), home=owner.home) if owner.rest else None
        return Sequence("list", pairs, rest, home=owner.home, fixed=owner.fixed)
    if name in ("get", "pop", "setdefault"):
        return _take(run, owner, call)
    if name == "update":
        _update(run, owner, call)
    elif name == "move_to_end" and isinstance(call.first, Const):
        _move(run, owner, call.first.value, not call.says("last", False))
    elif name in ("clear", "popitem"):
        write_container(run, owner, call.node)
        run.heap.change(owner, items={})
    return UNKNOWN


def _move(run: Run, owner: Mapping, key: object, last: bool) -> None:
    """`OrderedDict.move_to_end`."""
    others = {name: value for name, value in owner.items.items() if name != key}
    moved = {key: owner.items[key]} if key in owner.items else {}
    run.heap.change(owner, items={**others, **moved} if last else {**moved, **others})


def _update(run: Run, owner: Mapping, call: Call) -> None:
    write_container(run, owner, call.node)
    given = make_dict(run, call)
    run.heap.change(owner, items={**owner.items, **given.items})
    if given.rest is not None:
        run.heap.change(owner, rest=rest_with(owner, given.rest))


def _take(run: Run, owner: Mapping, call: Call) -> Value:
    """What `get`, `pop` and `setdefault` of a dict give."""
    key, default = call.first, call.given(1, default=Const(None))
    if call.name != "get":
        stored = call.name == "pop" or inputs_of((default,))
        if stored and not is_own_key(run, owner, key):
            read_content(run, owner)  # what an earlier call left there is what it gives
        write_container(run, owner, call.node, default)
    if not isinstance(key, Const) or owner.rest is not None:
        return join(element(owner), default)
    found = owner.items.get(key.value, UNKNOWN if owner.home and not owner.items else default)
    if call.name == "pop":
        run.heap.change(owner, items={name: value for name, value in owner.items.items() if name != key.value})
    elif call.name == "setdefault":
        run.heap.change(owner, items={**owner.items, key.value: found})
    return found


# --------------------------------------------------------------------------------------------------------------- layers


def _layer(run: Run, owner: Layer, call: Call) -> Value:
    if call.name in ("train", "eval"):
        run.heap.change(owner, training=call.name == "train")
    if call.name in _HOOKS and call.arguments:
        return _hook(run, owner, call)
    return run.call(owner, call) if call.name == "forward" else UNKNOWN


def _hook(run: Run, owner: Instance | Layer, call: Call) -> Value:
    """A hook is registered; what that gives can take it away again."""
    place, hook = _HOOKS[call.name], call.first
    if run.now.undecided:
        hook = Union((hook, Const(None)))  # it may as well not be there
    run.heap.change(owner, **{place: (*vars(owner)[place], hook)})
    return Record({"remove": Partial(External(REMOVE_HOOK), (owner, hook), {})})


def _unhook(run: Run, call: Call) -> Value:
    """A hook is taken away."""
    owner, hook = call.first, call.given(1)
    if isinstance(owner, (Instance, Layer)):
        for place in _HOOKS.values():
            run.heap.change(owner, **{place: tuple(known for known in vars(owner)[place] if known is not hook)})
    return Const(None)


def _taken_in(run: Run, owner: Instance, call: Call) -> Value:
    """A layer takes in a buffer, a sublayer or a parameter under a name, which may not be known."""
    every = (*call.arguments, *(value for key, value in call.keywords.items() if key != "name"))
    label = call.keywords.get("name", every[0])
    value = every[0] if "name" in call.keywords else every[min(1, len(every) - 1)]
    set_named(run, owner, label, value, call.node)
    named = isinstance(label, Const)
    if not named and isinstance(call.node, ast.Call) and call.node.args and not vars(value).get("registered", True):
        _name_by_number(run, owner, call.node.args[0], value)
    register(value)
    return value


def _name_by_number(run: Run, owner: Instance, label: ast.expr, value: Value) -> None:
    """A loop that counts from 0 names a layer; what an earlier loop named so is no sublayer any more."""
    around = of_kind(definition_around(run.frame.module.tree, label), ast.For)
    loops = [each for each in around if each.lineno < label.lineno <= (each.end_lineno or 0)]
    names = {each.id for each in (label, *inside(label)) if isinstance(each, ast.Name)}
    counts = [(ast.unparse(each.target), ast.unparse(each.iter)) for each in loops]
    if len(counts) != 1 or names - {"str"} != {counts[0][0]} or not _COUNTS.fullmatch(counts[0][1]):
        return
    name, loop = ast.unparse(label), f"loop of line {loops[0].lineno}"
    before = owner.attributes.get(name)
    if isinstance(before, Sequence) and before.kind != loop:
        vars(before.items[0])["registered"] = False
    run.heap.write(owner.attributes, name, Sequence(loop, (value,)))


def _instance(run: Run, owner: Instance, call: Call) -> Value:
    """What a layer of the user's has from `paddle.nn.Layer`."""
    name = call.name
    if name in ("create_parameter", "create_tensor", "create_variable"):
        made = apply_operator(replace(call, name="create_parameter"))
        if isinstance(made, Tensor):
            made.origin = "parameter" if name == "create_parameter" else "buffer"
        return made
    if name in ("register_buffer", "add_sublayer", "add_parameter") and len(call.every) >= 2:
        return _taken_in(run, owner, call)
    if name == "__setattr__" and len(call.arguments) == 2:
        set_named(run, owner, *call.arguments, call.node)
        return Const(None)
    if name in _HOOKS and call.arguments:
        return _hook(run, owner, call)
    if name in ("train", "eval"):
        run.heap.write(owner.attributes, "training", Const(name == "train" and run.forward))
        return owner
    if name in ("sublayers", "children", "parameters", "buffers"):
        return Sequence("list", (), UNKNOWN)
    return owner if name in ("to", "apply", "float", "astype") else UNKNOWN


_MODELS: dict[type[Value], Callable[..., Value]] = {
    Tensor: _tensor,
    Sequence: _sequence,
    Mapping: _mapping,
    Instance: _instance,
    Layer: _layer,
    Const: _text,
    Scalar: _text,
    Array: _array,
}
FUNCTIONS = {REMOVE_HOOK: _unhook}
CALLERS = {Method: _method}

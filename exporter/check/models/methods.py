"""What methods of tensors, lists, dicts and layers do."""

from __future__ import annotations

import ast

from exporter.check.domain.contents import inputs_of, register
from exporter.check.domain.join import element, join
from exporter.check.domain.value_numbers import numbered
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
from exporter.check.interpret.attributes import set_attribute
from exporter.check.interpret.events import emit_call, is_own_key, made_here, tensor_written, write_container
from exporter.check.interpret.items import grow, iterate
from exporter.check.models.builtins import call_builtin, compared_by_key
from exporter.check.models.dtypes import unchanged
from exporter.check.models.paddle import apply_operator
from exporter.check.state.run import Run

#: Methods of an array that give one number.
_TO_NUMBER = frozenset("mean sum max min std var prod item any all argmax argmin ptp dot trace".split())


def call_method(
    run: Run, owner: Value, name: str, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
) -> Value:
    """What a method of something that is not the user's gives."""
    if isinstance(owner, Tensor):
        return _tensor_method(run, owner, name, arguments, keywords, node)
    if isinstance(owner, Sequence):
        if name == "sort":
            compared_by_key(run, "sorted", (owner,), keywords, node)
        return _list_method(run, owner, name, arguments, node)
    if isinstance(owner, Mapping):
        return _dict_method(run, owner, name, arguments, keywords, node)
    if isinstance(owner, Instance):
        return _layer_method(run, owner, name, arguments, keywords, node)
    if isinstance(owner, Layer):
        return _plain_layer_method(run, owner, name, arguments, keywords, node)
    if isinstance(owner, (Const, Scalar)):
        return Scalar("str")
    run.consume(*arguments, *keywords.values())
    if isinstance(owner, Array):
        return Array(scalar=owner.scalar or (name in _TO_NUMBER and not arguments and not keywords))
    return UNKNOWN


def _plain_layer_method(
    run: Run, owner: Layer, name: str, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
) -> Value:
    if name in ("train", "eval"):
        run.heap.write(vars(owner), "training", name == "train")
    if name in _HOOKS and arguments:
        return _hooked(run, owner, _HOOKS[name], arguments[0])
    return run.call(owner, arguments, keywords, node) if name == "forward" else UNKNOWN


def _tensor_method(
    run: Run, owner: Tensor, name: str, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
) -> Value:
    if name in ("dim", "ndimension", "rank") and owner.closed:
        return Const(len(owner.sizes))
    if name in ("dim", "ndimension", "rank", "element_size", "is_floating_point", "is_contiguous"):
        return Scalar("int")
    if name == "item" and run.forward:
        return Tensor((), True, owner.inputs, boolean=owner.boolean, dtype=owner.dtype, value_number=("number", owner))
    if name == "size" or name == "numel":
        return Tensor((), True, owner.inputs)
    if not run.forward and name in ("item", "numpy"):
        return Scalar("number") if name == "item" else Array()
    if name == "tolist":
        return Sequence("list", (), Scalar("number"))
    if name in ("backward", "register_hook", "clear_grad"):
        return Const(None)
    if unchanged(name, owner, arguments, keywords):
        return owner
    value = numbered(apply_operator(name, (owner, *arguments), keywords), name, (owner, *arguments), keywords)
    in_place = name.endswith("_") and not name.endswith("__")
    if in_place or name in ("set_value", "copy_", "fill_"):
        tensor_written(run, owner, node)
        return owner
    return made_here(run, value, node) if isinstance(value, Tensor) else value


def _list_method(run: Run, owner: Sequence, name: str, arguments: tuple[Value, ...], node: ast.AST) -> Value:
    if name in ("append", "add_sublayer", "insert", "extend") and arguments:
        _grown(run, owner, name, arguments, node)
    elif name == "pop" and not arguments and (last := _popped(run, owner)) is not None:
        return last
    elif name in ("pop", "remove", "clear", "reverse", "sort", "popleft"):
        return _shuffled(run, owner, name, node)
    elif name in ("index", "count"):
        return Scalar("int")
    elif name == "copy":
        return Sequence(owner.kind, owner.items, owner.rest)
    elif name == "sublayers" or name == "children":
        return Sequence("list", owner.items, owner.rest)
    else:
        run.consume(*arguments)
        return UNKNOWN
    return Const(None)


def _grown(run: Run, owner: Sequence, name: str, arguments: tuple[Value, ...], node: ast.AST) -> None:
    """A list that takes in one more item, or several."""
    last = arguments[-1]
    items: tuple[Value, ...] = (last,)
    if name == "extend":
        known = isinstance(last, Sequence) and last.rest is None
        items = last.items if isinstance(last, Sequence) and known else (iterate(run, last, node, "extend"),)
    if owner.kind.startswith("paddle."):
        for each in items:
            register(each)
    first = name == "insert" and arguments[0] == Const(0) and owner.rest is None and not run.now.python_loops
    if first:
        write_container(run, owner, node)
        run.heap.write(vars(owner), "items", (*items, *owner.items))
    else:
        if name == "append" and owner.place is not None:
            run.effects.push(owner.place)
        grow(run, owner, items, node)


def _popped(run: Run, owner: Sequence) -> Value | None:
    """The last item of a list, taken off; None where it is not known, or where this call did not put it there."""
    now = run.now
    if now.branches or now.undecided or now.loops or now.python_loops or owner.rest is not None or not owner.items:
        return None
    if owner.place is not None and not run.effects.pop(owner.place):
        return None
    last = owner.items[-1]
    run.heap.write(vars(owner), "items", owner.items[:-1])
    return last


def _shuffled(run: Run, owner: Sequence, name: str, node: ast.AST) -> Value:
    """A list whose items are not known one by one any more."""
    if name == "clear" and owner.place is not None:
        run.effects.kill(owner.place)
    used = owner.place is not None and node not in run.usage.dropped and run.effects.of(owner.place).write is None
    write_container(run, owner, node)
    if used and owner.place is not None and name.startswith("pop"):
        run.effects.read_content(owner.place)  # what it gives lay there before the call
    value = element(owner)
    run.heap.write(vars(owner), "rest", value if owner.items or owner.rest is not None else None)
    run.heap.write(vars(owner), "items", ())
    return value if name.startswith("pop") else Const(None)


def _dict_method(
    run: Run, owner: Mapping, name: str, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
) -> Value:
    if name == "values":
        return Sequence("list", tuple(owner.items.values()), owner.rest, owner.home, fixed=owner.fixed)
    if name == "keys":
        return keys_of(owner)
    if name == "items":
        pairs = tuple(Sequence("tuple", (Const(key), value), home=owner.home) for key, value in owner.items.items())
        rest = Sequence("tuple", (Scalar("str"), owner.rest), home=owner.home) if owner.rest else None
        return Sequence("list", pairs, rest, owner.home, fixed=owner.fixed)
    if name in ("get", "pop", "setdefault"):
        return _taken(run, owner, name, arguments, node)
    if name == "update":
        _updated(run, owner, arguments, keywords, node)
    elif name == "move_to_end" and arguments and isinstance(arguments[0], Const):
        _moved(run, owner, arguments[0].value, keywords.get("last") != Const(False))
    elif name in ("clear", "popitem"):
        write_container(run, owner, node)
        run.heap.write(vars(owner), "items", {})
    return UNKNOWN


def _moved(run: Run, owner: Mapping, key: object, last: bool) -> None:
    """`OrderedDict.move_to_end`."""
    others = {name: value for name, value in owner.items.items() if name != key}
    moved = {key: owner.items[key]} if key in owner.items else {}
    run.heap.write(vars(owner), "items", {**others, **moved} if last else {**moved, **others})


def _updated(run: Run, owner: Mapping, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> None:
    write_container(run, owner, node)
    given = call_builtin(run, "dict", arguments, keywords, node)
    if isinstance(given, Mapping):
        run.heap.write(vars(owner), "items", {**owner.items, **given.items})
        if given.rest is not None:
            rest = given.rest if owner.rest is None else join(owner.rest, given.rest)
            run.heap.write(vars(owner), "rest", rest)


def _taken(run: Run, owner: Mapping, name: str, arguments: tuple[Value, ...], node: ast.AST) -> Value:
    """What `get`, `pop` and `setdefault` of a dict give."""
    first = arguments[0] if arguments else UNKNOWN
    default = arguments[1] if len(arguments) > 1 else Const(None)
    if name != "get":
        if owner.place is not None and not is_own_key(run, owner, first) and (name == "pop" or inputs_of((default,))):
            run.effects.read_content(owner.place)  # what an earlier call left there is what it gives
        write_container(run, owner, node, default)
    if isinstance(first, Const) and owner.rest is None:
        found = owner.items.get(first.value, default)
        if name == "pop":
            left = {key: value for key, value in owner.items.items() if key != first.value}
            run.heap.write(vars(owner), "items", left)
        elif name == "setdefault":
            run.heap.write(vars(owner), "items", {**owner.items, first.value: found})
        return found
    return join(element(owner), default)


_HOOKS = {"register_forward_pre_hook": "before", "register_forward_post_hook": "hooks"}


def _hooked(run: Run, owner: Instance | Layer, place: str, hook: Value) -> Value:
    """A hook is registered; what that gives can take it away again."""
    if run.now.undecided:
        hook = Union((hook, Const(None)))  # it may as well not be there
    run.heap.write(vars(owner), place, (*vars(owner)[place], hook))
    return Record({"remove": Partial(External(REMOVE_HOOK), (owner, hook), {})})


def unhooked(run: Run, owner: Value, hook: Value) -> Value:
    """A hook is taken away."""
    if isinstance(owner, (Instance, Layer)):
        for place in _HOOKS.values():
            run.heap.write(vars(owner), place, tuple(each for each in vars(owner)[place] if each is not hook))
    return Const(None)


def _taken_in(
    run: Run, owner: Instance, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
) -> Value:
    """A layer takes in a buffer, a sublayer or a parameter under a name, which may not be known."""
    every = (*arguments, *(value for key, value in keywords.items() if key != "name"))
    label = keywords.get("name", every[0])
    value = every[0] if "name" in keywords else every[min(1, len(every) - 1)]
    register(value)
    if isinstance(label, Const):
        set_attribute(run, owner, str(label.value), value, node)
    elif isinstance(value, Tensor) and value.origin == "eager":
        value.origin = "buffer"
    return value


def _layer_method(
    run: Run, owner: Instance, name: str, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
) -> Value:
    if name in ("create_parameter", "create_tensor", "create_variable"):
        made = apply_operator("create_parameter", arguments, keywords)
        if isinstance(made, Tensor):
            made.origin = "parameter" if name == "create_parameter" else "buffer"
        return made
    if name in ("register_buffer", "add_sublayer", "add_parameter") and len(arguments) + len(keywords) >= 2:
        return _taken_in(run, owner, arguments, keywords, node)
    if name == "__setattr__" and len(arguments) == 2 and isinstance(arguments[0], Const):
        set_attribute(run, owner, str(arguments[0].value), arguments[1], node)
        return Const(None)
    if name in _HOOKS and arguments:
        return _hooked(run, owner, _HOOKS[name], arguments[0])
    if name in ("train", "eval"):
        run.heap.write(owner.attributes, "training", Const(name == "train"))
        return owner
    if name in ("sublayers", "children", "parameters", "buffers"):
        return Sequence("list", (), UNKNOWN)
    if name in ("to", "apply", "float", "astype"):
        return owner
    return UNKNOWN


def _method(run: Run, method: Method, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
    owner, name = method.owner, method.name
    emit_call(run, node, f"{kind_of(owner)}.{name}", owner, arguments, keywords)
    return call_method(run, owner, name, arguments, keywords, node)


CALLERS = {Method: _method}

"""What methods of tensors, lists, dicts and layers do, on paper."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from exporter.check.domain.join import element, join
from exporter.check.domain.value_numbers import recorded
from exporter.check.domain.values import (
    UNKNOWN,
    Array,
    Const,
    External,
    Instance,
    Layer,
    Mapping,
    Partial,
    Record,
    Scalar,
    Sequence,
    Tensor,
    Value,
    inputs_of,
    register,
)
from exporter.check.models.builtins import call_builtin, compared_by_key
from exporter.check.models.dtypes import unchanged
from exporter.check.models.paddle import apply_operator

if TYPE_CHECKING:
    from exporter.check.interpret.calls import Calls

LAYER_METHODS = frozenset(
    "register_buffer create_parameter create_tensor create_variable add_sublayer add_parameter train eval sublayers "
    "named_sublayers children named_children parameters named_parameters buffers named_buffers apply state_dict "
    "set_state_dict load_dict to full_name extra_repr register_forward_pre_hook register_forward_post_hook float half "
    "clear_gradients set_dict bfloat16 astype __setattr__".split()
)
REMOVE_HOOK = "paddle hook.remove"
#: Methods of an array that give one number.
_TO_NUMBER = frozenset("mean sum max min std var prod item any all argmax argmin ptp dot trace".split())


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


def call_method(
    run: Calls, owner: Value, name: str, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
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
    run.consumed(arguments, keywords)
    if isinstance(owner, Array):
        return Array(scalar=owner.scalar or (name in _TO_NUMBER and not arguments and not keywords))
    return UNKNOWN


def _plain_layer_method(
    run: Calls, owner: Layer, name: str, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
) -> Value:
    if name in ("train", "eval"):
        run.store.write(vars(owner), "training", name == "train")
    if name in _HOOKS and arguments:
        return _hooked(run, owner, _HOOKS[name], arguments[0])
    return run.call(owner, arguments, keywords, node) if name == "forward" else UNKNOWN


def _tensor_method(
    run: Calls, owner: Tensor, name: str, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
) -> Value:
    if name in ("dim", "ndimension", "rank") and owner.closed:
        return Const(len(owner.sizes))
    if name in ("dim", "ndimension", "rank", "element_size", "is_floating_point", "is_contiguous"):
        return Scalar("int")
    if name == "item" and run.forward:
        return Tensor((), True, owner.inputs, boolean=owner.boolean, dtype=owner.dtype, recipe=("number", owner))
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
    value = recorded(apply_operator(name, (owner, *arguments), keywords), name, (owner, *arguments), keywords)
    in_place = name.endswith("_") and not name.endswith("__")
    if in_place or name in ("set_value", "copy_", "fill_"):
        run.tensor_written(owner, node)
        return owner
    return run.made_here(value, node) if isinstance(value, Tensor) else value


def _list_method(run: Calls, owner: Sequence, name: str, arguments: tuple[Value, ...], node: ast.AST) -> Value:
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
        run.consumed(arguments, {})
        return UNKNOWN
    return Const(None)


def _grown(run: Calls, owner: Sequence, name: str, arguments: tuple[Value, ...], node: ast.AST) -> None:
    """A list that takes in one more item, or several."""
    last = arguments[-1]
    items: tuple[Value, ...] = (last,)
    if name == "extend":
        known = isinstance(last, Sequence) and last.rest is None
        items = last.items if isinstance(last, Sequence) and known else (run.iterate(last, node, "extend"),)
    if owner.kind.startswith("paddle."):
        for each in items:
            register(each)
    first = name == "insert" and arguments[0] == Const(0) and owner.rest is None and not run.now.python_loops
    if first:
        run.note_container(owner, node)
        run.store.write(vars(owner), "items", (*items, *owner.items))
    else:
        if name == "append" and owner.place is not None:
            run.note_put_on(owner.place)
        run.grow(owner, items, node)


def _popped(run: Calls, owner: Sequence) -> Value | None:
    """The last item of a list, taken off; None where it is not known, or where this call did not put it there."""
    now = run.now
    if now.branches or now.undecided or now.loops or now.python_loops or owner.rest is not None or not owner.items:
        return None
    if owner.place is not None and not run.taken_off(owner.place):
        return None
    last = owner.items[-1]
    run.store.write(vars(owner), "items", owner.items[:-1])
    return last


def _shuffled(run: Calls, owner: Sequence, name: str, node: ast.AST) -> Value:
    """A list whose items are not known one by one any more."""
    if name == "clear" and owner.place is not None:
        run.note_emptied(owner.place)
    used = owner.place is not None and node not in run.dropped_values and not run.has_written(owner.place)
    run.note_container(owner, node)
    if used and owner.place is not None and name.startswith("pop"):
        run.note_looked_into(owner.place)  # what it gives lay there before the call
    value = element(owner)
    run.store.write(vars(owner), "rest", value if owner.items or owner.rest is not None else None)
    run.store.write(vars(owner), "items", ())
    return value if name.startswith("pop") else Const(None)


def keys_of(owner: Mapping) -> Sequence:
    """The keys of a dict, as walking through it gives them."""
    keys = tuple(Const(key) for key in owner.items)
    return Sequence("list", keys, Scalar("str") if owner.rest else None, owner.home, fixed=owner.fixed)


def _dict_method(
    run: Calls, owner: Mapping, name: str, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
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
        run.note_container(owner, node)
        run.store.write(vars(owner), "items", {})
    return UNKNOWN


def _moved(run: Calls, owner: Mapping, key: object, last: bool) -> None:
    """`OrderedDict.move_to_end`."""
    others = {name: value for name, value in owner.items.items() if name != key}
    moved = {key: owner.items[key]} if key in owner.items else {}
    run.store.write(vars(owner), "items", {**others, **moved} if last else {**moved, **others})


def _updated(
    run: Calls, owner: Mapping, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
) -> None:
    run.note_container(owner, node)
    given = call_builtin(run, "dict", arguments, keywords, node)
    if isinstance(given, Mapping):
        run.store.write(vars(owner), "items", {**owner.items, **given.items})
        if given.rest is not None:
            rest = given.rest if owner.rest is None else join(owner.rest, given.rest)
            run.store.write(vars(owner), "rest", rest)


def _taken(run: Calls, owner: Mapping, name: str, arguments: tuple[Value, ...], node: ast.AST) -> Value:
    """What `get`, `pop` and `setdefault` of a dict give."""
    first = arguments[0] if arguments else UNKNOWN
    default = arguments[1] if len(arguments) > 1 else Const(None)
    if name != "get":
        if owner.place is not None and not run.is_own_key(owner, first) and (name == "pop" or inputs_of((default,))):
            run.note_looked_into(owner.place)  # what an earlier call left there is what it gives
        run.note_container(owner, node, default)
    if isinstance(first, Const) and owner.rest is None:
        found = owner.items.get(first.value, default)
        if name == "pop":
            left = {key: value for key, value in owner.items.items() if key != first.value}
            run.store.write(vars(owner), "items", left)
        elif name == "setdefault":
            run.store.write(vars(owner), "items", {**owner.items, first.value: found})
        return found
    return join(element(owner), default)


_HOOKS = {"register_forward_pre_hook": "before", "register_forward_post_hook": "hooks"}


def _hooked(run: Calls, owner: Instance | Layer, place: str, hook: Value) -> Value:
    """A hook is registered; what that gives can take it away again."""
    run.store.write(vars(owner), place, (*vars(owner)[place], hook))
    return Record({"remove": Partial(External(REMOVE_HOOK), (owner, hook), {})})


def unhooked(run: Calls, owner: Value, hook: Value) -> Value:
    """A hook is taken away."""
    if isinstance(owner, (Instance, Layer)):
        for place in _HOOKS.values():
            run.store.write(vars(owner), place, tuple(each for each in vars(owner)[place] if each is not hook))
    return Const(None)


def _layer_method(
    run: Calls, owner: Instance, name: str, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
) -> Value:
    if name in ("create_parameter", "create_tensor", "create_variable"):
        made = apply_operator("create_parameter", arguments, keywords)
        if isinstance(made, Tensor):
            made.origin = "parameter" if name == "create_parameter" else "buffer"
        return made
    if name in ("register_buffer", "add_sublayer", "add_parameter") and len(arguments) + len(keywords) >= 2:
        every = (*arguments, *(value for key, value in keywords.items() if key != "name"))
        label = keywords.get("name", every[0])
        value = every[0] if "name" in keywords else every[min(1, len(every) - 1)]
        register(value)
        if isinstance(label, Const):
            run.set_attribute(owner, str(label.value), value, node)
        return value
    if name == "__setattr__" and len(arguments) == 2 and isinstance(arguments[0], Const):
        run.set_attribute(owner, str(arguments[0].value), arguments[1], node)
        return Const(None)
    if name in _HOOKS and arguments:
        return _hooked(run, owner, _HOOKS[name], arguments[0])
    if name in ("train", "eval"):
        run.store.write(owner.attributes, "training", Const(name == "train"))
        return owner
    if name in ("sublayers", "children", "parameters", "buffers"):
        return Sequence("list", (), UNKNOWN)
    if name in ("to", "apply", "float", "astype"):
        return owner
    return UNKNOWN

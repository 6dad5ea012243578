"""What happens while code runs, as facts and effects: calls, captures, strays, what is kept and what is lost."""

from __future__ import annotations

import ast
import copy

from exporter.check.domain.call import Call
from exporter.check.domain.contents import holds_weights
from exporter.check.domain.value_numbers import refuses_in_place
from exporter.check.domain.values import (
    UNKNOWN,
    Broken,
    Container,
    Function,
    Instance,
    Layer,
    Mapping,
    Tensor,
    Value,
    options,
)
from exporter.check.facts import Called, Captured, Clashed, Phase, Strayed
from exporter.check.source.def_use import read_later
from exporter.check.state.run import Run


def emit_call(run: Run, name: str, call: Call, owner: Value | None = None) -> None:
    """A call of something of a library is a fact, except at import."""
    kept = isinstance(owner, Container) and owner.place is not None and name in ("list.append", "list.extend")
    for each in call.arguments if name != "builtins.dict.fromkeys" and not kept else ():  # fromkeys reads keys alone
        read_content(run, each)  # what takes in more and is kept itself is read where its items are
    if run.now.phase is Phase.MODULE:
        return
    node = call.node
    fact = Called(run.site(node), name, owner, call.arguments, call.keywords, node in run.usage.dropped)
    run.facts.append(fact)
    if name.endswith("_") and run.forward:
        target = owner if owner is not None else (call.arguments[0] if call.arguments else None)
        names = [each for each, value in run.frame.names.items() if value is target]
        bound = run.usage.bound[1] if run.usage.bound[0] is node else ""
        fact.aliased = len(names) > 1 or any(each != bound and read_later(run.frame.node, each, node) for each in names)
        fact.shared = isinstance(target, Tensor) and refuses_in_place(target)


def is_own_key(run: Run, container: Mapping, index: Value) -> bool:
    """Whether this call has itself written that key."""
    return index in run.effects.of(container.place).keys


def read_content(run: Run, value: Value) -> None:
    """What is in a container that outlives the call was looked at."""
    if isinstance(value, Container) and value.place is not None:
        run.effects.read_content(value.place)


def from_container(run: Run, container: Container, value: Value, node: ast.AST) -> Value:
    """Something was taken out of a container: a tensor or a layer in it may be nobody's."""
    if run.forward and container.home.startswith("self."):
        astray = [each for one in (*container.known, value) for each in options(one) if _is_nobodys(each)]
        if astray:
            site = run.site(node)
            site.certain = site.certain and any(holds_weights(each, certain=True) for each in astray)
            run.facts.append(Strayed(site, container.home, isinstance(astray[0], Tensor)))
    return capture(run, value, node, "container")


def note_stray(run: Run, value: Value, node: ast.AST, home: str) -> None:
    """A layer that lives outside the model, in a global or a closure, is used by it."""
    if not run.forward or not isinstance(value, (Layer, Instance)):
        return
    running = any(value is next(iter(frame.names.values()), None) for frame in run.stack)
    if not running and _is_nobodys(value):
        run.note(Strayed, node, home, False)


def call_unseen(run: Run, function: Value, arguments: tuple[Value, ...], node: ast.AST) -> Value:
    """A call that Python or a library makes, which dy2static does not see and does not convert."""
    if isinstance(function, Function) and function.inline:
        return run.call(function, Call(node, arguments))
    came_from = (run.frame.module, node) if run.now.converted else run.now.called_from
    with run.circumstances(converted=False, called_from=came_from):
        return run.call(function, Call(node, arguments))


def call_handed_over(run: Run, function: Value, call: Call) -> Value:
    """A call by `partial`, `map` or `reduce`: stock Paddle does not convert what they call, and the exporter does."""
    here = None if getattr(function, "inline", False) else (run.frame.module, call.node)
    with run.circumstances(handed_over=run.now.handed_over or here):
        return run.call(function, call)


def _is_nobodys(value: Value) -> bool:
    """Whether this is a parameter, or a layer that may have some, which no layer has for its own."""
    if isinstance(value, Layer):
        return not value.registered and not value.weightless
    if isinstance(value, Instance):
        return value.cls.is_layer and value.persistent and not value.registered and holds_weights(value)
    return isinstance(value, Tensor) and value.origin == "parameter" and value.place is None


def snapshot(value: Value) -> Value:
    """A container as it is now, for a fact; it may be changed later."""
    return copy.copy(value) if isinstance(value, Container) else value


def made_here(run: Run, value: Tensor, node: ast.AST) -> Tensor:
    """A tensor computed outside the call of the model is one that the program does not know."""
    if not run.forward:
        value.origin, value.made = "eager", (run.frame.module, node)
    return value


def tensor_written(run: Run, tensor: Tensor, node: ast.AST) -> None:
    """A tensor is changed in place; a buffer keeps it for the next call."""
    if tensor.origin in ("buffer", "parameter", "eager"):
        run.effects.write(tensor.place or (id(tensor), ""), run.site(node), tensor.name or "a tensor", "buffer")


def write_container(run: Run, container: Container, node: ast.AST, value: Value = UNKNOWN) -> None:
    """A container is about to be changed, maybe by taking in a value."""
    if container.place is not None:
        run.effects.write(container.place, run.site(node), container.home, "container", value)


def read_broken(run: Run, value: Value, node: ast.AST) -> Value:
    """Reading a broken name is a fact; go on with what it most likely is."""
    if isinstance(value, Broken):
        if run.forward and run.now.converted:
            site = run.site(node)
            site.certain = site.certain and value.certain
            run.facts.append(Clashed(site, value, "branch"))
        return value.value
    return value


def clash(run: Run, reason: str, name: str, node: ast.AST, value: Value, form: str = "branch") -> None:
    """A tensor chose between two values that no program can hold in one place, if there is a reason why."""
    if reason and run.now.converted:
        run.note(Clashed, node, Broken(reason, name, run.frame.module, node, value), form)


def capture(run: Run, value: Value, node: ast.AST, by: str) -> Value:
    """A tensor made outside the trace and registered nowhere, used in it, is a fact; so is a parameter's default."""
    if isinstance(value, Tensor) and (by == "default" or value.origin == "eager"):  # one that forward itself has
        run.note(Captured, node, value, by)
    return value

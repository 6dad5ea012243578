"""Simple statements: assignments, definitions, returns, `with`."""

from __future__ import annotations

import ast
from copy import copy

from exporter.check.domain.join import element
from exporter.check.domain.values import UNKNOWN, Const, Instance, Mapping, Sequence, Tensor
from exporter.check.dy2static.returns import returns_something
from exporter.check.facts import Called, Left
from exporter.check.interpret.assign import assign
from exporter.check.interpret.events import call_unseen, write_container
from exporter.check.interpret.items import grow
from exporter.check.interpret.names import bind, define, imported_value
from exporter.check.interpret.operators import binary
from exporter.check.interpret.truth import asked
from exporter.check.source.syntax import exceptions, last_name
from exporter.check.state.frames import Result
from exporter.check.state.run import Run


def _expr(run: Run, node: ast.Expr) -> None:
    if isinstance(node.value, ast.Constant):
        return
    run.usage.dropped.add(node.value)
    if isinstance(node.value, ast.BoolOp):
        run.usage.tested.add(node.value)
        run.usage.dropped.update(node.value.values)
    run.evaluate(node.value)


def _assign(run: Run, node: ast.Assign) -> None:
    first = node.targets[0]
    run.usage.bound = (node.value, first.id if isinstance(first, ast.Name) else "")
    begin = len(run.facts)
    keys_alone = last_name(getattr(node.value, "func", first)) == "fromkeys"
    with run.effects.reaching() if keys_alone else run.effects.updating(first):
        value = run.evaluate(node.value)
    for target in node.targets:
        assign(run, target, value)
    if isinstance(node.value, ast.Call) and isinstance(first, ast.Name) and not isinstance(value, Tensor):
        _await_reading(run, first.id, node.value, begin)


def _await_reading(run: Run, name: str, call: ast.Call, begin: int) -> None:
    """A name was given what a call gave: nothing comes of it unless the name is read."""
    for fact in run.facts[begin:]:
        if isinstance(fact, Called) and fact.site.node is call:
            fact.unread = True
            run.awaited[id(run.frame.names), name] = fact


def _annassign(run: Run, node: ast.AnnAssign) -> None:
    if node.value is not None:
        assign(run, node.target, run.evaluate(node.value))


def _augassign(run: Run, node: ast.AugAssign) -> None:
    target = node.target
    current = copy(target)  # another node, so that rules do not take reading it for writing it
    current.ctx = ast.Load()
    with run.effects.updating(target):
        left, right = run.evaluate(current), run.evaluate(node.value)
    if isinstance(left, Sequence) and isinstance(target, ast.Name) and left.kind == "list":
        grow(run, left, (right.items if isinstance(right, Sequence) and right.rest is None else (UNKNOWN,)), node)
        return
    value = binary(run, left, type(node.op), right, node)
    assign(run, target, value)


def _global(run: Run, node: ast.Global) -> None:
    run.frame.globals |= {*node.names}


def _nonlocal(run: Run, node: ast.Nonlocal) -> None:
    run.frame.outer |= {*node.names}


def _functiondef(run: Run, node: ast.FunctionDef) -> None:
    bind(run, node.name, define(run, node), node)


def _classdef(run: Run, node: ast.ClassDef) -> None:
    bind(run, node.name, UNKNOWN, node)


def _import(run: Run, node: ast.Import | ast.ImportFrom) -> None:
    for alias in node.names:
        name = alias.asname or alias.name.partition(".")[0]
        bind(run, name, imported_value(run, node, name), node)


def _assert(run: Run, node: ast.Assert) -> None:
    asked(run, node.test, "assert", node)
    if node.msg is not None:
        with run.circumstances(quiet=True):
            run.evaluate(node.msg)


def _delete(run: Run, node: ast.Delete) -> None:
    for target in node.targets:
        if isinstance(target, (ast.Attribute, ast.Subscript)):
            container = run.evaluate(target.value)
            if isinstance(target, ast.Attribute) and isinstance(container, Instance) and container.persistent:
                place = (id(container.attributes), target.attr)
                run.effects.write(place, run.site(target), f"self.{target.attr}", "attribute")
            at = run.evaluate(target.slice) if isinstance(target, ast.Subscript) else UNKNOWN
            if isinstance(container, Mapping) and isinstance(at, Const):
                write_container(run, container, target)
                left = {key: value for key, value in container.items.items() if key != at.value}
                run.heap.change(container, items=left)


def _return(run: Run, node: ast.Return) -> bool:
    value = run.evaluate(node.value) if node.value is not None else Const(None)
    _leave(run, node)
    now, began = run.now, run.frame.began
    run.frame.returns.append(Result(node, value, now.branches > began.branches, now.undecided == began.undecided))
    return False


def _raise(run: Run, node: ast.Raise) -> bool:
    with run.circumstances(quiet=True):
        if node.exc is not None:
            run.evaluate(node.exc)
    _leave(run, node)
    return False


def _leave(run: Run, node: ast.stmt) -> None:
    now, form = run.now, type(node).__name__.lower()
    inside = now.branches > (now.loop_branches if form in ("break", "continue") else 0)
    if now.converted and inside and not now.undecided:
        loops = now.depth - run.frame.began.depth if form == "return" else 1
        if form == "return" and now.loop_kind == "python" and not returns_something(run.frame.node):
            return
        run.note(Left, node, form, now.loop_kind if loops else "")


def _with(run: Run, node: ast.With) -> bool:
    managers: list[Instance] = []
    for item in node.items:
        value = run.evaluate(item.context_expr)
        manager = value if isinstance(value, Instance) and value.cls.method("__enter__") else None
        if manager is not None:
            value = call_unseen(run, run.attribute(manager, "__enter__", node), (), item.context_expr)
            managers.append(manager)
        elif isinstance(value, Sequence) and value.kind == "generator":
            value = element(value)
        if item.optional_vars is not None:
            assign(run, item.optional_vars, value)
    calls = [item.context_expr for item in node.items if isinstance(item.context_expr, ast.Call)]
    kinds = [kind for call in calls if last_name(call.func) == "suppress" for kind in call.args]
    with run.circumstances(caught=run.now.caught.union(*map(exceptions, kinds))):
        alive = run.execute(node.body)
    for manager in reversed(managers):
        with run.effects.undoing():
            call_unseen(run, run.attribute(manager, "__exit__", node), (Const(None),) * 3, node)
    return alive


STATEMENTS = {
    ast.AnnAssign: _annassign,
    ast.Assert: _assert,
    ast.Assign: _assign,
    ast.AugAssign: _augassign,
    ast.Break: _leave,
    ast.ClassDef: _classdef,
    ast.Continue: _leave,
    ast.Delete: _delete,
    ast.Expr: _expr,
    ast.FunctionDef: _functiondef,
    ast.Global: _global,
    ast.Import: _import,
    ast.ImportFrom: _import,
    ast.Nonlocal: _nonlocal,
    ast.Raise: _raise,
    ast.Return: _return,
    ast.With: _with,
}

"""Branches: both sides of each that is not decided, and what they give together."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from exporter.check.domain.join import join, select
from exporter.check.domain.values import UNBOUND, UNKNOWN, Broken, Value, only_tensor
from exporter.check.dy2static.returns import first_return, uneven
from exporter.check.facts import Left
from exporter.check.interpret.events import clash
from exporter.check.interpret.truth import ask, asked, narrowed, truth_of
from exporter.check.source.def_use import asked_and_set
from exporter.check.source.syntax import exceptions, inside, of_kind
from exporter.check.state.heap import Changes, Held
from exporter.check.state.run import Run


def _if(run: Run, node: ast.If) -> bool:
    with Held(run.effects, guards=asked_and_set(node)):
        condition = asked(run, node.test, "if", node)
    known = truth_of(condition)
    if known is not None:
        return run.execute(node.body if known else node.orelse)
    tensor = only_tensor(condition) and run.now.converted
    if tensor:
        _returns(run, node)
    returns = len(run.frame.returns)
    one, alive_one = _side(run, node.test, node.body, True, tensor)
    other, alive_other = _side(run, node.test, node.orelse, False, tensor)
    if tensor:
        _attributes_born(run, node, {**other, **one})
    if alive_one and alive_other:
        _join(run, one, other, tensor)
    else:
        run.heap.apply(one if alive_one else other)
        if tensor:  # what follows is the other side of the branch
            run.now = run.now._replace(branches=run.now.branches + 1)
        elif len(run.frame.returns) > returns:  # and what a guard that raises lets through is the usual way
            run.now = run.now._replace(undecided=run.now.undecided + 1)
    return alive_one or alive_other


def _attributes_born(run: Run, node: ast.If, changes: Changes) -> None:
    """A branch of a tensor's reads what it sets before it does: an attribute that is not there yet is a fault."""
    made = {each.id for each in of_kind(node, ast.Name) if isinstance(each.ctx, ast.Store)}
    for (_, key), (where, value) in changes.items():
        at = run.memory.assigned_at(value) if isinstance(value, Value) and key not in where else None
        if run.forward and isinstance(at, ast.Attribute) and at in inside(node):
            if isinstance(at.value, ast.Name) and at.value.id in made:
                continue
            clash(run, "born", ast.unparse(at), at, value)


def _returns(run: Run, node: ast.If) -> None:
    """A branch of a tensor's that returns on some ways only is a fact."""
    around = run.frame.node
    if isinstance(around, ast.FunctionDef) and node in uneven(around) and not run.now.loop_kind:
        run.note(Left, first_return(node), "uneven", "")


def _side(run: Run, test: ast.expr, body: list[ast.stmt], positive: bool, tensor: bool) -> tuple[Changes, bool]:
    now = run.now
    deeper = {"branches": now.branches + 1} if tensor else {"undecided": now.undecided + 1}
    with run.circumstances(**deeper), narrowed(run, test, positive):
        run.heap.begin()
        try:
            alive = run.execute(body)
        finally:
            changes = run.heap.undo()
    return changes, alive


def _join(run: Run, one: Changes, other: Changes, tensor: bool) -> None:
    module = run.frame.module

    def how(key: str, before: Any, left: Any, right: Any) -> Any:
        if not isinstance(left, Value) or not isinstance(right, Value):  # content of a container
            return _join_content(run, key, before, left, right, tensor)
        if not tensor:
            return join(left, right)
        value, reason = select(left, right)
        changed = right if left is before else left
        node = run.memory.assigned_at(changed)
        if reason and node is not None and not isinstance(value, Broken):
            other = None if before in (left, right) else run.memory.assigned_at(right)
            return Broken(reason, key, module, node, value, other, not run.now.undecided)
        if isinstance(value, Broken) and value.other is None and node is not value.node:
            return replace(value, other=node)
        return value

    run.heap.merge(one, other, how)


def _join_content(run: Run, key: str, before: Any, left: Any, right: Any, tensor: bool) -> Any:
    """Two sides of a branch left different contents in one container."""
    if key == "grown_in_branch":
        return bool(left is True or right is True)
    if key == "items" and isinstance(left, dict) and isinstance(right, dict):
        if tensor and set(left) != set(right) and run.forward:
            at = run.frame.node or ast.Pass()
            alone = [each[key] for each in (left, right) for key in set(left) ^ set(right) if key in each]
            node = next((each for each in map(run.memory.assigned_at, alone) if each), at)
            clash(run, "dict", "a dict", node, UNKNOWN)
        return {**left, **right}
    if key == "items" and isinstance(left, tuple) and isinstance(right, tuple):
        return left if len(left) >= len(right) else right
    return left if right is before or right is UNBOUND else right


def _match(run: Run, node: ast.Match) -> bool:
    ask(run, run.evaluate(node.subject), "match", node)
    alive = True
    for case in node.cases:
        changes, _ = _side(run, node.subject, case.body, True, False)
        _join(run, changes, {}, False)
    return alive


def _try(run: Run, node: ast.Try) -> bool:
    with run.circumstances(caught=run.now.caught.union(*(exceptions(each.type) for each in node.handlers))):
        alive = run.execute(node.body)
    for handler in node.handlers:
        changes, alive_here = _side(run, ast.Constant(True), handler.body, True, False)
        if alive_here:
            _join(run, changes, {}, False)
            alive = True
    if alive:
        alive = run.execute(node.orelse)
    if not node.finalbody:
        return alive
    with run.effects.undoing():
        return run.execute(node.finalbody) and alive


STATEMENTS = {ast.If: _if, ast.Match: _match, ast.Try: _try}

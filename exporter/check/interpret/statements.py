"""Statements on paper: assignments, and both sides of every branch that is not decided."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from exporter.check.domain.join import element, join, select
from exporter.check.domain.values import (
    UNKNOWN,
    Attributes,
    Broken,
    Class,
    Const,
    Dim,
    Either,
    Instance,
    Layer,
    Mapping,
    Sequence,
    Shape,
    Tensor,
    Value,
    only_tensor,
    options,
)
from exporter.check.domain.views import still_needed
from exporter.check.dy2static.returns import first_return, uneven
from exporter.check.facts import Clashed, Left, Overwritten
from exporter.check.interpret.containers import another
from exporter.check.interpret.loops import Loops
from exporter.check.source.syntax import flag_set_for_good, inside, loaded, none_test
from exporter.check.state.heap import Changes
from exporter.check.state.machine import Result


class Interpreter(Loops):
    """Runs a model on paper. See :mod:`exporter.check.interpret.run_model` for how one begins."""

    def __init__(self) -> None:
        super().__init__()
        self._executors: dict[type, Callable[[Any], bool | None]] = {}

    def execute(self, body: list[ast.stmt]) -> bool:
        for statement in body:
            self.tick()
            kind = type(statement)
            method = self._executors.get(kind)
            if method is None:
                method = self._executors[kind] = getattr(self, f"do_{kind.__name__.lower()}", _nothing)
            if method(statement) is False:
                return False
        return True

    # ---------------------------------------------------------------------------------------------- simple statements

    def do_expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant):
            return
        self.dropped_values.add(node.value)
        if isinstance(node.value, ast.BoolOp):
            self.only_tested.add(node.value)
            self.dropped_values.update(node.value.values)
        self.evaluate(node.value)

    def do_assign(self, node: ast.Assign) -> None:
        first = node.targets[0]
        self.bound_to = (node.value, first.id if isinstance(first, ast.Name) else "")
        with self.updating(first):
            value = self.evaluate(node.value)
        for target in node.targets:
            self.assign(target, value)

    def do_annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.evaluate(node.value))

    def do_augassign(self, node: ast.AugAssign) -> None:
        target = node.target
        current = ast.copy_location(loaded(target), target)
        with self.updating(target):
            left, right = self.evaluate(current), self.evaluate(node.value)
        if isinstance(left, Sequence) and isinstance(target, ast.Name) and left.kind == "list":
            self.grow(left, (right.items if isinstance(right, Sequence) and right.rest is None else (UNKNOWN,)), node)
            return
        value = self.binary(left, type(node.op), right, node)
        self.assign(target, value)

    def do_global(self, node: ast.Global) -> None:
        self.frame.globals.update(node.names)

    def do_nonlocal(self, node: ast.Nonlocal) -> None:
        self.frame.outer.update(node.names)

    def do_functiondef(self, node: ast.FunctionDef) -> None:
        self.bind(node.name, self.function(node), node)

    def do_classdef(self, node: ast.ClassDef) -> None:
        self.bind(node.name, UNKNOWN, node)

    def do_import(self, node: ast.Import) -> None:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            self.bind(name, self.imported_value(node, name), node)

    def do_importfrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            name = alias.asname or alias.name
            self.bind(name, self.imported_value(node, name), node)

    def do_assert(self, node: ast.Assert) -> None:
        condition = self.condition(node.test)
        self.test(condition, "assert", node)
        if node.msg is not None:
            with self.circumstances(quiet=True):
                self.evaluate(node.msg)

    def do_delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            if isinstance(target, (ast.Attribute, ast.Subscript)):
                container = self.evaluate(target.value)
                if isinstance(target, ast.Attribute) and isinstance(container, Instance) and container.lasting:
                    place = (id(container.attributes), target.attr)
                    self.note_change(place, target, f"self.{target.attr}", "attribute")
                at = self.evaluate(target.slice) if isinstance(target, ast.Subscript) else UNKNOWN
                if isinstance(container, Mapping) and isinstance(at, Const):
                    self.note_container(container, target)
                    left = {key: value for key, value in container.items.items() if key != at.value}
                    self.store.write(vars(container), "items", left)

    def do_return(self, node: ast.Return) -> bool:
        value = self.evaluate(node.value) if node.value is not None else Const(None)
        self._leave(node, "return")
        now, frame = self.now, self.frame
        frame.returns.append(Result(node, value, now.branches > frame.branches, now.undecided == frame.undecided))
        return False

    def do_raise(self, node: ast.Raise) -> bool:
        with self.circumstances(quiet=True):
            if node.exc is not None:
                self.evaluate(node.exc)
        self._leave(node, "raise")
        return False

    def do_break(self, node: ast.Break) -> None:
        self._leave(node, "break")

    def do_continue(self, node: ast.Continue) -> None:
        self._leave(node, "continue")

    def _leave(self, node: ast.stmt, form: str) -> None:
        now = self.now
        inside = now.branches > (now.loop_branches if form in ("break", "continue") else 0)
        if self.forward and now.converted and inside and not now.undecided:
            loops = now.python_loops + now.loops - self.frame.loops if form == "return" else 1
            self.facts.append(Left(self.site(node), form, now.loop_kind if loops else ""))

    # ----------------------------------------------------------------------------------------------------- assignment

    def assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Name):
            self.bind(target.id, value, target)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, Sequence("list", (), value))
        elif isinstance(target, ast.Attribute):
            with self.weakly():
                owner = self.evaluate(target.value)
            self.set_attribute(owner, target.attr, value, target)
        elif isinstance(target, ast.Subscript):
            with self.weakly():
                container = self.evaluate(target.value)
            self._set_item(container, self.evaluate(target.slice), value, target)

    def _unpack(self, target: ast.Tuple | ast.List, value: Value) -> None:
        parts = target.elts
        starred = any(isinstance(part, ast.Starred) for part in parts)
        if isinstance(value, Sequence) and value.rest is None and len(value.items) == len(parts) and not starred:
            for part, item in zip(parts, value.items, strict=True):
                self.assign(part, self.from_container(value, item, target))
            return
        if isinstance(value, Shape) and not starred:
            for at, part in enumerate(parts):
                size = value.tensor.size(at)
                self.assign(part, Const(size) if isinstance(size, int) else Dim(size))
            return
        one = self.iterate(value, target, "star" if starred else "unpack")
        for part in parts:
            self.assign(part, another(one))

    def _set_item(self, container: Value, index: Value, value: Value, node: ast.Subscript) -> None:
        if isinstance(container, Mapping):
            self.note_container(container, node, value)
            items = dict(container.items)
            if isinstance(index, Const):
                if container.place is not None:
                    self.own_keys.add((*container.place, index))
                items[index.value] = value
                self._assigned[id(value)] = (value, node)
                self.store.write(vars(container), "items", items)
            else:
                rest = value if container.rest is None else join(container.rest, value)
                self.store.write(vars(container), "rest", rest)
        elif isinstance(container, Sequence):
            self.note_container(container, node)
            self.store.write(vars(container), "rest", join(element(container), value))
            self.store.write(vars(container), "items", ())
        elif isinstance(container, Attributes) and isinstance(index, Const):
            self.set_attribute(container.owner, str(index.value), value, node)
        elif isinstance(container, Tensor):
            self.tensor_written(container, node)
            shared = still_needed(container, self.frame.names, self.frame.node, node)
            if shared and self.forward:
                self.facts.append(Overwritten(self.site(node), shared))
            written = Tensor(container.sizes, container.closed, container.inputs)
            written.inputs |= value.inputs if isinstance(value, Tensor) else frozenset()
            if isinstance(node.value, ast.Name) and node.value.id in self.frame.names:
                self.bind(node.value.id, written, node)

    # ------------------------------------------------------------------------------------------------------- branches

    def do_if(self, node: ast.If) -> bool:
        self._flag = flag_set_for_good(node)
        if self._flag:
            with self.weakly():
                condition = self.condition(node.test)
        else:
            condition = self.condition(node.test)
        self._flag = ""
        self.test(condition, "if", node)
        known = self.truth(condition)
        if known is not None:
            return self.execute(node.body if known else node.orelse)
        tensor = only_tensor(condition) and self.now.converted
        if tensor:
            self._returns(node)
        one, alive_one = self._side(node.test, node.body, True, tensor)
        other, alive_other = self._side(node.test, node.orelse, False, tensor)
        if tensor:
            self._attributes_born(node, {**other, **one})
        if alive_one and alive_other:
            self._meet(one, other, tensor)
        else:
            self.store.apply(one if alive_one else other)
            if tensor:  # what follows is the other side of the branch
                self.now = replace(self.now, branches=self.now.branches + 1)
        return alive_one or alive_other

    def _attributes_born(self, node: ast.If, changes: Changes) -> None:
        """A branch of a tensor's reads what it sets before it does: an attribute that is not there yet is a fault."""
        for (_, key), (where, value) in changes.items():
            at = self.assigned_at(value) if isinstance(value, Value) and key not in where else None
            if self.forward and isinstance(at, ast.Attribute) and any(at is each for each in inside(node)):
                born = Broken("born", ast.unparse(at), self.frame.module, at, value)
                self.facts.append(Clashed(self.site(at), born, "branch"))

    def _returns(self, node: ast.If) -> None:
        """A branch of a tensor's that returns on some ways only is a fact."""
        around = self.frame.node
        if self.forward and isinstance(around, ast.FunctionDef) and node in uneven(around) and not self.now.loop_kind:
            self.facts.append(Left(self.site(first_return(node)), "uneven", ""))

    def _side(self, test: ast.expr, body: list[ast.stmt], positive: bool, tensor: bool) -> tuple[Changes, bool]:
        now = self.now
        deeper = {"branches": now.branches + 1} if tensor else {"undecided": now.undecided + 1}
        self.store.begin()
        try:
            with self.circumstances(**deeper), self.narrowed(test, positive):
                alive = self.execute(body)
        finally:
            changes = self.store.undo()
        return changes, alive

    def _meet(self, one: Changes, other: Changes, tensor: bool) -> None:
        module = self.frame.module

        def how(key: str, before: Any, left: Any, right: Any) -> Any:
            if not isinstance(left, Value) or not isinstance(right, Value):  # content of a container
                return self.meet_content(key, before, left, right, tensor)
            if not tensor:
                return join(left, right)
            value, reason = select(left, right)
            changed = right if left is before else left
            node = self.assigned_at(changed)
            if reason and node is not None and not isinstance(value, Broken):
                other = None if before in (left, right) else self.assigned_at(right)
                return Broken(reason, key, module, node, value, other)
            if isinstance(value, Broken) and value.other is None and node is not value.node:
                return replace(value, other=node)
            return value

        self.store.merge(one, other, how)

    @contextmanager
    def narrowed(self, test: ast.expr, positive: bool) -> Iterator[None]:
        """Inside the block, `x is None` and `x is not None` in the test are what they must be on this side."""
        name, none = none_test(test)
        value = self.frame.names.get(name) if name else None
        if value is None or not isinstance(value, (Either, Tensor)):
            yield
            return
        kept = [
            each for each in options(value) if (isinstance(each, Const) and each.value is None) is (none is positive)
        ]
        if len(kept) != 1 or kept[0] is value:
            yield
            return
        self.frame.names[name] = kept[0]
        try:
            yield
        finally:
            if self.frame.names.get(name) is kept[0]:
                self.frame.names[name] = value

    def do_match(self, node: ast.Match) -> bool:
        self.test(self.evaluate(node.subject), "match", node)
        alive = True
        for case in node.cases:
            changes, _ = self._side(node.subject, case.body, True, False)
            self._meet(changes, {}, False)
        return alive

    def do_try(self, node: ast.Try) -> bool:
        alive = self.execute(node.body)
        for handler in node.handlers:
            changes, alive_here = self._side(ast.Constant(True), handler.body, True, False)
            if alive_here:
                self._meet(changes, {}, False)
                alive = True
        if alive:
            alive = self.execute(node.orelse)
        if not node.finalbody:
            return alive
        with self.undoing():
            return self.execute(node.finalbody) and alive

    def do_with(self, node: ast.With) -> bool:
        managers: list[Instance] = []
        for item in node.items:
            value = self.evaluate(item.context_expr)
            manager = value if isinstance(value, Instance) and value.cls.method("__enter__") else None
            if manager is not None:
                value = self.call_unseen(self.attribute(manager, "__enter__", node), (), item.context_expr)
                managers.append(manager)
            elif isinstance(value, Sequence) and value.kind == "generator":
                value = element(value)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value)
        alive = self.execute(node.body)
        for manager in reversed(managers):
            with self.undoing():
                self.call_unseen(self.attribute(manager, "__exit__", node), (Const(None),) * 3, node)
        return alive


def _nothing(node: ast.AST) -> None:
    """A statement without an effect on paper, such as `pass`."""


__all__ = ["Class", "Instance", "Interpreter", "Layer"]

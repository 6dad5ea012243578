"""Assignments to names, attributes, items, and to several at once."""

from __future__ import annotations

import ast

from exporter.check.domain.join import fresh
from exporter.check.domain.values import Const, Dim, Sequence, Shape, Value
from exporter.check.facts import Iterated
from exporter.check.interpret.attributes import set_attribute
from exporter.check.interpret.events import from_container
from exporter.check.interpret.items import iterate, set_item
from exporter.check.interpret.names import bind
from exporter.check.state.run import Run


def assign(run: Run, target: ast.expr, value: Value) -> None:
    """Give a target a value, part by part where it has several."""
    if isinstance(target, ast.Name):
        bind(run, target.id, value, target)
    elif isinstance(target, (ast.Tuple, ast.List)):
        _unpack(run, target, value)
    elif isinstance(target, ast.Starred):
        assign(run, target.value, Sequence("list", (), value))
    elif isinstance(target, ast.Attribute):
        with run.effects.reaching():
            owner = run.evaluate(target.value)
        set_attribute(run, owner, target.attr, value, target)
    elif isinstance(target, ast.Subscript):
        with run.effects.reaching():
            container = run.evaluate(target.value)
        set_item(run, container, run.evaluate(target.slice), value, target)


def _unpack(run: Run, target: ast.Tuple | ast.List, value: Value) -> None:
    parts = target.elts
    starred = any(isinstance(part, ast.Starred) for part in parts)
    if isinstance(value, Sequence) and value.rest is None and len(value.items) == len(parts) and not starred:
        for part, item in zip(parts, value.items, strict=True):
            assign(run, part, from_container(run, value, item, target))
        return
    if isinstance(value, Shape) and not starred:
        run.note(Iterated, target, value, "unpack")
        for at, part in enumerate(parts):
            size = value.tensor.size(at)
            assign(run, part, Const(size) if isinstance(size, int) else Dim(size))
        return
    one = iterate(run, value, target, "star" if starred else "unpack")
    for part in parts:
        assign(run, part, fresh(one))

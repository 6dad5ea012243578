"""Comprehensions: one turn for all items, or item by item where few are known."""

from __future__ import annotations

import ast
from collections.abc import Callable

from exporter.check.domain.contents import summarize
from exporter.check.domain.join import element, fresh
from exporter.check.domain.values import UNKNOWN, Const, Mapping, Sequence, Value, options
from exporter.check.interpret.assign import assign
from exporter.check.interpret.items import iterate
from exporter.check.interpret.truth import asked
from exporter.check.source.syntax import none_test
from exporter.check.state.heap import Held
from exporter.check.state.run import Run

_FEW = 16
_KINDS: dict[type[ast.expr], str] = {ast.ListComp: "list", ast.SetComp: "set", ast.GeneratorExp: "generator"}


def _collected(run: Run, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
    return _comprehension(run, _KINDS[type(node)], node.generators, node.elt)


def _dictcomp(run: Run, node: ast.DictComp) -> Value:
    known = _known_keys(run, node)
    if known is not None:
        return known
    content = _comprehension(run, "list", node.generators, ast.Tuple([node.key, node.value], ast.Load()))
    pair = element(content) if isinstance(content, Sequence) else UNKNOWN
    return Mapping({}, pair.items[1] if isinstance(pair, Sequence) and len(pair.items) == 2 else UNKNOWN)


def _known_keys(run: Run, node: ast.DictComp) -> Mapping | None:
    """A dict made from a few items that are known, one by one; None if they are not."""
    one = node.generators[0]
    with _own_scope(run):
        source = run.evaluate(one.iter)
        items = source.listed or ()
        if not 0 < len(items) <= _FEW or len(node.generators) > 1 or one.ifs:
            return None
        iterate(run, source, one.iter, "comprehension")
        made = Mapping()
        for item in items:
            assign(run, one.target, item)
            key, value = run.evaluate(node.key), run.evaluate(node.value)
            if not isinstance(key, Const):
                return None
            made.items[key.value] = value
        return made


def _own_scope(run: Run) -> Held:
    """Inside the block, names are bound that nothing around it sees."""
    return Held(run.frame, names={}, scopes=(run.frame.names, *run.frame.scopes))


def _comprehension(run: Run, kind: str, generators: list[ast.comprehension], result: ast.expr) -> Value:
    if len(generators) == 1 and (kept := _filtered(run, generators[0], result)) is not None:
        return Sequence(kind, kept)
    length: int | None = 1
    with _own_scope(run), run.circumstances(python_loops=run.now.python_loops + 1):
        for generator in generators:
            source = run.evaluate(generator.iter)
            if isinstance(source, Sequence) and not source.items and source.settled:
                return Sequence(kind)
            known = None if generator.ifs else source.listed
            length = length * len(known) if length is not None and known is not None else None
            assign(run, generator.target, iterate(run, source, generator.iter, "comprehension"))
            for condition in generator.ifs:
                asked(run, condition, "filter", condition)
        value = run.evaluate(result)
    if length != 1:
        summarize(value)
    made = run.now.branches + run.now.loops
    if length is not None and 0 < length <= 8 and kind != "generator":
        return Sequence(kind, (value, *(fresh(value) for _ in range(length - 1))), made=made)
    return Sequence(kind, (), value, made=made)


def _filtered(run: Run, generator: ast.comprehension, result: ast.expr) -> tuple[Value, ...] | None:
    """The items of a list that is written there which `v for v in [...] if v is not None` keeps; None if not known."""
    target, source = generator.target, generator.iter
    names = {none_test(condition) for condition in generator.ifs}
    if not (
        isinstance(target, ast.Name) and isinstance(result, ast.Name) and isinstance(source, (ast.List, ast.Tuple))
    ):
        return None
    if names != {(target.id, False)} or result.id != target.id:
        return None
    items = [run.evaluate(item) for item in source.elts]
    if any(type(item) is Value or len(options(item)) > 1 or getattr(item, "guessed", False) for item in items):
        return None
    return tuple(item for item in items if item != Const(None))


EXPRESSIONS: dict[type[ast.expr], Callable[..., Value]] = {ast.DictComp: _dictcomp, **dict.fromkeys(_KINDS, _collected)}

"""Displays, texts, and the arguments of calls."""

from __future__ import annotations

import ast
from collections.abc import Callable

from exporter.check.domain.call import Call
from exporter.check.domain.join import join_all, rest_with
from exporter.check.domain.values import UNKNOWN, Const, External, Mapping, Scalar, Sequence, Value
from exporter.check.interpret.events import emit_call
from exporter.check.interpret.items import iterate
from exporter.check.interpret.names import bind, define
from exporter.check.source.def_use import MUTATORS
from exporter.check.state.run import Run

#: Methods of a tensor that do not look at what it held.
_OVERWRITERS = frozenset("set_value copy_ fill_ zero_ uniform_ normal_ exponential_ geometric_ cauchy_".split())


def _joinedstr(run: Run, node: ast.JoinedStr) -> Value:
    parts = [run.evaluate(part) for part in node.values]
    if all(isinstance(part, Const) for part in parts):
        return Const("".join(str(part.value) for part in parts if isinstance(part, Const)))
    return Scalar("str")


def _formattedvalue(run: Run, node: ast.FormattedValue) -> Value:
    value = run.evaluate(node.value)
    emit_call(run, "builtins.str", Call(node, (value,)))
    return value if isinstance(value, Const) and node.format_spec is None else Scalar("str")


def _display(run: Run, node: ast.List | ast.Set | ast.Tuple) -> Value:
    kind, rest = type(node).__name__.lower(), None
    items: list[Value] = []
    for part in node.elts:
        value = run.evaluate(part)
        if not isinstance(part, ast.Starred):
            items.append(value)
        elif value.listed is not None:
            items += value.listed
        else:
            rest = iterate(run, value, part, "star")
    made = run.now.branches + run.now.loops
    return Sequence(kind, () if rest else tuple(items), rest and join_all([rest, *items]), made=made)


def _dict(run: Run, node: ast.Dict) -> Value:
    found = Mapping()
    for key, value in zip(node.keys, node.values, strict=True):
        content = run.evaluate(value)
        name = run.evaluate(key) if key is not None else UNKNOWN
        if isinstance(name, Const) and not isinstance(name.value, (list, dict)):
            found.items[name.value] = content
        elif key is None and isinstance(content, Mapping):
            found.items.update(content.items)
            found.rest = content.rest or found.rest
        else:
            found.rest = rest_with(found, content)
    return found


def _namedexpr(run: Run, node: ast.NamedExpr) -> Value:
    value = run.evaluate(node.value)
    bind(run, node.target.id, value, node)
    return value


def _yield(run: Run, node: ast.Yield) -> Value:
    run.frame.yields.append(run.evaluate(node.value) if node.value else Const(None))
    return UNKNOWN


def _yieldfrom(run: Run, node: ast.YieldFrom) -> Value:
    run.frame.yields.append(iterate(run, run.evaluate(node.value), node, "yield from"))
    return UNKNOWN


def _slice(run: Run, node: ast.Slice) -> Value:
    parts = (node.lower, node.upper, node.step)
    return Sequence("slice", tuple(Const(None) if part is None else run.evaluate(part) for part in parts))


def _call(run: Run, node: ast.Call) -> Value:
    weak = isinstance(node.func, ast.Attribute) and (node.func.attr in MUTATORS or node.func.attr in _OVERWRITERS)
    if weak:
        with run.effects.reaching():
            function = run.evaluate(node.func)
    else:
        function = run.evaluate(node.func)
    quiet = isinstance(function, External) and (
        function.name in ("builtins.print", "warnings.warn") or function.name.startswith("logging.")
    )
    quiet = quiet or (isinstance(node.func, ast.Attribute) and _logs(node.func))
    if quiet and not run.now.quiet:
        with run.circumstances(quiet=True):
            return run.call(function, _arguments(run, node))
    return run.call(function, _arguments(run, node))


def _arguments(run: Run, node: ast.Call) -> Call:
    positional: list[Value] = []
    for argument in node.args:
        value = run.evaluate(argument)
        if not isinstance(argument, ast.Starred):
            positional.append(value)
        elif value.listed is not None:
            positional += value.listed
        else:
            positional.append(iterate(run, value, argument, "star"))
    keywords: dict[str, Value] = {}
    for keyword in node.keywords:
        value = run.evaluate(keyword.value)
        if keyword.arg is not None:
            keywords[keyword.arg] = value
        elif isinstance(value, Mapping):
            keywords.update({str(key): each for key, each in value.items.items()})
    return Call(node, tuple(positional), keywords)


def _logs(node: ast.Attribute) -> bool:
    if node.attr not in ("debug", "info", "warning", "error", "exception"):
        return False
    return isinstance(node.value, ast.Name) and node.value.id in ("logger", "logging", "log")


EXPRESSIONS: dict[type[ast.expr], Callable[..., Value]] = {
    ast.Call: _call,
    ast.Constant: lambda run, node: Const(node.value),
    ast.Dict: _dict,
    ast.FormattedValue: _formattedvalue,
    ast.JoinedStr: _joinedstr,
    ast.Lambda: define,
    ast.NamedExpr: _namedexpr,
    ast.Slice: _slice,
    ast.Yield: _yield,
    ast.YieldFrom: _yieldfrom,
    **dict.fromkeys((ast.Await, ast.Starred), lambda run, node: run.evaluate(node.value)),
    **dict.fromkeys((ast.List, ast.Set, ast.Tuple), _display),
}

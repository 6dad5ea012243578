"""Expressions on paper: names, displays and the arguments of calls."""

from __future__ import annotations

import ast
from collections.abc import Callable

from exporter.check.domain.join import join
from exporter.check.domain.values import (
    UNKNOWN,
    Const,
    External,
    Mapping,
    Scalar,
    Sequence,
    Value,
)
from exporter.check.interpret.containers import Containers
from exporter.check.source.project import ClassInfo
from exporter.check.source.syntax import MUTATORS

#: Methods of a tensor that do not look at what it held.
_OVERWRITERS = frozenset("set_value copy_ fill_ zero_ uniform_ normal_ exponential_ geometric_ cauchy_".split())


class Expressions(Containers):
    """Evaluation of an expression; calls themselves are in :mod:`exporter.check.interpret.calls`."""

    _at_home: Callable[..., Value]  # of :class:`exporter.check.interpret.objects.Objects`

    def evaluate(self, node: ast.expr) -> Value:
        self.tick()
        kind = type(node)
        method = self._evaluators.get(kind)
        if method is None:
            method = self._evaluators[kind] = getattr(self, f"on_{kind.__name__.lower()}", _unknown)
        return method(node)

    def on_constant(self, node: ast.Constant) -> Value:
        return Const(node.value)

    def on_name(self, node: ast.Name) -> Value:
        name = node.id
        if name in self.frame.globals:
            return self._global(node)
        if name in self.frame.names:
            return self.settle(self.frame.names[name], node)
        for scope in self.frame.scopes:
            if name in scope:
                if getattr(scope, "lasting", False):
                    self.note_read((id(scope), name))
                    self._at_home(scope[name], f"closure {name}", (id(scope), name))
                    self.note_stray(scope[name], node, "a closure")
                return self.capture(self.settle(scope[name], node), node, "closure")
        return self._global(node)

    def _global(self, node: ast.Name) -> Value:
        module = self.frame.module
        if node.id in module.bound:
            self.note_read((id(module.globals), node.id))
        value = self.settle(self.global_value(module, node.id), node)
        self.note_stray(value, node, f"global {node.id}")
        return self.capture(value, node, "global")

    def on_joinedstr(self, node: ast.JoinedStr) -> Value:
        parts = [self.evaluate(part) for part in node.values]
        if all(isinstance(part, Const) for part in parts):
            return Const("".join(str(part.value) for part in parts if isinstance(part, Const)))
        return Scalar("str")

    def on_formattedvalue(self, node: ast.FormattedValue) -> Value:
        value = self.evaluate(node.value)
        self.emit_call(node, "builtins.str", None, (value,), {})
        return value if isinstance(value, Const) and node.format_spec is None else Scalar("str")

    def on_list(self, node: ast.List) -> Value:
        return self._display("list", node.elts)

    def on_tuple(self, node: ast.Tuple) -> Value:
        return self._display("tuple", node.elts)

    def on_set(self, node: ast.Set) -> Value:
        return self._display("set", node.elts)

    def _display(self, kind: str, nodes: list[ast.expr]) -> Value:
        items: list[Value] = []
        rest: Value | None = None
        for node in nodes:
            if isinstance(node, ast.Starred):
                inner = self.evaluate(node.value)
                if isinstance(inner, Sequence) and inner.rest is None:
                    items += inner.items
                else:
                    rest = self.iterate(inner, node, "star")
            else:
                items.append(self.evaluate(node))
        if rest is not None:
            for item in items:
                rest = join(rest, item)
            return Sequence(kind, (), rest)
        return Sequence(kind, tuple(items))

    def on_dict(self, node: ast.Dict) -> Value:
        found = Mapping()
        for key, value in zip(node.keys, node.values, strict=True):
            content = self.evaluate(value)
            name = self.evaluate(key) if key is not None else UNKNOWN
            if isinstance(name, Const) and not isinstance(name.value, (list, dict)):
                found.items[name.value] = content
            elif key is None and isinstance(content, Mapping):
                found.items.update(content.items)
                found.rest = content.rest or found.rest
            else:
                found.rest = content if found.rest is None else join(found.rest, content)
        return found

    def on_starred(self, node: ast.Starred) -> Value:
        return self.evaluate(node.value)

    def on_namedexpr(self, node: ast.NamedExpr) -> Value:
        value = self.evaluate(node.value)
        self.bind(node.target.id, value, node)
        return value

    def on_lambda(self, node: ast.Lambda) -> Value:
        return self.function(node)

    def on_await(self, node: ast.Await) -> Value:
        return self.evaluate(node.value)

    def on_yield(self, node: ast.Yield) -> Value:
        self.frame.yields.append(self.evaluate(node.value) if node.value else Const(None))
        return UNKNOWN

    def on_yieldfrom(self, node: ast.YieldFrom) -> Value:
        self.frame.yields.append(self.iterate(self.evaluate(node.value), node, "yield from"))
        return UNKNOWN

    def on_slice(self, node: ast.Slice) -> Value:
        parts = (node.lower, node.upper, node.step)
        return Sequence("slice", tuple(Const(None) if part is None else self.evaluate(part) for part in parts))

    def on_call(self, node: ast.Call) -> Value:
        weak = isinstance(node.func, ast.Attribute) and (node.func.attr in MUTATORS or node.func.attr in _OVERWRITERS)
        if weak:
            with self.weakly():
                function = self.evaluate(node.func)
        else:
            function = self.evaluate(node.func)
        quiet = isinstance(function, External) and (
            function.name in ("builtins.print", "warnings.warn") or function.name.startswith("logging.")
        )
        quiet = quiet or (isinstance(node.func, ast.Attribute) and _logs(node.func))
        if quiet and not self.now.quiet:
            with self.circumstances(quiet=True):
                return self.call(function, *self._arguments(node), node)
        return self.call(function, *self._arguments(node), node)

    def _arguments(self, node: ast.Call) -> tuple[tuple[Value, ...], dict[str, Value]]:
        positional: list[Value] = []
        for argument in node.args:
            value = self.evaluate(argument)
            if not isinstance(argument, ast.Starred):
                positional.append(value)
            elif isinstance(value, Sequence) and value.rest is None:
                positional += value.items
            else:
                positional.append(self.iterate(value, argument, "star"))
        keywords: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.evaluate(keyword.value)
            if keyword.arg is not None:
                keywords[keyword.arg] = value
            elif isinstance(value, Mapping):
                keywords.update({str(key): each for key, each in value.items.items()})
        return tuple(positional), keywords


def _unknown(node: ast.AST) -> Value:
    """What comes of syntax that nothing is known of."""
    return UNKNOWN


def _logs(node: ast.Attribute) -> bool:
    base = node.value.id if isinstance(node.value, ast.Name) else ""
    return base in ("logger", "logging", "log") and node.attr in ("debug", "info", "warning", "error", "exception")


__all__ = ["ClassInfo", "Expressions"]

"""Expressions on paper: what each gives, and the facts on the way."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any

from exporter.check.facts import Asked, Called, Indexed, Iterated, Operated, Phase, Tested
from exporter.check.machine import Machine
from exporter.check.module import ClassInfo
from exporter.check.paddle_api import operate, take
from exporter.check.values import (
    UNBOUND,
    UNKNOWN,
    Array,
    Class,
    Const,
    Dim,
    Either,
    Extent,
    External,
    Function,
    Instance,
    Layer,
    Mapping,
    Method,
    Scalar,
    Sequence,
    Shape,
    Super,
    Tensor,
    Value,
    element,
    inputs_of,
    join,
    only_tensor,
    options,
    select,
)

_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
#: Attributes of a tensor that give no tensor.
_PLAIN_ATTRIBUTES = frozenset("dtype ndim name place stop_gradient persistable is_leaf type layout trainable".split())
_MUTATORS = frozenset(
    "append extend insert pop remove clear add update setdefault popleft appendleft popitem reverse sort discard".split()
)
#: What a tensor has no method for, so that something only guessed to be one is not.
_NOT_OF_TENSORS = frozenset("append extend items keys values get pop update setdefault copy format join".split())
_BIG = 1 << 40


class Expressions(Machine):
    """Evaluation of expressions; calls are in :mod:`exporter.check.calls`."""

    def __init__(self) -> None:
        super().__init__()
        self._evaluators: dict[type, Callable[[Any], Value]] = {}
        self.sunk: frozenset[str] = frozenset()
        self.used_values: set[ast.AST] = set()
        self.dropped_values: set[ast.AST] = set()

    def evaluate(self, node: ast.expr) -> Value:
        self.tick()
        kind = type(node)
        method = self._evaluators.get(kind)
        if method is None:
            method = self._evaluators[kind] = getattr(self, f"on_{kind.__name__.lower()}", _unknown)
        return method(node)

    # ------------------------------------------------------------------------------------------------ names and leaves

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
                return self.capture(self.settle(scope[name], node), node, "closure")
        return self._global(node)

    def _global(self, node: ast.Name) -> Value:
        module = self.frame.module
        if node.id in module.bound:
            self.note_read((id(module.globals), node.id))
        return self.capture(self.settle(self.global_value(module, node.id), node), node, "global")

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
        bounds = [self.evaluate(part) for part in (node.lower, node.upper, node.step) if part is not None]
        return Sequence("slice", tuple(bounds))

    def on_call(self, node: ast.Call) -> Value:
        weak = isinstance(node.func, ast.Attribute) and (
            node.func.attr in _MUTATORS or node.func.attr.endswith("_") or node.func.attr == "set_value"
        )
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

    # ----------------------------------------------------------------------------------------------------- attributes

    def on_attribute(self, node: ast.Attribute) -> Value:
        return self.attribute(self.evaluate(node.value), node.attr, node)

    def attribute(self, owner: Value, name: str, node: ast.AST) -> Value:
        """What an attribute of a value is."""
        if isinstance(owner, Instance):
            return self.instance_attribute(owner, name, node)
        if isinstance(owner, Tensor):
            return self._tensor_attribute(owner, name, node)
        if isinstance(owner, External):
            return self.external_attribute(owner, name)
        if isinstance(owner, Class):
            return self.class_attribute(owner, name, node)
        if isinstance(owner, Super):
            return self.super_attribute(owner, name)
        if isinstance(owner, Layer):
            if name == "training":
                return Const(owner.training)
            tensor = name in ("weight", "bias") or name.startswith("_m")
            return Tensor(origin="parameter", name=name) if tensor else Method(owner, name)
        if isinstance(owner, Either):
            found = [self.attribute(each, name, node) for each in owner.options if not isinstance(each, Const)]
            result = found[0] if found else UNKNOWN
            for each in found[1:]:
                result = join(result, each)
            return result
        if isinstance(owner, (Sequence, Mapping, Const, Scalar, Shape, Array, Dim)):
            return Method(owner, name)
        return UNKNOWN

    def _tensor_attribute(self, owner: Tensor, name: str, node: ast.AST) -> Value:
        if name == "shape":
            return Shape(owner)
        if self.forward:
            self.facts.append(Asked(self.site(node), owner, name))
        if name == "size":
            return Method(owner, "numel")
        if name in _PLAIN_ATTRIBUTES:
            return Scalar("attribute")
        if name in ("T", "grad", "data", "real", "imag", "mT"):
            return Tensor(inputs=owner.inputs)
        if owner.guessed and name in _NOT_OF_TENSORS:
            return UNKNOWN
        return Method(owner, name)

    def on_subscript(self, node: ast.Subscript) -> Value:
        container = self.evaluate(node.value)
        index = self.evaluate(node.slice)
        if self.forward:
            self.facts.append(Indexed(self.site(node), container, index))
        return self.item(container, index, node)

    def item(self, container: Value, index: Value, node: ast.AST) -> Value:
        """What indexing gives."""
        if isinstance(container, Shape):
            return self._shape_item(container, index)
        if isinstance(container, Tensor):
            if container.guessed:
                return self._guessed_item(container, index)
            parts = index.items if isinstance(index, Sequence) and index.kind == "tuple" else None
            return take(container, index, parts)
        if isinstance(container, Sequence):
            return self._sequence_item(container, index, node)
        if isinstance(container, Mapping):
            if isinstance(index, Const) and index.value in container.items:
                return self.capture(container.items[index.value], node, "container")
            return self.capture(element(container), node, "container")
        if isinstance(container, Either):
            found = [self.item(each, index, node) for each in container.options if not isinstance(each, Const)]
            result = found[0] if found else UNKNOWN
            for each in found[1:]:
                result = join(result, each)
            return result
        return Array() if isinstance(container, Array) else UNKNOWN

    def _guessed_item(self, container: Tensor, index: Value) -> Value:
        if isinstance(index, Sequence) or isinstance(index, Tensor):
            return take(
                container, index, index.items if isinstance(index, Sequence) and index.kind == "tuple" else None
            )
        if isinstance(index, Const) and isinstance(index.value, str):
            return Tensor((Extent.DYNAMIC,), False, container.inputs, guessed=True)
        return Tensor((), False, container.inputs, guessed=True)

    def _shape_item(self, shape: Shape, index: Value) -> Value:
        tensor = shape.tensor
        if isinstance(index, Const) and isinstance(index.value, int):
            size = tensor.size(index.value)
            if isinstance(size, int):
                return Const(size)
            return Dim(Extent.UNKNOWN if tensor.guessed and tensor.origin != "input" else size)
        if isinstance(index, Sequence) and index.kind == "slice":
            return Shape(tensor) if not index.items else Sequence("list", (), Dim(Extent.UNKNOWN))
        return Dim(Extent.UNKNOWN)

    def _sequence_item(self, container: Sequence, index: Value, node: ast.AST) -> Value:
        if isinstance(index, Sequence) and index.kind == "slice":
            return Sequence(container.kind, (), element(container)) if container.items or container.rest else container
        if isinstance(index, Const) and isinstance(index.value, int) and container.rest is None:
            if -len(container.items) <= index.value < len(container.items):
                return self.capture(container.items[index.value], node, "container")
        return self.capture(element(container), node, "container")

    # ------------------------------------------------------------------------------------------------------ operators

    def on_binop(self, node: ast.BinOp) -> Value:
        return self.binary(self.evaluate(node.left), type(node.op), self.evaluate(node.right), node)

    def binary(self, left: Value, kind: type, right: Value, node: ast.AST) -> Value:
        """What an arithmetic operator gives."""
        if isinstance(left, Const) and isinstance(right, Const):
            return _compute(kind, left, right)
        if self.forward:
            self.facts.append(Operated(self.site(node), kind.__name__, left, right))
        pair = (left, right)
        if any(isinstance(each, Tensor) for each in pair):
            return operate(left, right)
        if any(isinstance(each, Dim) for each in pair):
            sizes = [each.size if isinstance(each, Dim) else 0 for each in pair]
            sequence = next((each for each in pair if isinstance(each, (Sequence, Shape))), None)
            if sequence is not None:
                return Sequence("list", (), element(sequence)) if isinstance(sequence, Sequence) else UNKNOWN
            return Dim(Extent.DYNAMIC if Extent.DYNAMIC in sizes else Extent.UNKNOWN, inputs_of(pair))
        if any(isinstance(each, Array) for each in pair):
            return Array()
        sequences = [each for each in pair if isinstance(each, (Sequence, Shape))]
        if sequences:
            return self._repeated(left, kind, right)
        return Scalar("number") if all(isinstance(each, (Const, Scalar)) for each in pair) else UNKNOWN

    def _repeated(self, left: Value, kind: type, right: Value) -> Value:
        if isinstance(left, Sequence) and isinstance(right, Sequence) and kind is ast.Add:
            if left.rest is None and right.rest is None:
                return Sequence(left.kind, (*left.items, *right.items))
            return Sequence(left.kind, (), join(element(left), element(right)))
        single = left if isinstance(left, Sequence) else right
        if isinstance(single, Sequence):
            return Sequence(single.kind, (), element(single))
        return Sequence("list", (), Dim(Extent.UNKNOWN))

    def on_unaryop(self, node: ast.UnaryOp) -> Value:
        value = self.evaluate(node.operand)
        if isinstance(node.op, ast.Not):
            self.test(value, "not", node)
            if only_tensor(value):
                return Tensor((), True, inputs_of((value,)), boolean=True)
            known = self.truth(value)
            return Scalar("bool") if known is None else Const(not known)
        if isinstance(value, Const) and isinstance(value.value, (int, float)):
            return Const(-value.value if isinstance(node.op, ast.USub) else value.value)
        if isinstance(value, Tensor):
            return Tensor(value.sizes, value.closed, value.inputs, boolean=isinstance(node.op, ast.Invert))
        return value

    def on_boolop(self, node: ast.BoolOp) -> Value:
        form = "and" if isinstance(node.op, ast.And) else "or"
        value = self.evaluate(node.values[0])
        seen: list[Value] = [value]
        for right in node.values[1:]:
            known = self.truth(value)
            if known is not None:
                if known is (form == "or"):
                    return value if len(seen) == 1 else join(seen[-2], value)
                value = self.evaluate(right)
            elif only_tensor(value):
                self.facts.append(Tested(self.site(node), value, form, right, node in self.used_values))
                with self.circumstances(guard=node if self.now.converted else self.now.guard):
                    value = self.evaluate(right)
                value = Tensor((), True, inputs_of((*seen, value)), boolean=True)
            else:
                with self.narrowed(node.values[0], form == "and"), self.circumstances(undecided=self.now.undecided + 1):
                    value = join(value, self.evaluate(right))
            seen.append(value)
        return value

    def on_compare(self, node: ast.Compare) -> Value:
        identity = isinstance(node.ops[0], (ast.Is, ast.IsNot))
        if identity:
            with self.weakly():
                values = [self.evaluate(node.left)]
        else:
            values = [self.evaluate(node.left)]
        values += [self.evaluate(each) for each in node.comparators]
        if identity:
            return self._identity(values[0], values[1], isinstance(node.ops[0], ast.Is))
        kind = type(node.ops[0])
        if len(node.ops) == 1 and all(isinstance(each, Const) for each in values) and kind in _OPERATORS:
            return _compute(kind, *(each for each in values if isinstance(each, Const)))
        if self.forward:
            self.facts.append(Operated(self.site(node), kind.__name__, values[0], values[1]))
        if len(node.ops) > 1 and any(only_tensor(each) for each in values[:2]):
            self.test(operate(values[0], values[1], True), "chain", node)
        if kind in (ast.In, ast.NotIn):
            return Scalar("bool")
        if any(isinstance(each, Tensor) or only_tensor(each) for each in values):
            certain = any(only_tensor(each) for each in values)
            return Tensor(operate(values[0], values[1]).sizes, certain, inputs_of(values), boolean=True)
        return Scalar("bool")

    def _identity(self, left: Value, right: Value, positive: bool) -> Value:
        if isinstance(right, Const) and right.value is None:
            possible = {isinstance(each, Const) and each.value is None for each in options(left)}
            unknown = any(type(each) is Value or (isinstance(each, Tensor) and each.guessed) for each in options(left))
            if len(possible) == 1 and not unknown:
                return Const(possible.pop() is positive)
        if isinstance(left, Const) and isinstance(right, Const):
            return Const((left.value is right.value) is positive)
        return Scalar("bool")

    def on_ifexp(self, node: ast.IfExp) -> Value:
        condition = self.evaluate(node.test)
        self.test(condition, "ifexp", node)
        known = self.truth(condition)
        if known is not None:
            return self.evaluate(node.body if known else node.orelse)
        if only_tensor(condition):
            with self.circumstances(branches=self.now.branches + 1):
                one, other = self.evaluate(node.body), self.evaluate(node.orelse)
            value, _ = select(one, other)
            return value
        with self.circumstances(undecided=self.now.undecided + 1):
            with self.narrowed(node.test, True):
                one = self.evaluate(node.body)
            with self.narrowed(node.test, False):
                return join(one, self.evaluate(node.orelse))

    # ------------------------------------------------------------------------------------------------- comprehensions

    def on_listcomp(self, node: ast.ListComp) -> Value:
        return self._comprehension("list", node.generators, node.elt)

    def on_setcomp(self, node: ast.SetComp) -> Value:
        return self._comprehension("set", node.generators, node.elt)

    def on_generatorexp(self, node: ast.GeneratorExp) -> Value:
        return self._comprehension("generator", node.generators, node.elt)

    def on_dictcomp(self, node: ast.DictComp) -> Value:
        content = self._comprehension("list", node.generators, ast.Tuple([node.key, node.value], ast.Load()))
        pair = element(content) if isinstance(content, Sequence) else UNKNOWN
        return Mapping({}, pair.items[1] if isinstance(pair, Sequence) and len(pair.items) == 2 else UNKNOWN)

    def _comprehension(self, kind: str, generators: list[ast.comprehension], result: ast.expr) -> Value:
        frame = self.frame
        names, scopes = frame.names, frame.scopes
        frame.names, frame.scopes = {}, (names, *scopes)
        length: int | None = 1
        try:
            with self.circumstances(python_loops=self.now.python_loops + 1):
                for generator in generators:
                    source = self.evaluate(generator.iter)
                    if length is not None:
                        known = isinstance(source, Sequence) and source.rest is None and not generator.ifs
                        length = length * len(source.items) if isinstance(source, Sequence) and known else None
                    self.assign(generator.target, self.iterate(source, generator.iter, "comprehension"))
                    for condition in generator.ifs:
                        self.test(self.evaluate(condition), "filter", condition)
                value = self.evaluate(result)
        finally:
            frame.names, frame.scopes = names, scopes
        if length is not None and 0 < length <= 8 and kind != "generator":
            return Sequence(kind, (value, *(_another(value) for _ in range(length - 1))))
        return Sequence(kind, (), value)

    # ------------------------------------------------------------------------------------------------------- helpers

    def test(self, value: Value, form: str, node: ast.AST) -> None:
        """A value is asked whether it is true."""
        self.sunk |= inputs_of((value,))
        if self.forward and (only_tensor(value) or any(only_tensor(each) for each in options(value))):
            self.facts.append(Tested(self.site(node), value, form))

    def truth(self, value: Value) -> bool | None:
        """Whether a value is true, if Python could tell before any call."""
        if isinstance(value, Const):
            return bool(value.value) if value is not UNBOUND else None
        if isinstance(value, Sequence) and not value.home and value.kind in ("list", "tuple"):
            return bool(value.items) if value.rest is None else None
        return True if isinstance(value, (Function, Instance, Layer, Class)) else None

    def iterate(self, value: Value, node: ast.AST, form: str) -> Value:
        """What one turn of a walk through a value gives."""
        if self.forward:
            self.facts.append(Iterated(self.site(node), value, form))
        if isinstance(value, Sequence):
            return self.capture(element(value), node, "container")
        if isinstance(value, Tensor):
            if value.guessed:
                return Tensor((), False, value.inputs, guessed=True)
            return Tensor(value.sizes[1:], value.closed, value.inputs)
        if isinstance(value, Shape):
            return Dim(Extent.UNKNOWN)
        if isinstance(value, Mapping):
            return Scalar("str")
        return UNKNOWN

    def emit_call(
        self, node: ast.AST, name: str, owner: Value | None, arguments: tuple[Value, ...], keywords: dict[str, Value]
    ) -> None:
        """A call of something of a library is a fact, except at import."""
        if self.now.phase is not Phase.MODULE:
            dropped = node in self.dropped_values
            self.facts.append(Called(self.site(node), name, owner, arguments, keywords, dropped))

    # These are given by the classes built on this one.
    global_value: Callable[..., Value]
    function: Callable[[ast.Lambda], Value]
    instance_attribute: Callable[[Instance, str, ast.AST], Value]
    class_attribute: Callable[[Class, str, ast.AST], Value]
    super_attribute: Callable[[Super, str], Value]
    external_attribute: Callable[[External, str], Value]
    assign: Callable[[ast.expr, Value], None]
    narrowed: Callable[..., Any]


def _unknown(node: ast.AST) -> Value:
    """What comes of syntax that nothing is known of."""
    return UNKNOWN


def _compute(kind: type, left: Const, right: Const) -> Value:
    function = _OPERATORS.get(kind)
    simple = (int, float, bool, str, type(None))
    if function is None or not isinstance(left.value, simple) or not isinstance(right.value, simple):
        return Scalar("number")
    if any(isinstance(each.value, int) and abs(each.value) > _BIG for each in (left, right)):
        return Scalar("number")
    if kind is ast.Mult and any(isinstance(each.value, str) for each in (left, right)):
        return Scalar("str")
    try:
        return Const(function(left.value, right.value))
    except (TypeError, ArithmeticError, ValueError):
        return UNKNOWN


def _another(value: Value) -> Value:
    """A second object like the first: turns of a comprehension make a new tensor each."""
    return Tensor(value.sizes, value.closed, value.inputs, guessed=value.guessed) if type(value) is Tensor else value


def _logs(node: ast.Attribute) -> bool:
    base = node.value.id if isinstance(node.value, ast.Name) else ""
    return base in ("logger", "logging", "log") and node.attr in ("debug", "info", "warning", "error", "exception")


__all__ = ["ClassInfo", "Expressions"]

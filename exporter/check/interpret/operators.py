"""Operators and truth on paper: what each gives, and the facts on the way."""

from __future__ import annotations

import ast
import copy
import itertools
import operator
from collections.abc import Callable
from typing import Any

from exporter.check.domain.join import element, join, select
from exporter.check.domain.values import (
    UNBOUND,
    UNKNOWN,
    Array,
    Attributes,
    Broken,
    Class,
    Const,
    Dim,
    Extent,
    External,
    Function,
    Instance,
    Layer,
    Mapping,
    Scalar,
    Sequence,
    Shape,
    Super,
    Tensor,
    Value,
    inputs_of,
    only_tensor,
    options,
)
from exporter.check.domain.views import read_later
from exporter.check.facts import Called, Clashed, Iterated, Operated, Phase, Strayed, Tested
from exporter.check.models.dtypes import named
from exporter.check.models.paddle import has_no_weights, operate
from exporter.check.state.machine import Machine

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
_DUNDERS: dict[type, str] = {
    ast.Add: "__add__",
    ast.Sub: "__sub__",
    ast.Mult: "__mul__",
    ast.Div: "__truediv__",
    ast.FloorDiv: "__floordiv__",
    ast.Mod: "__mod__",
    ast.Pow: "__pow__",
    ast.MatMult: "__matmul__",
    ast.BitAnd: "__and__",
    ast.BitOr: "__or__",
    ast.RShift: "__rshift__",
    ast.LShift: "__lshift__",
}
_BIG = 1 << 40


class Operators(Machine):
    """Evaluation of operators, and of what is asked for its truth."""

    def __init__(self) -> None:
        super().__init__()
        self._evaluators: dict[type, Callable[[Any], Value]] = {}
        self.sunk: frozenset[str] = frozenset()
        self.only_tested: set[ast.AST] = set()
        #: What the innermost `for` statement goes through.
        self.walked: ast.AST | None = None
        self.own_keys: set[object] = set()
        self.dropped_values: set[ast.AST] = set()
        #: The value of the present assignment, and the name that is given it.
        self.bound_to: tuple[ast.AST | None, str] = (None, "")

    def on_binop(self, node: ast.BinOp) -> Value:
        return self.binary(self.evaluate(node.left), type(node.op), self.evaluate(node.right), node)

    def binary(self, left: Value, kind: type, right: Value, node: ast.AST) -> Value:
        """What an arithmetic operator gives."""
        if isinstance(left, Const) and isinstance(right, Const):
            return _compute(kind, left, right)
        if isinstance(left, Instance) and (own := _DUNDERS.get(kind, "")) and left.cls.method(own) is not None:
            return self.call_unseen(self.instance_attribute(left, own, node), (right,), node)
        if self.forward:
            self.facts.append(Operated(self.site(node), kind.__name__, left, right))
        if kind is ast.Mod and (isinstance(left, Const) and isinstance(left.value, str)):
            every = right.items if isinstance(right, Sequence) else (right,)
            self.emit_call(node, "builtins.format", None, every, {})
            return Scalar("str")
        pair = (left, right)
        if any(isinstance(each, Tensor) for each in pair):
            made = operate(left, right)
            made.recipe = (kind.__name__, left, right)
            return self.made_here(made, node)
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

    def made_here(self, value: Tensor, node: ast.AST) -> Tensor:
        """A tensor computed outside the call of the model is one that the program does not know."""
        if not self.forward:
            value.origin, value.made = "eager", (self.frame.module, node)
        return value

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
        value = self.condition(node.operand) if isinstance(node.op, ast.Not) else self.evaluate(node.operand)
        if isinstance(node.op, ast.Not):
            self.test(value, "not", node)
            if only_tensor(value):
                return Tensor((), True, inputs_of((value,)), boolean=True)
            known = self.truth(value)
            return Scalar("bool") if known is None else Const(not known)
        if isinstance(value, Const) and isinstance(value.value, (int, float)):
            return Const(-value.value if isinstance(node.op, ast.USub) else value.value)
        if isinstance(value, Tensor):
            invert = isinstance(node.op, ast.Invert)
            return Tensor(value.sizes, value.closed, value.inputs, boolean=invert, dtype=value.dtype)
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
                with self.circumstances(guard=(self.frame.module, node) if self.now.converted else self.now.guard):
                    found = self.evaluate(right)
                self.facts.append(Tested(self.site(node), value, form, found, node not in self.only_tested))
                value = found
                value = Tensor((), True, inputs_of((*seen, value)), boolean=True)
            else:
                with self.narrowed(node.values[0], form == "and"), self.circumstances(undecided=self.now.undecided + 1):
                    found = self.evaluate(right)
                decided = node in self.only_tested and self.truth(found) is (form == "or")
                value = Const(form == "or") if decided else join(value, found)
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
        if (known := _decided([type(each) for each in node.ops], values)) is not None:
            return known
        if self.forward:
            self.facts.append(Operated(self.site(node), kind.__name__, values[0], values[1]))
        if len(node.ops) > 1 and any(only_tensor(each) for each in values[:2]):
            self.test(operate(values[0], values[1], True), "chain", node)
        if kind in (ast.In, ast.NotIn):
            self.sunk |= inputs_of(values[:1])
            if isinstance(values[1], Attributes) and isinstance(values[0], Const):
                with self.weakly():
                    self.note_read((id(values[1].owner.attributes), str(values[0].value)))
            if isinstance(values[1], (Sequence, Mapping)) and values[1].place is not None:
                self.asked_for_keys.add(values[1].place)
            return Scalar("bool")
        if any(isinstance(each, Tensor) or only_tensor(each) for each in values):
            certain = any(only_tensor(each) for each in values)
            made = operate(values[0], values[1], True)
            return made if certain else Tensor((), False, made.inputs, boolean=True, guessed=True)
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
        condition = self.condition(node.test)
        self.test(condition, "ifexp", node)
        known = self.truth(condition)
        if known is not None:
            return self.evaluate(node.body if known else node.orelse)
        if only_tensor(condition):
            with self.circumstances(branches=self.now.branches + 1):
                one, other = self.evaluate(node.body), self.evaluate(node.orelse)
            value, reason = select(one, other)
            if reason and self.forward and self.now.converted:
                broken = Broken(reason, "the result", self.frame.module, node, value)
                self.facts.append(Clashed(self.site(node), broken, "ifexp"))
            return value
        with self.circumstances(undecided=self.now.undecided + 1):
            with self.narrowed(node.test, True):
                one = self.evaluate(node.body)
            with self.narrowed(node.test, False):
                return join(one, self.evaluate(node.orelse))

    def condition(self, node: ast.expr) -> Value:
        """Evaluate an expression of which only the truth counts."""
        waiting = [node]
        while waiting:
            one = waiting.pop()
            if isinstance(one, ast.BoolOp):
                self.only_tested.add(one)
                waiting += one.values
            elif isinstance(one, ast.UnaryOp):
                waiting.append(one.operand)
        return self.evaluate(node)

    def test(self, value: Value, form: str, node: ast.AST) -> None:
        """A value is asked whether it is true."""
        if form != "assert":
            self.sunk |= inputs_of((value,))
        if self.forward and (only_tensor(value) or any(only_tensor(each) for each in options(value))):
            self.facts.append(Tested(self.site(node), value, form))
        elif isinstance(value, Sequence) and value.grown_in_branch:
            self.emit_call(node, "list.__bool__", as_it_is(value), (), {})

    def truth(self, value: Value) -> bool | None:
        """Whether a value is true, if Python could tell before any call."""
        if isinstance(value, Const):
            return bool(value.value) if value is not UNBOUND else None
        if isinstance(value, Sequence) and value.kind in ("list", "tuple"):
            return bool(value.items) if value.settled else None
        return True if isinstance(value, (Function, Instance, Layer, Class)) else None

    def iterate(self, value: Value, node: ast.AST, form: str) -> Value:
        """What one turn of a walk through a value gives."""
        if self.forward:
            self.facts.append(Iterated(self.site(node), as_it_is(value), form))
        self.note_content(value)
        if isinstance(value, Sequence):
            return self.from_container(value, element(value), node)
        if isinstance(value, Tensor):
            if value.guessed:
                return Tensor((), False, value.inputs, guessed=True)
            return Tensor(value.sizes[1:], value.closed, value.inputs, dtype=value.dtype)
        if isinstance(value, Shape):
            return Dim(Extent.UNKNOWN)
        if isinstance(value, Mapping):
            return Scalar("str")
        return UNKNOWN

    def emit_call(
        self, node: ast.AST, name: str, owner: Value | None, arguments: tuple[Value, ...], keywords: dict[str, Value]
    ) -> None:
        """A call of something of a library is a fact, except at import."""
        for each in arguments:
            self.note_content(each)
        if self.now.phase is not Phase.MODULE:
            dropped = node in self.dropped_values
            if name.endswith("_") and self.forward:
                target = owner if owner is not None else (arguments[0] if arguments else None)
                names = [each for each, value in self.frame.names.items() if value is target]
                bound = self.bound_to[1] if self.bound_to[0] is node else ""
                kept = any(each != bound and read_later(self.frame.node, each, node) for each in names)
                aliased = len(names) > 1 or kept
                self.facts.append(Called(self.site(node), name, owner, arguments, keywords, dropped, aliased))
                return
            self.facts.append(Called(self.site(node), name, owner, arguments, keywords, dropped))

    def is_own_key(self, container: Mapping, index: Value) -> bool:
        """Whether this call has itself written that key."""
        return container.place is not None and (*container.place, index) in self.own_keys

    def note_content(self, value: Value) -> None:
        """What is in a container that outlives the call was looked at."""
        if isinstance(value, (Sequence, Mapping)) and value.place is not None:
            self.note_looked_into(value.place)

    def from_container(self, container: Sequence | Mapping, value: Value, node: ast.AST) -> Value:
        """Something was taken out of a container: a tensor or a layer in it may be nobody's."""
        if self.forward and container.home.startswith("self."):
            every = container.items.values() if isinstance(container, Mapping) else container.items
            astray = [each for one in (*every, value) for each in options(one) if _is_nobodys(each)]
            if astray:
                self.facts.append(Strayed(self.site(node), container.home, isinstance(astray[0], Tensor)))
        return self.capture(value, node, "container")

    def note_stray(self, value: Value, node: ast.AST, home: str) -> None:
        """A layer that lives outside the model, in a global or a closure, is used by it."""
        running = any(value is next(iter(frame.names.values()), None) for frame in self.stack)
        if self.forward and not running and isinstance(value, (Layer, Instance)) and _is_nobodys(value):
            self.facts.append(Strayed(self.site(node), home, False))

    def call_unseen(self, function: Value, arguments: tuple[Value, ...], node: ast.AST) -> Value:
        """A call that Python or a library makes, which dy2static does not see and does not convert."""
        if isinstance(function, Function) and function.inline:
            return self.call(function, arguments, {}, node)
        came_from = (self.frame.module, node) if self.now.converted else self.now.called_from
        with self.circumstances(converted=False, called_from=came_from):
            return self.call(function, arguments, {}, node)

    # These are given by the classes built on this one.
    global_value: Callable[..., Value]
    function: Callable[..., Value]
    instance_attribute: Callable[[Instance, str, ast.AST], Value]
    class_attribute: Callable[[Class, str, ast.AST], Value]
    super_attribute: Callable[[Super, str, ast.AST], Value]
    external_attribute: Callable[[External, str, ast.AST], Value]
    assign: Callable[[ast.expr, Value], None]
    narrowed: Callable[..., Any]


def _is_nobodys(value: Value) -> bool:
    """Whether this is a parameter, or a layer that may have some, which no layer has for its own."""
    if isinstance(value, Layer):
        return not value.registered and not has_no_weights(value.name, value.keywords)
    if isinstance(value, Instance):
        return value.cls.is_layer and value.lasting and not value.registered
    return isinstance(value, Tensor) and value.origin == "parameter" and value.place is None


def _decided(kinds: list[type], values: list[Value]) -> Value | None:
    """What a comparison gives where all of it is known: numbers and texts, chained or not, or two dtypes."""
    numbers = [each for each in values if isinstance(each, Const)]
    if len(numbers) == len(values) and (len(kinds) > 1 or kinds[0] in _OPERATORS):
        parts = [_compute(kind, *pair) for kind, pair in zip(kinds, itertools.pairwise(numbers), strict=True)]
        if len(parts) == 1:
            return parts[0]
        known = [each.value for each in parts if isinstance(each, Const)]
        return Const(all(known)) if len(known) == len(parts) else Scalar("bool")
    if kinds in ([ast.Eq], [ast.NotEq]) and Const(None) in values and any(map(only_tensor, values)):
        return Const(kinds[0] is ast.NotEq)  # a tensor of the trace is no equal of None: Python decides
    if kinds[0] in (ast.Eq, ast.NotEq) and all(isinstance(each, External) and named(each) for each in values):
        return Const((values[0] == values[1]) is (kinds[0] is ast.Eq))
    return None


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


def as_it_is(value: Value) -> Value:
    """A container as it is now, for a fact; it may be changed later."""
    return copy.copy(value) if isinstance(value, (Sequence, Mapping)) else value

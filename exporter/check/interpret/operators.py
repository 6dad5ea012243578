"""Operators: arithmetic, comparisons, `and`, `or`, `not`, conditional expressions."""

from __future__ import annotations

import ast
import itertools
import operator
from collections.abc import Callable
from typing import Any

from exporter.check.domain.call import Call
from exporter.check.domain.contents import inputs_of
from exporter.check.domain.join import element, join, select
from exporter.check.domain.tensors import named, operate
from exporter.check.domain.values import (
    UNKNOWN,
    Array,
    Attributes,
    Const,
    Container,
    Dim,
    Extent,
    External,
    Instance,
    Mapping,
    Method,
    Scalar,
    Sequence,
    Shape,
    Tensor,
    Value,
    keys_of,
    only_tensor,
    options,
)
from exporter.check.facts import Called, Clashed, Operated, Tested
from exporter.check.interpret.events import call_unseen, clash, emit_call, made_here
from exporter.check.interpret.truth import ask, asked, narrowed, truth_of
from exporter.check.state.run import Run

#: Arithmetic operators, as the module `operator` and methods of classes name them.
ARITHMETIC: dict[type, str] = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.MatMult: "matmul",
}
_OF_BITS = {ast.BitAnd: "and", ast.BitOr: "or", ast.RShift: "rshift", ast.LShift: "lshift"}
_COMPARISONS = {ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}
_DUNDERS: dict[type, str] = {kind: f"__{name}__" for kind, name in (ARITHMETIC | _OF_BITS).items()}
#: Operators that are computed where both sides are known; powers may be huge.
_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    kind: getattr(operator, name) for kind, name in (ARITHMETIC | _COMPARISONS).items() if name not in ("pow", "matmul")
}

_BIG = 1 << 40


def _binop(run: Run, node: ast.BinOp) -> Value:
    return binary(run, run.evaluate(node.left), type(node.op), run.evaluate(node.right), node)


def binary(run: Run, left: Value, kind: type, right: Value, node: ast.AST) -> Value:
    """What an arithmetic operator gives."""
    if isinstance(left, Const) and isinstance(right, Const):
        return _compute(kind, left, right)
    if isinstance(left, Instance) and (own := _DUNDERS.get(kind, "")) and left.cls.method(own) is not None:
        return call_unseen(run, run.attribute(left, own, node), (right,), node)
    run.note(Operated, node, kind.__name__, left, right)
    if kind is ast.Mod and (isinstance(left, Const) and isinstance(left.value, str)):
        every = right.items if isinstance(right, Sequence) else (right,)
        emit_call(run, "builtins.format", Call(node, every))
        return Scalar("str")
    pair = (left, right)
    if any(isinstance(each, Tensor) for each in pair):
        made = operate(left, right)
        made.value_number = (kind.__name__, left, right)
        return made_here(run, made, node)
    if any(isinstance(each, Dim) for each in pair):
        sizes = [each.size if isinstance(each, Dim) else 0 for each in pair]
        sequence = next((each for each in pair if isinstance(each, (Sequence, Shape))), None)
        if sequence is not None:
            return Sequence("list", (), element(sequence)) if isinstance(sequence, Sequence) else UNKNOWN
        return Dim(Extent.DYNAMIC if Extent.DYNAMIC in sizes else Extent.UNKNOWN, inputs_of(pair))
    if arrays := [each for each in pair if isinstance(each, Array)]:
        return Array(scalar=all(each.scalar for each in arrays))
    if any(isinstance(each, (Sequence, Shape)) for each in pair):
        return _repeated(left, kind, right)
    return Scalar("number") if all(isinstance(each, (Const, Scalar)) for each in pair) else UNKNOWN


def _repeated(left: Value, kind: type, right: Value) -> Value:
    if isinstance(left, Sequence) and isinstance(right, Sequence) and kind is ast.Add:
        if left.listed is not None and right.listed is not None:
            return Sequence(left.kind, (*left.items, *right.items))
        if left.listed is not None:
            return Sequence(left.kind, left.items, element(right))
        return Sequence(left.kind, (), join(element(left), element(right)))
    single = left if isinstance(left, Sequence) else right
    if isinstance(single, Sequence):
        return Sequence(single.kind, (), element(single))
    return Sequence("list", (), Dim(Extent.UNKNOWN))


def _unaryop(run: Run, node: ast.UnaryOp) -> Value:
    if isinstance(node.op, ast.Not):
        value = asked(run, node.operand, "not", node)
        if only_tensor(value):
            return Tensor((), True, inputs_of((value,)), boolean=True)
        known = truth_of(value)
        return Scalar("bool") if known is None else Const(not known)
    value = run.evaluate(node.operand)
    if isinstance(value, Const) and isinstance(value.value, (int, float)):
        return Const(-value.value if isinstance(node.op, ast.USub) else value.value)
    if isinstance(value, Tensor):
        invert = isinstance(node.op, ast.Invert)
        return Tensor(value.sizes, value.closed, value.inputs, boolean=invert, dtype=value.dtype)
    return value


def _boolop(run: Run, node: ast.BoolOp) -> Value:
    form = "and" if isinstance(node.op, ast.And) else "or"
    begin = len(run.facts)
    value = run.evaluate(node.values[0])
    seen: list[Value] = [value]
    for right in node.values[1:]:
        known = truth_of(value)
        if known is not None:
            if known is (form == "or"):
                return value if len(seen) == 1 else join(seen[-2], value)
            value = run.evaluate(right)
        elif only_tensor(value):
            with run.circumstances(guard=(run.frame.module, node) if run.now.converted else run.now.guard):
                found = run.evaluate(right)
            run.note(Tested, node, value, form, found, node not in run.usage.tested)
            value = Tensor((), True, inputs_of((*seen, found)), boolean=True)
        else:
            with narrowed(run, node.values[0], form == "and"), run.circumstances(undecided=run.now.undecided + 1):
                found = run.evaluate(right)
            decided = node in run.usage.tested and truth_of(found) is (form == "or")
            value = Const(form == "or") if decided else join(value, found)
            for fact in run.facts[begin:] if decided else ():
                if isinstance(fact, Called):
                    fact.unread = True  # what it gave decides nothing
        seen.append(value)
    return value


def _compare(run: Run, node: ast.Compare) -> Value:
    if isinstance(node.ops[0], (ast.Is, ast.IsNot)):
        return _compare_identity(run, node)
    values = [run.evaluate(each) for each in (node.left, *node.comparators)]
    kind = type(node.ops[0])
    known = _decided([type(each) for each in node.ops], values)
    if known is None or Const(None) in values:
        run.note(Operated, node, kind.__name__, values[0], values[1])
    if known is not None:
        return known
    if len(node.ops) > 1 and any(only_tensor(each) for each in values[:2]):
        ask(run, operate(values[0], values[1], True), "chain", node)
    if kind in (ast.In, ast.NotIn):
        run.consume(values[0])
        if isinstance(values[1], Attributes) and isinstance(values[0], Const):
            with run.effects.reaching():
                run.effects.read((id(values[1].owner.attributes), str(values[0].value)))
        if isinstance(values[1], Container):
            run.effects.of(values[1].place).searched = True
        held = _is_in(values[0], values[1])
        return Scalar("bool") if held is None else Const(held is (kind is ast.In))
    if any(isinstance(each, Tensor) or only_tensor(each) for each in values):
        certain = any(only_tensor(each) for each in values)
        made = operate(values[0], values[1], True)
        return made if certain else Tensor((), False, made.inputs, boolean=True, guessed=True)
    run.consume(*(each for each in values if isinstance(each, Method)))  # of an input that is no tensor
    return Scalar("bool")


def _compare_identity(run: Run, node: ast.Compare) -> Value:
    begin = len(run.facts)
    with run.effects.reaching():
        left = run.evaluate(node.left)
    if isinstance(node.left, ast.Name):  # what a broken name holds is some object, and no None
        run.facts[begin:] = [fact for fact in run.facts[begin:] if not isinstance(fact, Clashed)]
    return _identity(left, run.evaluate(node.comparators[0]), isinstance(node.ops[0], ast.Is))


def _is_in(value: Value, container: Value) -> bool | None:
    """Whether a container holds a value, where both are known."""
    if not isinstance(container, Container) or not container.settled:
        return None
    items = keys_of(container).items if isinstance(container, Mapping) else container.known
    if items and not all(isinstance(each, Const) for each in (value, *items)):
        return None
    return value in items


def _identity(left: Value, right: Value, positive: bool) -> Value:
    if isinstance(right, Const) and right.value is None:
        possible = {isinstance(each, Const) and each.value is None for each in options(left)}
        unknown = any(type(each) is Value or (isinstance(each, Tensor) and each.guessed) for each in options(left))
        if len(possible) == 1 and not unknown:
            return Const(possible.pop() is positive)
    if isinstance(left, Const) and isinstance(right, Const):
        return Const((left.value is right.value) is positive)
    return Scalar("bool")


def _ifexp(run: Run, node: ast.IfExp) -> Value:
    condition = asked(run, node.test, "ifexp", node)
    known = truth_of(condition)
    if known is not None:
        return run.evaluate(node.body if known else node.orelse)
    if only_tensor(condition):
        with run.circumstances(branches=run.now.branches + 1):
            one, other = run.evaluate(node.body), run.evaluate(node.orelse)
        value, reason = select(one, other)
        clash(run, reason, "the result", node, value, "ifexp")
        return value
    with run.circumstances(undecided=run.now.undecided + 1):
        with narrowed(run, node.test, True):
            one = run.evaluate(node.body)
        with narrowed(run, node.test, False):
            return join(one, run.evaluate(node.orelse))


def _decided(kinds: list[type], values: list[Value]) -> Value | None:
    """What a comparison gives where all of it is known, or where it gives the same for all that a value may be."""
    known = [_compared(kinds, [*row]) for row in itertools.product(*map(options, values))]
    return known[0] if known.count(known[0]) == len(known) else None


def _compared(kinds: list[type], values: list[Value]) -> Value | None:
    """What a comparison gives of what is known: numbers and texts, chained or not, or two dtypes."""
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


EXPRESSIONS = {ast.BinOp: _binop, ast.UnaryOp: _unaryop, ast.BoolOp: _boolop, ast.Compare: _compare, ast.IfExp: _ifexp}

"""What is asked for its truth: conditions, and names narrowed by them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from exporter.check.domain.call import Call
from exporter.check.domain.values import (
    UNBOUND,
    Class,
    Const,
    Function,
    Instance,
    Layer,
    Sequence,
    Tensor,
    Union,
    Value,
    only_tensor,
    options,
)
from exporter.check.facts import Tested
from exporter.check.interpret.events import emit_call, snapshot
from exporter.check.source.syntax import none_test
from exporter.check.state.run import Run


def evaluate_condition(run: Run, node: ast.expr) -> Value:
    """Evaluate an expression of which only the truth counts."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if isinstance(one, ast.BoolOp):
            run.usage.tested.add(one)
            waiting += one.values
        elif isinstance(one, ast.UnaryOp):
            waiting.append(one.operand)
    return run.evaluate(node)


def asked(run: Run, test: ast.expr, form: str, node: ast.AST) -> Value:
    """Evaluate a condition, and ask whether it is true."""
    value = evaluate_condition(run, test)
    ask(run, value, form, node)
    return value


def ask(run: Run, value: Value, form: str, node: ast.AST) -> None:
    """A value is asked whether it is true."""
    if form != "assert":
        run.consume(value)
    if run.forward and (only_tensor(value) or any(only_tensor(each) for each in options(value))):
        run.note(Tested, node, value, form)
    elif isinstance(value, Sequence) and value.grown_in_branch:
        emit_call(run, "list.__bool__", Call(node), snapshot(value))


def truth_of(value: Value) -> bool | None:
    """Whether a value is true, if Python could tell before any call."""
    if isinstance(value, Const):
        return bool(value.value) if value is not UNBOUND else None
    if isinstance(value, Sequence) and value.kind in ("list", "tuple"):
        return bool(value.items) if value.settled else None
    return True if isinstance(value, (Function, Instance, Layer, Class)) else None


@contextmanager
def narrowed(run: Run, test: ast.expr, positive: bool) -> Iterator[None]:
    """Inside the block, `x is None` and `x is not None` in the test are what they must be on this side."""
    name, none = none_test(test)
    value = run.frame.names.get(name, UNBOUND)
    kept = [each for each in options(value) if (isinstance(each, Const) and each.value is None) is (none is positive)]
    if not isinstance(value, (Union, Tensor)) or len(kept) != 1 or kept[0] is value:
        yield
        return
    run.frame.names[name] = kept[0]
    try:
        yield
    finally:
        if run.frame.names.get(name) is kept[0]:
            run.frame.names[name] = value

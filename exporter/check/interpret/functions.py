"""Calls of the user's functions: parameters, recursion, and what the ways to return give together."""

from __future__ import annotations

import ast
import itertools

from exporter.check.domain.call import Call
from exporter.check.domain.join import fresh, join, join_all, select
from exporter.check.domain.values import (
    UNKNOWN,
    Class,
    Const,
    Container,
    External,
    Function,
    Instance,
    Mapping,
    Scalar,
    Sequence,
    Tensor,
    Value,
)
from exporter.check.dy2static.rewrites import REWRITTEN, assigned_calls, unpacked_enumerates
from exporter.check.facts import Recursed, Returned
from exporter.check.interpret.events import capture, clash, emit_call
from exporter.check.interpret.names import make_home
from exporter.check.state.frames import Frame, Result, Scope
from exporter.check.state.run import DEEPEST, Run

_MOST_RUNS = 3  # of one function with values of the same kinds; later ones give what the last gave


def call_function(run: Run, function: Function, call: Call) -> Value:
    """Enter a function of the user's; one that was entered often enough gives what it gave last."""
    if function.dispatched:
        emit_call(run, "functools.singledispatch", call)
    if function.owner is not None:
        call = Call(call.node, (function.owner, *call.arguments), call.keywords)
    body = function.node
    if any(frame.node is body for frame in run.stack):
        return _recursion(run, function, call)
    if len(run.stack) >= DEEPEST:
        return UNKNOWN
    key = (body, tuple(map(kind_of_argument, call.every)), run.now.converted)
    runs, last = run.memory.calls.get(key, (0, UNKNOWN))
    if runs >= _MOST_RUNS and run.forward:
        return fresh(last, call.inputs)
    value = _enter(run, function, call)
    run.memory.calls[key] = (runs + 1, value)
    return value


def _recursion(run: Run, function: Function, call: Call) -> Value:
    outer = next(frame for frame in run.stack if frame.node is function.node)
    if run.now.branches > outer.began.branches and not run.now.undecided:
        name = getattr(function.node, "name", "lambda")
        given = [each.arg for each in function.node.args.args]
        pairs = [(outer.names.get(each), value) for each, value in zip(given, call.arguments, strict=False)]
        counted = any(isinstance(one, Const) and isinstance(other, (Const, Scalar)) for one, other in pairs)
        run.note(Recursed, call.node, name, counted)
    return Tensor(inputs=call.inputs) if call.inputs else UNKNOWN


def _enter(run: Run, function: Function, call: Call) -> Value:
    body, now = function.node, run.now
    run.visited.add(body)
    names = Scope()
    names.persistent = not run.forward
    frame = Frame(function.module, names, function.scopes, function.cls, body, began=now)
    left = now.converted and not function.converted
    here = now.handed_over or (run.frame.module, call.node)
    inside = now._replace(handed_over=here) if isinstance(body, ast.Lambda) and not function.inline else now
    if left or now.loop_kind:
        came_from = (run.frame.module, call.node) if left else now.called_from
        inside = inside._replace(converted=now.converted and not left, called_from=came_from, loop_kind="")
    with run.elsewhere(frame, inside):
        _bind_parameters(run, function, call)
        if isinstance(body, ast.Lambda):
            return run.evaluate(body.body)
        if run.forward and inside.converted and function.module.mentions(body, REWRITTEN):
            for target in assigned_calls(body):
                emit_call(run, "assigned call", Call(target))
            for loop in unpacked_enumerates(body):
                emit_call(run, "unpacked enumerate", Call(loop))
        before = run.effects.written() if function.manager else {}
        ends = run.execute(body.body)
        if function.manager:
            run.effects.take_back(before, body)
        if body is run.exported and run.forward:
            known = run.root is not None and run.root.complete
            run.facts += [Returned(run.site(each.node), each.value, each.certain and known) for each in frame.returns]
            run.outputs += tuple(each.value for each in frame.returns)
        value = _result(run, frame, ends)
    if function.cached and not run.forward:
        run.memory.cached_early.add(body)
    if function.cached and run.forward and isinstance(value, Tensor):
        returned = frame.returns[-1].node if frame.returns else body
        value = Tensor(value.sizes, value.closed, value.inputs, "eager", made=(function.module, returned))
        with run.circumstances(called_from=None):
            capture(run, value, call.node, "cache" if body in run.memory.cached_early else "late cache")
        return Tensor(value.sizes, value.closed, value.inputs)
    return value


def _result(run: Run, frame: Frame, ends: bool) -> Value:
    if frame.node is not None and frame.module.generates(frame.node):
        return Sequence("generator", (), join_all(frame.yields))
    returns = list(frame.returns)
    if ends:
        returns.append(Result(frame.node or ast.Pass(), Const(None), False, True))
    if not returns:
        return UNKNOWN
    value, by_tensor = returns[0].value, returns[0].by_tensor
    for one, other in itertools.pairwise(returns):
        by_tensor = by_tensor or other.by_tensor
        if by_tensor:
            at = other.node if isinstance(other.node, ast.Return) else one.node
            value = _returned_either(run, value, other.value, at)
        else:
            value = join(value, other.value)
    return value


def _returned_either(run: Run, one: Value, other: Value, node: ast.AST) -> Value:
    value, reason = select(one, other)
    if not reason and _structure(one) != _structure(other):
        reason = "structure"
    clash(run, reason, "the result", node, value, "return")
    return value


def _structure(value: Value) -> object:
    if isinstance(value, Sequence) and value.kind in ("list", "tuple"):
        return len(value.items) if value.rest is None else "?"
    if isinstance(value, Mapping):
        return "dict"
    return "one"


def _bind_parameters(run: Run, function: Function, call: Call) -> None:
    spec, names = function.node.args, run.frame.names
    positional = [*spec.posonlyargs, *spec.args]
    defaults = [None] * (len(positional) - len(spec.defaults)) + spec.defaults
    for parameter, value in zip(positional, call.arguments, strict=False):
        names[parameter.arg] = value
    left = [*zip(positional, defaults, strict=True)][len(call.arguments) :]
    keywords = dict(call.keywords)
    for parameter, default in (*left, *zip(spec.kwonlyargs, spec.kw_defaults, strict=True)):
        given = keywords.pop(parameter.arg, None)
        names[parameter.arg] = given if given is not None else default_of(run, parameter, default)
    if spec.vararg is not None:
        names[spec.vararg.arg] = Sequence("tuple", call.arguments[len(positional) :])
    if spec.kwarg is not None:
        names[spec.kwarg.arg] = Mapping({key: each for key, each in keywords.items()})


def default_of(run: Run, parameter: ast.arg, default: ast.expr | None) -> Value:
    """What a parameter holds that nothing is given for."""
    value = UNKNOWN if default is None else run.evaluate(default)
    if isinstance(value, Container):
        # one object for all calls: what is added to it stays
        make_home(run, value, f"default of {parameter.arg}", (id(default), parameter.arg))
    return value


def kind_of_argument(value: Value) -> object:
    """What tells two arguments apart as far as abstract interpretation is concerned."""
    if isinstance(value, (Const, External, Instance)):
        return value
    if isinstance(value, Class):
        return value.info
    if isinstance(value, Tensor):
        return ("tensor", value.sizes, value.guessed, value.origin)
    return type(value)


CALLERS = {Function: call_function}

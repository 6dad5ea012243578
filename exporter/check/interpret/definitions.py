"""Functions and lambdas where they are defined: their scopes, decorators, and whether dy2static converts them."""

from __future__ import annotations

import ast
from dataclasses import replace
from typing import Any

from exporter.check.domain.call import Call
from exporter.check.domain.values import UNKNOWN, External, Function, Value
from exporter.check.facts import Phase
from exporter.check.source.project import ClassInfo
from exporter.check.state.run import Run

_KEEPERS = ("paddle.jit.not_to_static", "paddle.jit.marker.unified", "paddle.jit.ignore_module")

_DISPATCHERS = ("functools.singledispatch", "functools.singledispatchmethod")

_CACHES = ("functools.lru_cache", "functools.cache")


def define(run: Run, node: Any, cls: ClassInfo | None = None) -> Value:
    """A function or lambda that is defined here, decorators applied."""
    frame = run.frame
    scopes = (frame.names, *frame.scopes) if frame.node is not None else ()
    run.memory.scopes += scopes[:1]
    # dy2static converts a function that its module's globals hold: none that fresh function made while building
    nested = isinstance(node, ast.Lambda) or (run.now.phase is Phase.INIT and frame.node is not None)
    made_early = not run.forward and nested
    converted = not made_early and not frame.module.generates(node)
    value: Value = Function(node, frame.module, scopes, None, cls or frame.cls, converted)
    if isinstance(value, Function):
        value.inline = converted and run.forward and run.now.converted
    for decorator in reversed(getattr(node, "decorator_list", [])):
        value = _decorated(run, value, decorator)
    return value


def _decorated(run: Run, value: Value, decorator: ast.expr) -> Value:
    made = run.evaluate(decorator.func if isinstance(decorator, ast.Call) else decorator)
    if isinstance(made, External):
        if made.name in _KEEPERS and isinstance(value, Function):
            return replace(value, converted=False)
        if made.name in _CACHES and isinstance(value, Function):
            return replace(value, cached=True)
        if made.name in _DISPATCHERS and isinstance(value, Function):
            return replace(value, dispatched=True)
        if made.name == "contextlib.contextmanager" and isinstance(value, Function):
            return replace(value, converted=False, manager=True)
        return UNKNOWN if made.name.startswith("contextlib.") else value
    if isinstance(made, Function):
        if isinstance(decorator, ast.Call):
            made = run.evaluate(decorator)
        return run.call(made, Call(decorator, (value,)))
    return value

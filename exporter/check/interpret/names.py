"""What names stand for: locals, closures, globals, imports, definitions; and how they are bound."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from exporter.check.domain.call import Call
from exporter.check.domain.values import UNKNOWN, Class, Const, Container, External, Function, Sequence, Value, kind_of
from exporter.check.facts import Phase
from exporter.check.interpret.events import capture, note_stray, read_broken
from exporter.check.source.project import ClassInfo, ParsedModule
from exporter.check.state.run import Run

#: What decorators of libraries make of a function.
_DECORATORS: dict[str, Callable[[Function], Function]] = {
    "contextlib.contextmanager": lambda function: replace(function, converted=False, manager=True),
    "functools.cache": lambda function: replace(function, cached=True),
    "functools.lru_cache": lambda function: replace(function, cached=True),
    "functools.singledispatch": lambda function: replace(function, dispatched=True),
    "functools.singledispatchmethod": lambda function: replace(function, dispatched=True),
    "paddle.jit.ignore_module": lambda function: replace(function, converted=False),
    "paddle.jit.marker.unified": lambda function: replace(function, converted=False),
    "paddle.jit.not_to_static": lambda function: replace(function, converted=False),
}


def _name(run: Run, node: ast.Name) -> Value:
    name = node.id
    if name in run.frame.globals:
        return _global(run, node)
    if name in run.frame.names:
        if run.awaited:
            run.name_read(run.frame.names, name)
        return read_broken(run, run.frame.names[name], node)
    for scope in run.frame.scopes:
        if name in scope:
            run.name_read(scope, name)
            if getattr(scope, "persistent", False):
                run.effects.read((id(scope), name))
                make_home(run, scope[name], f"closure {name}", (id(scope), name))
                note_stray(run, scope[name], node, "a closure")
            return capture(run, read_broken(run, scope[name], node), node, "closure")
    return _global(run, node)


def _global(run: Run, node: ast.Name) -> Value:
    module = run.frame.module
    if node.id in module.bound:
        run.effects.read((id(module.globals), node.id))
    value = read_broken(run, global_value(run, module, node.id), node)
    if isinstance(value, (External, Class)):
        return value
    note_stray(run, value, node, f"global {node.id}")
    return capture(run, value, node, "global")


def global_value(run: Run, module: ParsedModule, name: str) -> Value:
    """What a top-level name stands for; assignments are evaluated when they are first asked for."""
    known = module.globals.get(name)
    if isinstance(known, Value):
        return known
    module.project.asked.add(module)
    if name in module.classes:
        value: Value = Class(module.classes[name])
    elif name in module.names:
        module.globals[name] = UNKNOWN  # a name that is defined by itself
        value = _global_binding(run, module, name)
    else:
        value = External(f"builtins.{name}")
    module.globals[name] = value
    return value


def _global_binding(run: Run, module: ParsedModule, name: str) -> Value:
    bindings = module.names[name]
    first = bindings[0]
    if isinstance(first, (ast.Import, ast.ImportFrom)):
        return _imported(run, module, first, name)
    if isinstance(first, (ast.FunctionDef, ast.AsyncFunctionDef)):
        with run.at_import(module):
            return define(run, bindings[-1]) if isinstance(bindings[-1], type(first)) else UNKNOWN
    if len(bindings) == 1 and isinstance(first, (ast.Assign, ast.AnnAssign)) and first.value is not None:
        target = first.targets[0] if isinstance(first, ast.Assign) else first.target
        if isinstance(target, ast.Name):
            with run.at_import(module):
                value = make_home(run, run.evaluate(first.value), f"global {name}", (id(module.globals), name))
                return UNKNOWN if name in module.rebound and isinstance(value, Const) else value
    return UNKNOWN


def imported_value(run: Run, statement: ast.Import | ast.ImportFrom, name: str) -> Value:
    """What an import inside a function binds."""
    return _imported(run, run.frame.module, statement, name)


def _imported(run: Run, module: ParsedModule, statement: ast.Import | ast.ImportFrom, name: str) -> Value:
    full = module.imported(statement, name)
    if isinstance(statement, ast.ImportFrom):
        source, _, attribute = full.rpartition(".")
        found = module.project.find(source, module)
        if found is not None and attribute in found.bound:
            return global_value(run, found, attribute)
    return External(full)


def make_home(run: Run, value: Value, home: str, place: tuple[int, str]) -> Value:
    """A container that outlives the call lives at a place from now on, and the containers in it do."""
    if isinstance(value, Container) and not value.home:
        value.home, value.place = home, place
        settled = isinstance(value, Sequence) and value.kind.startswith(("tuple", "paddle."))  # whatever changes it
        filled = bool(value.parts()) and (settled or place[1] not in run.frame.module.changed)
        value.fixed = value.fixed or filled
        for each in value.known:
            if isinstance(each, Container) and kind_of(each) != "tuple":
                make_home(run, each, home, (id(each), place[1]))
    return value


def define(run: Run, node: Any, cls: ClassInfo | None = None) -> Value:
    """A function or lambda that is defined here, decorators applied."""
    frame = run.frame
    scopes = (frame.names, *frame.scopes) if frame.node is not None else ()
    run.memory.scopes += scopes[:1]
    # dy2static converts a function that its module's globals hold: none that fresh function made while building
    nested = run.now.phase is Phase.INIT and frame.node is not None and not isinstance(node, ast.Lambda)
    converted = not nested and not frame.module.generates(node)
    inline = converted and run.forward and run.now.converted
    value: Value = Function(node, frame.module, scopes, None, cls or frame.cls, converted, inline=inline)
    for decorator in reversed(getattr(node, "decorator_list", [])):
        value = _decorated(run, value, decorator)
    return value


def _decorated(run: Run, value: Value, decorator: ast.expr) -> Value:
    made = run.evaluate(decorator.func if isinstance(decorator, ast.Call) else decorator)
    if isinstance(made, External):
        if made.name in _DECORATORS and isinstance(value, Function):
            return _DECORATORS[made.name](value)
        return UNKNOWN if made.name.startswith("contextlib.") else value
    if isinstance(made, Function):
        if isinstance(decorator, ast.Call):
            made = run.evaluate(decorator)
        return run.call(made, Call(decorator, (value,)))
    return value


def bind(run: Run, name: str, value: Value, node: ast.AST) -> None:
    """Assign to a name of the frame, or of the scope that `global` or `nonlocal` points to."""
    run.memory.assign(value, node)
    frame = run.frame
    if name in frame.globals:
        run.effects.write((id(frame.module.globals), name), run.site(node), f"global {name}", "global", value)
        run.heap.write(frame.module.globals, name, value)
    elif name in frame.outer:
        where = next((scope for scope in frame.scopes if name in scope), frame.names)
        if getattr(where, "persistent", False):
            run.effects.write((id(where), name), run.site(node), f"nonlocal {name}", "closure", value)
        run.heap.write(where, name, value)
    else:
        run.heap.write(frame.names, name, value)


EXPRESSIONS = {ast.Name: _name}

"""Calls on paper: the user's functions are entered, what libraries do is known by name."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from exporter.check.domain.join import join, join_all, select
from exporter.check.domain.values import (
    UNKNOWN,
    Broken,
    Class,
    Const,
    Either,
    External,
    Fields,
    Function,
    Instance,
    Layer,
    Mapping,
    Method,
    Partial,
    Scalar,
    Sequence,
    Tensor,
    Value,
    inputs_of,
)
from exporter.check.facts import Clashed, Phase, Recursed, Returned
from exporter.check.interpret.containers import another
from exporter.check.interpret.objects import Elsewhere, Objects, kind_of_argument
from exporter.check.models import libraries, methods
from exporter.check.models.paddle import apply_layer
from exporter.check.source.project import ClassInfo
from exporter.check.source.syntax import assigned_calls, unpacked_enumerates
from exporter.check.state.machine import DEEPEST, Frame, Result, Scope

_MOST_RUNS = 3  # of one function with values of the same kinds; later ones give what the last gave
_KEEPERS = ("paddle.jit.not_to_static", "paddle.jit.marker.unified", "paddle.jit.ignore_module")
_DISPATCHERS = ("functools.singledispatch", "functools.singledispatchmethod")
_CACHES = ("functools.lru_cache", "functools.cache")


class Calls(Objects):
    """Evaluation of calls."""

    def __init__(self) -> None:
        super().__init__()
        self._cached_early: set[ast.AST] = set()
        self._callers: dict[type, Callable[..., Value]] = {
            Class: self._call_class,
            Either: self._call_either,
            External: self._call_external,
            Fields: self._call_fields,
            Function: self.call_function,
            Instance: self._call_instance,
            Layer: self._call_layer,
            Method: self._call_method,
            Partial: self._call_partial,
            Sequence: self._call_sequence,
        }

    def function(self, node: Any, cls: ClassInfo | None = None) -> Value:
        """A function or lambda that is defined here, decorators applied."""
        frame = self.frame
        scopes = (frame.names, *frame.scopes) if frame.node is not None else ()
        # dy2static converts a function that its module's globals hold: none that another function made while building
        nested = isinstance(node, ast.Lambda) or (self.now.phase is Phase.INIT and frame.node is not None)
        made_early = not self.forward and nested
        converted = not made_early and not libraries.is_generator(node)
        value: Value = Function(node, frame.module, scopes, None, cls or frame.cls, converted)
        if isinstance(value, Function):
            value.inline = converted and self.forward and self.now.converted
        for decorator in reversed(getattr(node, "decorator_list", [])):
            value = self._decorated(value, decorator)
        return value

    def _decorated(self, value: Value, decorator: ast.expr) -> Value:
        made = self.evaluate(decorator.func if isinstance(decorator, ast.Call) else decorator)
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
                made = self.evaluate(decorator)
            return self.call(made, (value,), {}, decorator)
        return value

    def call(self, function: Value, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
        handler = self._callers.get(type(function))
        if handler is not None:
            return handler(function, arguments, keywords, node)
        self.consumed(arguments, keywords)
        return UNKNOWN

    def _call_external(
        self, function: External, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        if function.name == methods.REMOVE_HOOK:
            return methods.unhooked(self, *arguments)
        self.emit_call(node, function.name, None, arguments, keywords)
        return libraries.call_external(self, function.name, arguments, keywords, node)

    def _call_fields(
        self, fields: Fields, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        defaults = dict(zip(fields.names[len(fields.names) - len(fields.defaults) :], fields.defaults, strict=False))
        given = defaults | dict(zip(fields.names, arguments, strict=False)) | keywords
        if set(given) != set(fields.names):
            return Sequence("tuple", (*arguments, *keywords.values()))
        return Sequence("tuple", tuple(given[name] for name in fields.names))

    def _call_class(
        self, function: Class, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        return self.instantiate(function.info, arguments, keywords, node)

    def _call_layer(
        self, layer: Layer, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        arguments = self.hooked_before(layer, arguments, node)
        self.emit_call(node, f"{layer.name}.forward", layer, arguments, keywords)
        value = apply_layer(layer, arguments, keywords)
        if isinstance(value, Tensor) and not value.recipe and "Dropout" not in layer.name:
            value.recipe = ("layer", layer, *arguments, *keywords.values())
        return self.hooked_after(layer, arguments, value, node)

    def hooked_before(self, layer: Layer | Instance, arguments: tuple[Value, ...], node: ast.AST) -> tuple[Value, ...]:
        """What a layer is called with after the hooks before it had their say; dy2static does not convert hooks."""
        for hook in layer.before:
            given = self.call_unseen(hook, (layer, Sequence("tuple", arguments)), node)
            if isinstance(given, Sequence) and given.rest is None:
                arguments = given.items
            elif isinstance(given, Tensor):
                arguments = (given,)
        return arguments

    def hooked_after(self, layer: Layer | Instance, arguments: tuple[Value, ...], value: Value, node: ast.AST) -> Value:
        """What a layer gives after the hooks behind it had their say."""
        for hook in layer.hooks:
            given = self.call_unseen(hook, (layer, Sequence("tuple", arguments), value), node)
            value = value if isinstance(given, Const) or type(given) is Value else given
        return value

    def _call_partial(
        self, function: Partial, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        inner = function.function
        if isinstance(inner, Function) and not inner.inline:
            inner = replace(inner, converted=False)
        return self.call(inner, (*function.arguments, *arguments), {**function.keywords, **keywords}, node)

    def _call_either(
        self, function: Either, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        possible = [each for each in function.options if not isinstance(each, Const)]
        return join_all([self.call(each, arguments, keywords, node) for each in possible])

    def consumed(self, arguments: tuple[Value, ...], keywords: dict[str, Value]) -> None:
        """Values went where nothing is known of: whatever comes out may depend on them."""
        self.sunk |= inputs_of((*arguments, *keywords.values()))

    exported: ast.AST | None = None
    blank = False  # nothing is known of what the model was built with
    outputs: tuple[Value, ...] = ()

    def tensor_written(self, tensor: Tensor, node: ast.AST) -> None:
        """A tensor is changed in place; a buffer keeps it for the next call."""
        if tensor.origin in ("buffer", "parameter", "eager"):
            self.note_change(tensor.place or (id(tensor), ""), node, tensor.name or "a tensor", "buffer")

    def _call_sequence(
        self, layers: Sequence, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        if layers.kind != "paddle.nn.Sequential":
            return UNKNOWN
        value = arguments[0] if arguments else UNKNOWN
        every = (*layers.items, *((layers.rest,) if layers.rest is not None else ()))
        for layer in every:
            if type(layer) is Value:
                value = Tensor(value.sizes[:1] if isinstance(value, Tensor) else (), False, inputs_of((value,)))
            else:
                value = self.call(layer, (value,), {}, node)
        return value

    def call_function(
        self, function: Function, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        if function.dispatched:
            self.emit_call(node, "functools.singledispatch", None, arguments, keywords)
        if function.owner is not None:
            arguments = (function.owner, *arguments)
        body = function.node
        if any(frame.node is body for frame in self.stack):
            return self._recursion(function, arguments, keywords, node)
        if len(self.stack) >= DEEPEST:
            return UNKNOWN
        key = (body, tuple(kind_of_argument(each) for each in (*arguments, *keywords.values())), self.now.converted)
        runs, last = self._runs.get(key, (0, UNKNOWN))
        if runs >= _MOST_RUNS and self.forward:
            inputs = inputs_of((*arguments, *keywords.values()))
            return another(last, inputs)
        value = self._enter(function, arguments, keywords, node)
        self._runs[key] = (runs + 1, value)
        return value

    def _recursion(
        self, function: Function, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        outer = next(frame for frame in self.stack if frame.node is function.node)
        if self.forward and self.now.branches > outer.branches and not self.now.undecided:
            name = getattr(function.node, "name", "lambda")
            given = [each.arg for each in function.node.args.args]
            pairs = [(outer.names.get(each), value) for each, value in zip(given, arguments, strict=False)]
            counted = any(isinstance(one, Const) and isinstance(other, (Const, Scalar)) for one, other in pairs)
            self.facts.append(Recursed(self.site(node), name, counted))
        return Tensor(inputs=inputs_of((*arguments, *keywords.values())))

    def _enter(
        self, function: Function, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        body, now = function.node, self.now
        self.visited.add(body)
        names = Scope()
        names.lasting = not self.forward
        frame = Frame(function.module, names, function.scopes, function.cls, body, branches=now.branches)
        frame.loops, frame.undecided = now.loops + now.python_loops, now.undecided
        frame.unrolled = now.unrolled
        left = now.converted and not function.converted
        inside = replace(
            now,
            converted=now.converted and function.converted,
            called_from=(self.frame.module, node) if left else now.called_from,
            loop_kind="",
        )
        with Elsewhere(self, frame, inside):
            self._bind_parameters(function, arguments, keywords)
            if isinstance(body, ast.Lambda):
                return self.evaluate(body.body)
            if self.forward and inside.converted:
                for target in assigned_calls(body):
                    self.emit_call(target, "assigned call", None, (), {})
                for loop in unpacked_enumerates(body):
                    self.emit_call(loop, "unpacked enumerate", None, (), {})
            before = dict(self._written)
            ends = self.execute(body.body)
            if function.manager:
                self.take_back(before, body)
            if body is self.exported and self.forward:
                known = self.root is not None and self.root.complete
                self.facts += [
                    Returned(self.site(each.node), each.value, each.certain and known) for each in frame.returns
                ]
                self.outputs += tuple(each.value for each in frame.returns)
            value = self._result(frame, ends)
        if function.cached and not self.forward:
            self._cached_early.add(body)
        if function.cached and self.forward and isinstance(value, Tensor):
            returned = frame.returns[-1].node if frame.returns else body
            value = Tensor(value.sizes, value.closed, value.inputs, "eager", made=(function.module, returned))
            with self.circumstances(called_from=None):
                self.capture(value, node, "cache" if body in self._cached_early else "late cache")
            return Tensor(value.sizes, value.closed, value.inputs)
        return value

    def _result(self, frame: Frame, ends: bool) -> Value:
        if libraries.is_generator(frame.node):
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
                value = self._returned_either(value, other.value, at)
            else:
                value = join(value, other.value)
        return value

    def _returned_either(self, one: Value, other: Value, node: ast.AST) -> Value:
        value, reason = select(one, other)
        if not reason and _structure(one) != _structure(other):
            reason = "structure"
        if reason and self.forward and self.now.converted:
            broken = Broken(reason, "the result", self.frame.module, node, value)
            self.facts.append(Clashed(self.site(node), broken, "return"))
        return value

    def _bind_parameters(self, function: Function, arguments: tuple[Value, ...], keywords: dict[str, Value]) -> None:
        spec, names = function.node.args, self.frame.names
        given = list(arguments)
        positional = [*spec.posonlyargs, *spec.args]
        defaults = [None] * (len(positional) - len(spec.defaults)) + list(spec.defaults)
        keywords = dict(keywords)
        for parameter, default in zip(positional, defaults, strict=True):
            if given:
                names[parameter.arg] = given.pop(0)
            else:
                names[parameter.arg] = (
                    keywords.pop(parameter.arg)
                    if parameter.arg in keywords
                    else self._default(function, parameter, default)
                )
        for parameter, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True):
            names[parameter.arg] = (
                keywords.pop(parameter.arg)
                if parameter.arg in keywords
                else self._default(function, parameter, default)
            )
        if spec.vararg is not None:
            names[spec.vararg.arg] = Sequence("tuple", tuple(given))
        if spec.kwarg is not None:
            names[spec.kwarg.arg] = Mapping({key: each for key, each in keywords.items()})

    def _default(self, function: Function, parameter: ast.arg, default: ast.expr | None) -> Value:
        if default is None:
            return UNKNOWN
        known = function.defaults.get(parameter.arg)
        if known is not None:
            return known
        value = self.evaluate(default)
        if isinstance(value, (Sequence, Mapping)):
            # one object for all calls: what is added to it stays
            self._at_home(value, f"default of {parameter.arg}", (id(default), parameter.arg))
        return value

    def _call_method(
        self, method: Method, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        owner, name = method.owner, method.name
        self.emit_call(node, f"{methods.kind_of(owner)}.{name}", owner, arguments, keywords)
        return methods.call_method(self, owner, name, arguments, keywords, node)


def _structure(value: Value) -> object:
    if isinstance(value, Sequence) and value.kind in ("list", "tuple"):
        return len(value.items) if value.rest is None else "?"
    if isinstance(value, Mapping):
        return "dict"
    return "one"

"""Calls on paper: the user's functions are entered, what libraries do is known by name."""

from __future__ import annotations

import ast
import itertools
from dataclasses import replace
from typing import Any

from exporter.check import libraries
from exporter.check.expressions import Expressions
from exporter.check.facts import Clashed, Phase, Recursed, Returned
from exporter.check.machine import DEEPEST, Circumstances, Frame, Result
from exporter.check.module import ClassInfo, ParsedModule
from exporter.check.paddle_api import apply_layer
from exporter.check.values import (
    UNBOUND,
    UNKNOWN,
    Broken,
    Class,
    Const,
    Either,
    External,
    Function,
    Instance,
    Layer,
    Mapping,
    Method,
    Partial,
    Scalar,
    Sequence,
    Super,
    Tensor,
    Value,
    element,
    inputs_of,
    join,
    only_tensor,
    select,
)

_MOST_RUNS = 3  # of one function with values of the same kinds; later ones give what the last gave
_CONVERTERS = ("paddle.jit.to_static", "paddle.jit.api.to_static")
_KEEPERS = ("paddle.jit.not_to_static", "paddle.jit.marker.unified", "paddle.jit.ignore_module")
_CACHES = ("functools.lru_cache", "functools.cache")


class Calls(Expressions):
    """Evaluation of calls, attributes of the user's objects, and globals."""

    def __init__(self) -> None:
        super().__init__()
        self._assigned: dict[int, tuple[Value, ast.AST]] = {}
        self._runs: dict[Any, tuple[int, Value]] = {}

    # -------------------------------------------------------------------------------------------------------- globals

    def bind(self, name: str, value: Value, node: ast.AST) -> None:
        self._assigned[id(value)] = (value, node)
        super().bind(name, value, node)

    def assigned_at(self, value: Value) -> ast.AST | None:
        """Where a name was last given this very value."""
        entry = self._assigned.get(id(value))
        return entry[1] if entry else None

    def global_value(self, module: ParsedModule, name: str) -> Value:
        """What a top-level name stands for; assignments are evaluated when they are first asked for."""
        known = module.globals.get(name)
        if isinstance(known, Value):
            return known
        if name in module.classes:
            value: Value = Class(module.classes[name])
        elif name in module.names:
            module.globals[name] = UNKNOWN  # a name that is defined by itself
            value = self._global_binding(module, name)
        else:
            value = External(f"builtins.{name}")
        module.globals[name] = value
        return value

    def _global_binding(self, module: ParsedModule, name: str) -> Value:
        bindings = module.names[name]
        first = bindings[0]
        if isinstance(first, (ast.Import, ast.ImportFrom)):
            return self._imported(module, first, name)
        if isinstance(first, (ast.FunctionDef, ast.AsyncFunctionDef)):
            with self._at_import(module):
                return self.function(bindings[-1]) if isinstance(bindings[-1], type(first)) else UNKNOWN
        if len(bindings) == 1 and isinstance(first, (ast.Assign, ast.AnnAssign)) and first.value is not None:
            target = first.targets[0] if isinstance(first, ast.Assign) else first.target
            if isinstance(target, ast.Name):
                with self._at_import(module):
                    return self._at_home(self.evaluate(first.value), f"global {name}", (id(module.globals), name))
        return UNKNOWN

    def _at_import(self, module: ParsedModule) -> Any:
        return _Elsewhere(self, Frame(module, {}), Circumstances())

    def imported_value(self, statement: ast.Import | ast.ImportFrom, name: str) -> Value:
        """What an import inside a function binds."""
        return self._imported(self.frame.module, statement, name)

    def _imported(self, module: ParsedModule, statement: ast.Import | ast.ImportFrom, name: str) -> Value:
        full = module.imported(statement, name)
        if isinstance(statement, ast.ImportFrom):
            source, _, attribute = full.rpartition(".")
            found = module.project.find(source, module)
            if found is not None and attribute in found.bound:
                return self.global_value(found, attribute)
        return External(full)

    def external_attribute(self, owner: External, name: str) -> Value:
        found = self.frame.module.project.find(owner.name, self.frame.module)
        if found is not None and name in found.bound:
            return self.global_value(found, name)
        return External(f"{owner.name}.{name}")

    # ------------------------------------------------------------------------------------------------------ functions

    def function(self, node: Any, cls: ClassInfo | None = None) -> Value:
        """A function or lambda that is defined here, decorators applied."""
        frame = self.frame
        scopes = (frame.names, *frame.scopes) if frame.node is not None else ()
        made_early = not self.forward and isinstance(node, ast.Lambda)
        converted = not made_early and not libraries.is_generator(node)
        value: Value = Function(node, frame.module, scopes, None, cls or frame.cls, converted)
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
            return UNKNOWN if made.name.startswith("contextlib.") else value
        if isinstance(made, Function):
            if isinstance(decorator, ast.Call):
                made = self.evaluate(decorator)
            return self.call(made, (value,), {}, decorator)
        return value

    def call(self, function: Value, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST) -> Value:
        if isinstance(function, Function):
            return self._call_function(function, arguments, keywords, node)
        if isinstance(function, External):
            self.emit_call(node, function.name, None, arguments, keywords)
            return libraries.call_external(self, function.name, arguments, keywords, node)
        if isinstance(function, Method):
            return self._call_method(function, arguments, keywords, node)
        if isinstance(function, Class):
            return self.instantiate(function.info, arguments, keywords, node)
        if isinstance(function, Instance):
            return self._call_instance(function, arguments, keywords, node)
        if isinstance(function, Layer):
            self.emit_call(node, f"{function.name}.forward", function, arguments, keywords)
            return apply_layer(function, arguments, keywords)
        if isinstance(function, Sequence) and function.kind == "paddle.nn.Sequential":
            return self._fold(function, arguments, node)
        if isinstance(function, Partial):
            inner = function.function
            if isinstance(inner, Function):
                inner = replace(inner, converted=False)
            return self.call(inner, (*function.arguments, *arguments), {**function.keywords, **keywords}, node)
        if isinstance(function, Either):
            results = [
                self.call(each, arguments, keywords, node) for each in function.options if not isinstance(each, Const)
            ]
            value = results[0] if results else UNKNOWN
            for each in results[1:]:
                value = join(value, each)
            return value
        self.consumed(arguments, keywords)
        return UNKNOWN

    def consumed(self, arguments: tuple[Value, ...], keywords: dict[str, Value]) -> None:
        """Values went where nothing is known of: whatever comes out may depend on them."""
        self.sunk |= inputs_of((*arguments, *keywords.values()))

    exported: ast.AST | None = None
    outputs: tuple[Value, ...] = ()

    def tensor_written(self, tensor: Tensor, node: ast.AST) -> None:
        """A tensor is changed in place; a buffer keeps it for the next call."""
        if tensor.origin in ("buffer", "parameter", "eager"):
            self.note_change(tensor.place or (id(tensor), ""), node, tensor.name or "a tensor", "buffer")

    def _fold(self, layers: Sequence, arguments: tuple[Value, ...], node: ast.AST) -> Value:
        value = arguments[0] if arguments else UNKNOWN
        every = (*layers.items, *((layers.rest,) if layers.rest is not None else ()))
        for layer in every:
            if type(layer) is Value:
                value = Tensor(value.sizes[:1] if isinstance(value, Tensor) else (), False, inputs_of((value,)))
            else:
                value = self.call(layer, (value,), {}, node)
        return value

    def _call_function(
        self, function: Function, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        if function.owner is not None:
            arguments = (function.owner, *arguments)
        body = function.node
        if any(frame.node is body for frame in self.stack):
            return self._recursion(function, arguments, keywords, node)
        if len(self.stack) >= DEEPEST:
            return UNKNOWN
        key = (body, tuple(_kind(each) for each in (*arguments, *keywords.values())), self.now.converted)
        runs, last = self._runs.get(key, (0, UNKNOWN))
        if runs >= _MOST_RUNS and self.forward:
            inputs = inputs_of((*arguments, *keywords.values()))
            return replace(last, inputs=last.inputs | inputs) if isinstance(last, Tensor) else last
        value = self._enter(function, arguments, keywords, node)
        self._runs[key] = (runs + 1, value)
        return value

    def _recursion(
        self, function: Function, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        outer = next(frame for frame in self.stack if frame.node is function.node)
        if self.forward and self.now.branches > outer.branches and not self.now.undecided:
            name = getattr(function.node, "name", "lambda")
            self.facts.append(Recursed(self.site(node), name))
        return Tensor(inputs=inputs_of((*arguments, *keywords.values())))

    def _enter(
        self, function: Function, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        body, now = function.node, self.now
        self.visited.add(body)
        frame = Frame(function.module, {}, function.scopes, function.cls, body, branches=now.branches)
        frame.loops, frame.undecided = now.loops + now.python_loops, now.undecided
        left = now.converted and not function.converted
        inside = replace(
            now,
            converted=now.converted and function.converted,
            called_from=(self.frame.module, node) if left else now.called_from,
            loop_kind="",
        )
        with _Elsewhere(self, frame, inside):
            self._bind_parameters(function, arguments, keywords)
            if isinstance(body, ast.Lambda):
                return self.evaluate(body.body)
            ends = self.execute(body.body)
            if body is self.exported and self.forward:
                self.facts += [Returned(self.site(each.node), each.value, each.certain) for each in frame.returns]
                self.outputs += tuple(each.value for each in frame.returns)
            value = self._result(frame, ends)
        if function.cached and self.forward and isinstance(value, Tensor):
            returned = frame.returns[-1].node if frame.returns else body
            value = Tensor(value.sizes, value.closed, value.inputs, "eager", made=(function.module, returned))
            with self.circumstances(called_from=None):
                self.capture(value, node, "cache")
            return Tensor(value.sizes, value.closed, value.inputs)
        return value

    def _result(self, frame: Frame, ends: bool) -> Value:
        if libraries.is_generator(frame.node):
            value = frame.yields[0] if frame.yields else UNKNOWN
            for each in frame.yields[1:]:
                value = join(value, each)
            return Sequence("generator", (), value)
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
            names[spec.kwarg.arg] = Mapping({**keywords})

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

    # ---------------------------------------------------------------------------------------------- classes and objects

    def instantiate(
        self, info: ClassInfo, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        """An object of a class of the user's, its constructor run."""
        if info.is_layer:
            self.emit_call(node, "new layer", None, arguments, keywords)
        if info.is_tuple:
            return Sequence("tuple", (*arguments, *keywords.values()))
        made = Instance(info, complete=True, lasting=not self.forward)
        constructor = info.method("__init__")
        if constructor is not None:
            owner, method = constructor
            self._call_function(Function(method, owner.module, (), made, owner), arguments, keywords, node)
        elif info.is_dataclass:
            names = [
                each.target.id
                for each in info.node.body
                if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
            ]
            made.attributes.update(dict(zip(names, arguments, strict=False)), **keywords)
        else:
            self.consumed(arguments, keywords)
        return made

    def _call_instance(
        self, owner: Instance, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        for name in ("forward", "__call__"):
            if owner.cls.method(name) is not None:
                method = self.instance_attribute(owner, name, node)
                return self.call(method, arguments, keywords, node)
        if owner.cls.is_layer:  # its forward is inherited from Paddle
            first = next((each for each in arguments if isinstance(each, Tensor)), None)
            return Tensor(first.sizes[:1] if first else (), False, inputs_of((*arguments, *keywords.values())))
        self.consumed(arguments, keywords)
        return UNKNOWN

    def instance_attribute(self, owner: Instance, name: str, node: ast.AST) -> Value:
        if name == "training" and owner.cls.is_layer:
            return owner.attributes.get(name, Const(False))
        if name in owner.attributes:
            if owner.lasting:
                self.note_read((id(owner.attributes), name))
            value = self.settle(owner.attributes[name], node)
            return value if owner.cls.is_layer else self.capture(value, node, "object")
        found = owner.cls.method(name)
        if found is not None:
            return self._bound(owner, *found, node)
        assigned = owner.cls.attribute(name)
        if assigned is not None:
            place = (id(assigned[0]), name)
            self.note_read(place)
            with self._at_import(assigned[0].module):
                return self._at_home(self.evaluate(assigned[1]), f"{assigned[0].name}.{name}", place)
        if owner.cls.is_layer and name in libraries.LAYER_METHODS:
            return Method(owner, name)
        if name == "__class__":
            return Class(owner.cls)
        return UNKNOWN

    def _bound(self, owner: Value, cls: ClassInfo, method: ast.FunctionDef, node: ast.AST) -> Value:
        marks = [cls.module.resolve(each) for each in method.decorator_list]
        if "builtins.staticmethod" in marks:
            return Function(method, cls.module, cls=cls, converted=not libraries.is_generator(method))
        with self._at_import(cls.module):
            value = self.function(method, cls)
        if "builtins.classmethod" in marks:
            return replace(value, owner=Class(cls)) if isinstance(value, Function) else value
        bound = replace(value, owner=owner) if isinstance(value, Function) else value
        if "builtins.property" in marks or "functools.cached_property" in marks:
            return self.call(bound, (), {}, node)
        return bound

    def class_attribute(self, owner: Class, name: str, node: ast.AST) -> Value:
        found = owner.info.method(name)
        if found is not None:
            marks = [found[0].module.resolve(each) for each in found[1].decorator_list]
            made = Function(found[1], found[0].module, cls=found[0])
            return replace(made, owner=owner) if "builtins.classmethod" in marks else made
        assigned = owner.info.attribute(name)
        if assigned is None:
            return UNKNOWN
        place = (id(assigned[0]), name)
        self.note_read(place)
        with self._at_import(assigned[0].module):
            return self._at_home(self.evaluate(assigned[1]), f"{owner.info.name}.{name}", place)

    def super_attribute(self, owner: Super, name: str) -> Value:
        cls = owner.instance.cls if isinstance(owner.instance, Instance) else owner.cls
        found = cls.method(name, after=owner.cls)
        if found is None:
            if name == "forward":
                return Scalar("layer")
            return Method(owner.instance, name) if name in libraries.LAYER_METHODS else UNKNOWN
        return Function(found[1], found[0].module, (), owner.instance, found[0])

    def set_attribute(self, owner: Value, name: str, value: Value, node: ast.AST) -> None:
        """Assign to an attribute of an object."""
        self._assigned[id(value)] = (value, node)
        if isinstance(owner, Class):
            self.note_change((id(owner.info), name), node, f"{owner.info.name}.{name}", "global")
            return
        if not isinstance(owner, Instance):
            return
        place = (id(owner.attributes), name)
        if owner.lasting:
            before = owner.attributes.get(name)
            buffer = isinstance(before, Tensor) and before.origin in ("buffer", "parameter")
            self.note_change(place, node, f"self.{name}", "buffer" if buffer else "attribute")
        if not self.forward:
            if isinstance(value, Tensor) and value.origin == "eager" and owner.cls.is_layer:
                value = replace(
                    value, origin="buffer", name=f"self.{name}", place=place
                )  # Layer.__setattr__ registers it
            self._at_home(value, f"self.{name}", place)
        self.store.write(owner.attributes, name, value)

    # ----------------------------------------------------------------------------------------------------- containers

    def _at_home(self, value: Value, home: str, place: tuple[int, str]) -> Value:
        if isinstance(value, (Sequence, Mapping)) and not value.home and getattr(value, "kind", "") != "tuple":
            value.home, value.place = home, place
        return value

    def note_container(self, container: Sequence | Mapping, node: ast.AST) -> None:
        """A container is about to be changed."""
        if container.place is not None:
            self.note_change(container.place, node, container.home, "container")

    def grow(self, container: Sequence, items: tuple[Value, ...], node: ast.AST) -> None:
        """Items are added to a list; in a loop there is no telling how many."""
        self.note_container(container, node)
        looping = self.now.loops + self.now.python_loops > self.frame.loops
        if looping or container.rest is not None:
            rest = container.rest if container.rest is not None else (element(container) if container.items else None)
            for each in items:
                rest = each if rest is None else join(rest, each)
            self.store.write(vars(container), "rest", rest)
            self.store.write(vars(container), "items", ())
        else:
            self.store.write(vars(container), "items", (*container.items, *items))
        if self.now.converted and (self.now.loops or self.now.branches > self.frame.branches):
            self.store.write(vars(container), "grown_in_branch", True)

    def meet_content(self, key: str, before: Any, left: Any, right: Any, tensor: bool) -> Any:
        """Two sides of a branch left different contents in one container."""
        if key == "grown_in_branch":
            return bool(left is True or right is True)
        if key == "items" and isinstance(left, dict) and isinstance(right, dict):
            if tensor and set(left) != set(right) and self.forward:
                at = self.frame.node or ast.Pass()
                node = next(
                    (each for each in (self.assigned_at(v) for v in (*left.values(), *right.values())) if each), at
                )
                self.facts.append(
                    Clashed(self.site(node), Broken("dict", "a dict", self.frame.module, node, UNKNOWN), "branch")
                )
            return {**left, **right}
        if key == "items" and isinstance(left, tuple) and isinstance(right, tuple):
            longer = left if len(left) >= len(right) else right
            return longer
        return left if right is before or right is UNBOUND else right

    def _call_method(
        self, method: Method, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        owner, name = method.owner, method.name
        self.emit_call(node, f"{libraries.kind_of(owner)}.{name}", owner, arguments, keywords)
        return libraries.call_method(self, owner, name, arguments, keywords, node)


class _Elsewhere:
    """Inside the block, another frame and other circumstances hold."""

    def __init__(self, machine: Calls, frame: Frame, now: Circumstances) -> None:
        self.machine, self.frame, self.now = machine, frame, now

    def __enter__(self) -> None:
        machine = self.machine
        self.before = (getattr(machine, "frame", None), machine.now)
        machine.frame, machine.now = self.frame, self.now
        machine.stack.append(self.frame)

    def __exit__(self, *_: object) -> None:
        machine = self.machine
        machine.stack.pop()
        machine.frame, machine.now = self.before  # type: ignore[assignment]


def _kind(value: Value) -> object:
    if isinstance(value, Const):
        return value
    if isinstance(value, Tensor):
        return ("tensor", value.sizes, value.guessed, value.origin)
    if isinstance(value, Instance):
        return id(value)
    return type(value)


def _structure(value: Value) -> object:
    if isinstance(value, Sequence) and value.kind in ("list", "tuple"):
        return len(value.items) if value.rest is None else "?"
    if isinstance(value, Mapping):
        return "dict"
    return "one" if only_tensor(value) else "one"


__all__ = ["Calls", "Phase"]

"""Objects, containers and globals on paper: what the names of the user's code stand for, and who changes them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from exporter.check.domain.join import element, join
from exporter.check.domain.values import (
    UNBOUND,
    UNKNOWN,
    Attributes,
    Broken,
    Class,
    Const,
    External,
    Function,
    Instance,
    Layer,
    Mapping,
    Method,
    Record,
    Scalar,
    Sequence,
    Super,
    Tensor,
    Value,
    inputs_of,
    mark_twins,
    register,
)
from exporter.check.facts import Clashed
from exporter.check.interpret.expressions import Expressions
from exporter.check.models import libraries, methods
from exporter.check.source.project import ClassInfo, ParsedModule
from exporter.check.state.machine import Circumstances, Frame


class Objects(Expressions):
    """Globals, attributes of the user's objects, and containers that change."""

    def __init__(self) -> None:
        super().__init__()
        self._assigned: dict[int, tuple[Value, ast.AST]] = {}
        self._made: dict[Any, Instance] = {}
        #: What class attributes were given since.
        self._of_classes: dict[str, Value] = {}
        self._runs: dict[Any, tuple[int, Value]] = {}

    consumed: Callable[..., None]
    call_function: Callable[..., Value]
    hooked_before: Callable[..., tuple[Value, ...]]
    hooked_after: Callable[..., Value]

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
        module.project.asked.add(module)
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
                    value = self._at_home(self.evaluate(first.value), f"global {name}", (id(module.globals), name))
                    return UNKNOWN if name in module.rebound and isinstance(value, Const) else value
        return UNKNOWN

    def _at_import(self, module: ParsedModule) -> Any:
        return Elsewhere(self, Frame(module, {}), Circumstances())

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

    def external_attribute(self, owner: External, name: str, node: ast.AST) -> Value:
        del node
        found = self.frame.module.project.find(owner.name, self.frame.module)
        if found is not None and name in found.bound:
            return self.global_value(found, name)
        return External(f"{owner.name}.{name}")

    def instantiate(
        self, info: ClassInfo, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        """An object of a class of the user's, its constructor run."""
        if info.is_layer:
            self.emit_call(node, "new layer", None, arguments, keywords)
        if info.is_tuple:
            return self._made_tuple(info, arguments, keywords)
        key = (
            id(info),
            *map(kind_of_argument, arguments),
            *((name, kind_of_argument(each)) for name, each in keywords.items()),
        )
        simple = not self.forward and all(_is_simple(each) for each in (*arguments, *keywords.values()))
        if simple and key in self._made:  # twins behave alike: one is run for all
            mark_twins(self._made[key])
            return self._made[key]
        made = Instance(info, complete=True, lasting=not self.forward)
        if simple:
            self._made[key] = made
        constructor = info.method("__init__")
        if constructor is not None:
            owner, method = constructor
            self.call_function(Function(method, owner.module, (), made, owner), arguments, keywords, node)
        elif info.is_dataclass:
            made.attributes.update(dict(zip(info.fields, arguments, strict=False)), **keywords)
        else:
            self.consumed(arguments, keywords)
        return made

    def _made_tuple(self, info: ClassInfo, arguments: tuple[Value, ...], keywords: dict[str, Value]) -> Value:
        """A `NamedTuple`, its fields in the order of the class, defaults for those that are not given."""
        given = dict(zip(info.fields, arguments, strict=False)) | keywords
        with self._at_import(info.module):
            defaults = {name: self.evaluate(node) for name, node in info.assigned.items() if name not in given}
        known = [given.get(name, defaults.get(name)) for name in info.fields]
        if not known or any(each is None for each in known):
            return Sequence("tuple", (*arguments, *keywords.values()))
        return Sequence("tuple", tuple(each for each in known if each is not None))

    def _call_instance(
        self, owner: Instance, arguments: tuple[Value, ...], keywords: dict[str, Value], node: ast.AST
    ) -> Value:
        for name in ("forward", "__call__"):
            if owner.cls.method(name) is not None:
                method = self.instance_attribute(owner, name, node)
                arguments = self.hooked_before(owner, arguments, node)
                return self.hooked_after(owner, arguments, self.call(method, arguments, keywords, node), node)
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
            return value if owner.cls.is_layer else self._of_object(owner, name, value, node)
        found = owner.cls.method(name)
        if found is not None:
            return self._bound(owner, *found, node)
        assigned = owner.cls.attribute(name)
        if assigned is not None:
            place = (id(assigned[0]), name)
            self.note_read(place)
            with self._at_import(assigned[0].module):
                kept = self._at_home(self.evaluate(assigned[1]), f"{assigned[0].name}.{name}", place)
            return self.capture(kept, node, "global")
        if owner.cls.is_layer and name in methods.LAYER_METHODS:
            return Method(owner, name)
        if name == "__class__":
            return Class(owner.cls)
        if name == "__dict__":
            return Attributes(owner)
        if owner.lasting:
            self.note_read((id(owner.attributes), name))
        return UNKNOWN

    def _of_object(self, owner: Instance, name: str, value: Value, node: ast.AST) -> Value:
        """What an object that is no layer keeps: a layer or tensor in it may be nobody's."""
        if owner.lasting:
            self.note_stray(value, node, f"{owner.cls.name}.{name}")
        return self.capture(value, node, "object")

    def _bound(self, owner: Value, cls: ClassInfo, method: ast.FunctionDef, node: ast.AST) -> Value:
        marks = [cls.module.resolve(each) for each in method.decorator_list]
        if "builtins.staticmethod" in marks:
            return Function(method, cls.module, cls=cls, converted=not libraries.is_generator(method))
        if not method.decorator_list:
            return Function(method, cls.module, (), owner, cls, not libraries.is_generator(method))
        with self._at_import(cls.module):
            value = self.function(method, cls)
        if "builtins.classmethod" in marks:
            return replace(value, owner=Class(cls)) if isinstance(value, Function) else value
        bound = replace(value, owner=owner) if isinstance(value, Function) else value
        if "builtins.property" in marks or "functools.cached_property" in marks:
            return self.call_unseen(bound, (), node)
        return bound

    def class_attribute(self, owner: Class, name: str, node: ast.AST) -> Value:
        found = owner.info.method(name)
        if name == "apply" and found is None and owner.info.is_py_layer:
            forward = owner.info.method("forward")
            return Function(forward[1], forward[0].module, (), UNKNOWN, forward[0]) if forward else UNKNOWN
        if found is not None:
            marks = [found[0].module.resolve(each) for each in found[1].decorator_list]
            made = Function(found[1], found[0].module, cls=found[0])
            return replace(made, owner=owner) if "builtins.classmethod" in marks else made
        assigned = owner.info.attribute(name)
        if assigned is None:
            return UNKNOWN
        place = (id(assigned[0]), name)
        self.note_read(place)
        if (given := self._of_classes.get(f"{id(owner.info)}.{name}")) is not None:
            return given
        with self._at_import(assigned[0].module):
            return self._at_home(self.evaluate(assigned[1]), f"{owner.info.name}.{name}", place)

    def super_attribute(self, owner: Super, name: str, node: ast.AST) -> Value:
        cls = owner.instance.cls if isinstance(owner.instance, Instance) else owner.cls
        found = cls.method(name, after=owner.cls)
        if found is None:
            if name == "forward":
                self._inherited_mode(owner, node)
                return Scalar("layer")
            return Method(owner.instance, name) if name in methods.LAYER_METHODS else UNKNOWN
        return Function(found[1], found[0].module, (), owner.instance, found[0])

    def _inherited_mode(self, owner: Super, node: ast.AST) -> None:
        """A layer that derives from one of Paddle's calls its forward: `training` may have been set for it."""
        if isinstance(owner.instance, Instance) and owner.instance.attributes.get("training") == Const(True):
            self.emit_call(node, "paddle.nn.Layer.train", owner.instance, (), {})

    def set_attribute(self, owner: Value, name: str, value: Value, node: ast.AST) -> None:
        """Assign to an attribute of an object."""
        self._assigned[id(value)] = (value, node)
        if isinstance(owner, Class):
            self.note_change((id(owner.info), name), node, f"{owner.info.name}.{name}", "global")
            self.store.write(self._of_classes, f"{id(owner.info)}.{name}", value)
            self.note_made_once((id(owner.info), name), value)
        elif isinstance(owner, Function):
            self.note_change((id(owner.node), name), node, f"{getattr(owner.node, 'name', 'lambda')}.{name}", "global")
        elif isinstance(owner, Record):
            if owner.lasting:
                self.note_change((id(owner.attributes), name), node, f"namespace.{name}", "attribute", value)
            self.store.write(owner.attributes, name, value)
        elif isinstance(owner, Layer):
            self._set_mode(owner, name, value, node)
        elif isinstance(owner, Instance):
            if (setter := owner.cls.setter(name)) is not None:
                self.call_unseen(Function(setter[1], setter[0].module, (), owner, setter[0]), (value,), node)
            else:
                self._set_own(owner, name, value, node)

    def _set_mode(self, owner: Layer, name: str, value: Value, node: ast.AST) -> None:
        """Setting `training` is what `train()` and `eval()` do, for this layer alone."""
        if name == "training" and isinstance(value, Const):
            self.store.write(vars(owner), "training", value.value is True)
            if value.value is True and any(each in owner.name for each in ("BatchNorm", "Dropout", "RReLU")):
                self.emit_call(node, "paddle.nn.Layer.train", owner, (), {})

    def _set_own(self, owner: Instance, name: str, value: Value, node: ast.AST) -> None:
        place = (id(owner.attributes), name)
        if owner.lasting:
            before = owner.attributes.get(name)
            buffer = isinstance(before, Tensor) and before.origin in ("buffer", "parameter")
            known = place in self._written
            self.note_restored(place, before, value)
            if not known or place in self._written:
                self.note_change(place, node, f"self.{name}", "buffer" if buffer else "attribute", value)
            self.note_made_once(place, value)
        if owner.cls.is_layer:
            register(value)
        if not self.forward:
            if isinstance(value, Tensor) and value.origin == "eager" and owner.cls.is_layer:
                value = replace(
                    value, origin="buffer", name=f"self.{name}", place=place
                )  # Layer.__setattr__ registers it
            self._at_home(value, f"self.{name}", place)
        self.store.write(owner.attributes, name, value)

    def _at_home(self, value: Value, home: str, place: tuple[int, str]) -> Value:
        if isinstance(value, (Sequence, Mapping)) and not value.home:
            value.home, value.place = home, place
            value.fixed = place[1] not in self.frame.module.changed
            for each in value.items.values() if isinstance(value, Mapping) else value.items:
                if isinstance(each, (Sequence, Mapping)) and each.kind != "tuple":
                    self._at_home(each, home, (id(each), place[1]))
        return value

    def note_container(self, container: Sequence | Mapping, node: ast.AST, value: Value = UNKNOWN) -> None:
        """A container is about to be changed, maybe by taking in a value."""
        if container.place is not None:
            self.note_change(container.place, node, container.home, "container", value)

    def grow(self, container: Sequence, items: tuple[Value, ...], node: ast.AST) -> None:
        """Items are added to a list; in a loop there is no telling how many."""
        self.note_container(container, node)
        now, frame = self.now, self.frame
        looping = now.loops + now.python_loops - now.unrolled > frame.loops - frame.unrolled
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
                alone = [each[key] for each in (left, right) for key in set(left) ^ set(right) if key in each]
                node = next((each for each in map(self.assigned_at, alone) if each), at)
                self.facts.append(
                    Clashed(self.site(node), Broken("dict", "a dict", self.frame.module, node, UNKNOWN), "branch")
                )
            return {**left, **right}
        if key == "items" and isinstance(left, tuple) and isinstance(right, tuple):
            longer = left if len(left) >= len(right) else right
            return longer
        return left if right is before or right is UNBOUND else right


class Elsewhere:
    """Inside the block, another frame and other circumstances hold."""

    def __init__(self, machine: Objects, frame: Frame, now: Circumstances) -> None:
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


def _is_simple(value: Value) -> bool:
    return isinstance(value, (Const, External, Class, Scalar)) or value is UNKNOWN


def kind_of_argument(value: Value) -> object:
    """What tells two arguments apart as far as a run on paper is concerned."""
    if isinstance(value, (Const, External)):
        return value
    if isinstance(value, Class):
        return id(value.info)
    if isinstance(value, Tensor):
        return ("tensor", value.sizes, value.guessed, value.origin)
    if isinstance(value, Instance):
        return id(value)
    return type(value)

"""Begin a run: which layers of a module are exported, with which inputs."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import NamedTuple, TypeAlias

from exporter.base.diagnostics import Location
from exporter.check.assumptions import assumed, callable_bare, configuration, has_defaults
from exporter.check.domain.call import Call
from exporter.check.domain.contents import inputs_of
from exporter.check.domain.values import (
    UNKNOWN,
    Class,
    Const,
    Container,
    Extent,
    Function,
    Instance,
    Mapping,
    Scalar,
    Tensor,
    Union,
    Value,
    options,
)
from exporter.check.facts import Defined, Fact, Ignored, Phase
from exporter.check.inputs import Inputs, Suggested, declared_specs
from exporter.check.interpret.calls import hooked_after, hooked_before
from exporter.check.interpret.events import capture
from exporter.check.interpret.functions import default_of
from exporter.check.source.project import ClassInfo, ParsedModule
from exporter.check.source.syntax import of_kind
from exporter.check.state.frames import Circumstances, Frame
from exporter.check.state.run import OutOfBudget, Run
from exporter.check.tables import tables

Build: TypeAlias = Callable[[Run], Instance | None]

#: Arguments of a factory: names, and values as literals of Python.
Given: TypeAlias = tuple[tuple[str, str], ...]


_MOST_TOLD = 3  # assumed inputs that a message names
_MOST_FACTORIES = 2  # of one class: their arguments choose other branches

_MAYBE_TENSOR = re.compile(r"(typing\.)?Optional\[[\w.]*Tensor\]|[\w.]*Tensor \| None")
#: Names of what is a number or a configuration, where no annotation says otherwise.
_NO_TENSOR = re.compile(r"(cfg|config|kwargs|args|_len|_size|_shape)$|^(num|max|min)_")
_PLAIN_TYPES = ("int", "float", "bool", "str")


class Model(NamedTuple):
    """A model that can be built without arguments: the name to call, the line of its `forward`, its inputs."""

    builder: str
    forward: Location
    inputs: Inputs


@dataclass(eq=False, repr=False)
class Findings:
    """What running the models of one module gave; `seen` are the functions that were run."""

    facts: list[Fact] = field(default_factory=list)
    layers: int = 0
    unfinished: int = 0
    models: list[Model] = field(default_factory=list)
    assumed: list[Assumed] = field(default_factory=list)
    seen: set[ast.AST] = field(default_factory=set)


class Assumed(NamedTuple):
    """What running a model gave with the inputs and arguments that its code suggests, where nothing says them."""

    what: str
    facts: list[Fact]


def run_module(
    module: ParsedModule, target: str = "", inputs: Inputs = (), named: bool = True, given: Given = ()
) -> Findings:
    """Interpret every model of a module, or only `target` (a class or a factory), which is called with `given`.

    A layer that no function of the module builds is taken for an exported one only if the file was `named`; otherwise
    it may as well be a part, so what it returns is judged mildly.
    """
    declared = declared_specs(module)
    found = Findings()
    if not inputs and len({one.inputs for one in declared}) == 1:
        inputs = declared[0].inputs
    runs: Counter[str] = Counter()
    for factory, mentioned in _factories(module, target, named):
        if target or any(runs[name] < _MOST_FACTORIES for name in mentioned):
            runs.update(mentioned)
            _run_factory(module, factory.name, partial(_made_by, factory, module, given), inputs, found, named)
    if target and not _is_defined(module, target):
        _run_factory(module, target, partial(_made_as, target, module), inputs, found, False)
    layers = [info for info in module.classes.values() if info.is_layer and target in ("", info.name)]
    layers.sort(key=lambda info: info.name in _used(module))
    for info in layers:
        method = info.methods.get("forward") or info.methods.get("__init__")
        inherits = "forward" not in info.methods and info.name != target
        last = named and info.method("forward") is not None and info.name not in _used(module)
        public = named and info.name in _declared_public(module)
        if (method in found.seen and not public) or (method is None and not last) or (inherits and not last):
            continue
        exported = bool(target) or info.name not in _used(module)
        run = Run(tables())
        finished = _run(run, module, partial(_blank, info, named, given), inputs, found, exported)
        if finished and (exported or public) and named and not info.name.endswith("Loss"):  # that takes lists
            _assume(run, info, partial(_blank, info, True, given, usual=True), inputs, found, has_defaults(info))
        if exported and named and run.root is not None and callable_bare(info):
            found.models.append(Model(info.name, _forward_of(run.root), inputs))
        found.seen |= run.visited
    followed = sum(info.is_layer and (info.methods.get("forward") in found.seen) for info in module.classes.values())
    found.layers = followed or len(found.models)  # a factory here may build layers of other modules
    return found


@lru_cache(maxsize=1)
def _used(module: ParsedModule) -> frozenset[str]:
    """Classes that other classes of the module build on or contain: nobody exports them by themselves."""
    names = module.classes.keys()
    parts = [each for each in module.classes.values() if module.mentions(each.node, names - {each.name})]
    return frozenset(each.id for info in parts for each in of_kind(info.node, ast.Name) if each.id != info.name)


def _declared_public(module: ParsedModule) -> frozenset[str]:
    """The names in `__all__`: a class among them may be exported by itself, though others build on it."""
    bindings = module.names.get("__all__", [])
    lists = [each.value for each in bindings if isinstance(each, ast.Assign) and isinstance(each.value, ast.List)]
    return frozenset(str(item.value) for each in lists for item in each.elts if isinstance(item, ast.Constant))


def _factories(module: ParsedModule, target: str, named: bool) -> Iterator[tuple[ast.FunctionDef, frozenset[str]]]:
    """Functions that may build a layer without arguments, with the classes that they mention.

    In a file that was named and has no layer of its own, also those that return something of what is imported.
    """
    layers = {name for name, info in module.classes.items() if info.is_layer}
    imports = (ast.Import, ast.ImportFrom) if named and not layers else ()
    imported = {name for name, bindings in module.names.items() if isinstance(bindings[-1], imports)}
    either = layers | imported
    for name, bindings in module.names.items():
        node = bindings[-1]
        if not isinstance(node, ast.FunctionDef) or (target and name != target):
            continue
        required = len(node.args.args) - len(node.args.defaults)
        if not target and (required or not module.mentions(node, either)):
            continue
        mentioned = {each.id for each in of_kind(node, ast.Name)}
        if target or (mentioned & layers):
            yield node, frozenset(mentioned & layers)
        elif mentioned & imported and any(each.value for each in of_kind(node, ast.Return)):
            yield node, frozenset({name})


def _run_factory(
    module: ParsedModule, name: str, build: Build, inputs: Inputs, found: Findings, assuming: bool
) -> None:
    run = Run(tables())
    if _run(run, module, build, inputs, found, True) and assuming and run.root is not None:
        _assume(run, run.root.cls, build, inputs, found, False)
    if run.root is not None:
        found.models.append(Model(name, _forward_of(run.root), inputs))
    found.seen |= run.visited


def _made_by(factory: ast.FunctionDef, module: ParsedModule, given: Given, run: Run) -> Instance | None:
    """The layer that a function of the module builds."""
    return _layer_of(run.call(Function(factory, module), Call(factory, (), _literals(run, given))))


def _made_as(target: str, module: ParsedModule, run: Run) -> Instance | None:
    """The layer of a factory that is a value: an alias, a partial, a lambda, something imported, a class's member."""
    expression = ast.copy_location(ast.parse(target, mode="eval").body, module.tree.body[0])
    return _layer_of(run.call(run.evaluate(expression), Call(expression)))


def _is_defined(module: ParsedModule, target: str) -> bool:
    """Whether a target is a class, or a function that was not bound to something else behind its definition."""
    return target in module.classes or isinstance(module.names.get(target, [None])[-1], ast.FunctionDef)


def _layer_of(made: Value) -> Instance | None:
    """The layer that a factory gave."""
    return next((each for each in options(made) if isinstance(each, Instance) and each.cls.is_layer), None)


def _literals(run: Run, given: Given) -> dict[str, Value]:
    return {name: run.evaluate(ast.parse(text, mode="eval").body) for name, text in given}


def _blank(info: ClassInfo, known: bool, given: Given, run: Run, usual: bool = False) -> Instance:
    """An instance whose constructor got arguments that nothing is known of, but for those that are `given`.

    `usual`: those that have a default are left out.
    """
    run.blank = True
    made = Instance(info, complete=known, persistent=True)
    run.memory.scopes.append(made.attributes)
    constructor = info.method("__init__")
    if constructor is not None:
        owner, method = constructor
        spec = method.args
        stated = _literals(run, given)
        parameters = [*spec.posonlyargs, *spec.args][1:]
        places = [each.arg for each in parameters]
        required = max(len(parameters) - (len(spec.defaults) if usual else 0), 0)
        usuals = [_made_of(run, info, owner, each) if usual else UNKNOWN for each in parameters[:required]]
        unknown = tuple(stated.pop(name, value) for name, value in zip(places, usuals, strict=False))
        named: dict[str, Value] = {
            each.arg: stated.get(each.arg, UNKNOWN)
            for each, default in zip(spec.kwonlyargs, spec.kw_defaults, strict=True)
            if each.arg in stated or default is None or not usual
        }
        named |= {name: stated[name] for name in places[required:] if name in stated}
        run.call(Function(method, owner.module, (), made, owner), Call(method, unknown, named))
    return made


def _made_of(run: Run, info: ClassInfo, owner: ClassInfo, parameter: ast.arg) -> Value:
    """A configuration with its own defaults, or what is not known."""
    found = configuration(info, owner, parameter)
    return run.call(Class(found), Call(parameter)) if found is not None else UNKNOWN


def _assume(run: Run, cls: ClassInfo, build: Build, inputs: Inputs, found: Findings, with_defaults: bool) -> None:
    """Run a model again with what nothing says: inputs as the first run used them, the constructor's own defaults."""
    method = cls.method("forward")
    if method is None:
        return
    taken = inputs or _suggested(run, method[1])
    told = [] if inputs else [f"`{each.name}` is {each}" for each in taken if each is not None]
    told[_MOST_TOLD:] = ["…"] if told[_MOST_TOLD:] else []
    if with_defaults:
        told.append("the constructor's arguments are its defaults")
    again, seen = Run(tables()), Findings()
    if told and _run(again, method[0].module, build, taken, seen, True):
        found.assumed.append(Assumed("if " + ", ".join(told), seen.facts))


def _suggested(run: Run, forward: ast.FunctionDef) -> Suggested:
    """An input for each parameter of `forward` that must be given, or else the first; None for what is no tensor."""
    spec = forward.args
    parameters = [*spec.posonlyargs, *spec.args][1:]
    parameters = parameters[: max(len(parameters) - len(spec.defaults), 1)]
    names = [each.arg for each in parameters if isinstance(_assumed(each), Tensor)]
    suggested = assumed(run.facts, forward, names)
    return tuple(suggested.get(each.arg) for each in parameters)


def _run(run: Run, module: ParsedModule, build: Build, inputs: Suggested, found: Findings, exported: bool) -> bool:
    """Build a layer and call it; false if the run did not come to its end."""
    begun = found.unfinished
    run.frame = Frame(module, {})
    try:
        run.now = Circumstances(Phase.INIT)
        layer = build(run)
        if layer is not None:
            _call(run, layer, inputs, exported)
    except (OutOfBudget, RecursionError):
        found.unfinished += 1
    finally:
        module.project.forget_globals()  # what this run wrote there is not the next one's
        for scope in run.memory.scopes:  # who refers to itself is not freed at its end
            scope.clear()
    found.facts += run.facts
    return found.unfinished == begun


def _call(run: Run, layer: Instance, inputs: Suggested, exported: bool) -> None:
    method = layer.cls.method("forward")
    if method is None:
        return
    owner, forward = method
    run.now = Circumstances(Phase.FORWARD)
    run.frame = Frame(owner.module, {})
    run.root = layer if exported else None
    plain_identity = exported and run.blank and _is_identity(forward)
    run.exported = forward if exported and not plain_identity else None
    run.note(Defined, forward, layer.cls, forward)
    arguments, required = _arguments(run, forward, inputs)
    bound = run.attribute(layer, "forward", forward)
    call = Call(forward, arguments)
    hooked_before(run, layer, call)  # what they give in place of the inputs is not followed
    given = run.call(bound, call)
    hooked_after(run, layer, call, given)
    run.facts += run.effects.changes(reaches=not any(given is each for each in arguments))
    if run.exported is not None and run.outputs:
        used = run.control_dependent | inputs_of(run.outputs)
        if not any(_unknown(each) for each in run.outputs):
            run.frame = Frame(owner.module, {})
            for name in required:
                if name not in used:
                    run.facts.append(Ignored(replace(run.site(forward), root=layer), name))


def _forward_of(layer: Instance) -> Location:
    found = layer.cls.method("forward")
    return found[0].module.location(found[1]) if found else layer.cls.module.location(layer.cls.node)


def _unknown(value: Value) -> bool:
    """Whether something in it is not known; a dict whose keys are not comes of code that was not followed."""
    if isinstance(value, Container):
        by_key = isinstance(value, Mapping) and value.rest is not None
        return by_key or any(map(_unknown, value.parts()))
    return type(value) is Value or isinstance(value, (Scalar, Union, Instance))


def _is_identity(forward: ast.FunctionDef) -> bool:
    """A placeholder layer that returns what it is given, as `nn.Identity` does, is only ever a part of others."""
    body = [each for each in forward.body if not (isinstance(each, ast.Expr) and isinstance(each.value, ast.Constant))]
    return len(body) == 1 and isinstance(body[0], ast.Return) and isinstance(body[0].value, ast.Name)


def _arguments(run: Run, forward: ast.FunctionDef, inputs: Suggested) -> tuple[tuple[Value, ...], list[str]]:
    """Values for the parameters of `forward`, and which of them an exported program must be fed."""
    spec = forward.args
    parameters = [*spec.posonlyargs, *spec.args][1:]
    first_default = len(parameters) - len(spec.defaults)
    values: list[Value] = []
    required: list[str] = []
    given = inputs if len(inputs) <= len(parameters) or spec.vararg is not None else ()
    for at, parameter in enumerate(parameters):
        name = parameter.arg
        one = given[at] if at < len(given) else None
        if one is not None:
            values.append(Tensor(one.sizes, True, frozenset((name,)), "input", name, dtype=one.dtype))
            required.append(name)
        elif at < first_default or first_default < 0:
            values.append(_assumed(parameter))
            if isinstance(values[-1], Tensor):
                required.append(name)
        else:
            default = capture(run, default_of(run, parameter, spec.defaults[at - first_default]), parameter, "default")
            values.append(default if given else _maybe(default, name))
    if spec.vararg is not None:
        further = [one for one in given[len(parameters) :] if one is not None]
        rest = [Tensor(one.sizes, True, frozenset((one.name,)), "input", one.name) for one in further]
        values += rest or [Tensor((Extent.DYNAMIC,), False, frozenset(("*",)), "input", spec.vararg.arg, guessed=True)]
    return tuple(values), required


def _assumed(parameter: ast.arg) -> Value:
    """A parameter that nothing says the shape of: a tensor with a batch first, unless its annotation says otherwise."""
    kind = ast.unparse(parameter.annotation).strip("'\"") if parameter.annotation is not None else ""
    if kind in _PLAIN_TYPES:
        return Scalar(kind)
    name, maybe = parameter.arg, _MAYBE_TENSOR.fullmatch(kind) is not None
    if (kind and not kind.endswith("Tensor") and not maybe) or (not kind and _NO_TENSOR.search(name)):
        return UNKNOWN
    return Tensor((Extent.DYNAMIC,), False, frozenset((name,)), "input", name, guessed=maybe or not kind)


def _maybe(default: Value, name: str) -> Value:
    if isinstance(default, Const) and default.value is None:
        return Union((default, Tensor((Extent.DYNAMIC,), False, frozenset((name,)), "input", name, guessed=True)))
    return Scalar(type(default.value).__name__) if isinstance(default, Const) else UNKNOWN

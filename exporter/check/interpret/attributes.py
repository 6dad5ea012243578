"""Attributes of values, read and written."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace

from exporter.check.domain.call import Call
from exporter.check.domain.contents import register
from exporter.check.domain.join import join_all
from exporter.check.domain.values import (
    LAYER_METHODS,
    UNKNOWN,
    UNNAMED,
    WEIGHT,
    Array,
    Attributes,
    Class,
    Const,
    Dim,
    External,
    Function,
    Instance,
    Layer,
    Mapping,
    Method,
    Record,
    Scalar,
    Sequence,
    Shape,
    Super,
    Tensor,
    Union,
    Value,
)
from exporter.check.facts import Asked, Indexed
from exporter.check.interpret.events import call_unseen, capture, emit_call, note_stray, read_broken
from exporter.check.interpret.names import define, global_value, make_home
from exporter.check.source.project import ClassInfo
from exporter.check.state.run import Run

_PLAIN_ATTRIBUTES = frozenset(
    "dtype ndim name place stop_gradient persistable is_leaf type layout trainable __class__".split()
)

_NOT_OF_TENSORS = frozenset("append extend items keys values get pop update setdefault copy format join".split())


def _record_attribute(run: Run, owner: Record, name: str, node: ast.AST) -> Value:
    if owner.persistent:
        run.effects.read((id(owner.attributes), name))
    return owner.attributes.get(name, UNKNOWN)


def _layer_attribute(run: Run, owner: Layer, name: str, node: ast.AST) -> Value:
    if name == "training":
        return Const(owner.training)
    tensor = name in ("weight", "bias") or name.startswith("_m")
    number = (WEIGHT, owner) if name in ("weight", "bias") else ()
    return Tensor(origin="parameter", name=name, value_number=number) if tensor else Method(owner, name)


def _tensor_attribute(run: Run, owner: Tensor, name: str, node: ast.AST) -> Value:
    if name == "shape":
        return Shape(owner)
    run.note(Asked, node, owner, name)
    if name == "size":
        return Method(owner, "numel")
    if name == "ndim" and owner.closed:
        return Const(len(owner.sizes))
    if name == "dtype" and owner.dtype:
        return External(f"paddle.{owner.dtype}")
    if name in _PLAIN_ATTRIBUTES:
        return Scalar("attribute")
    if name in ("T", "grad", "data", "real", "imag", "mT"):
        return Tensor(inputs=owner.inputs, value_number=(name, owner))
    if owner.guessed and name in _NOT_OF_TENSORS:
        run.consume(owner)
        return UNKNOWN
    return Method(owner, name)


def _external_attribute(run: Run, owner: External, name: str, node: ast.AST) -> Value:
    found = run.frame.module.project.find(owner.name, run.frame.module)
    if found is not None and name in found.bound:
        return global_value(run, found, name)
    return External(f"{owner.name}.{name}")


def _instance_attribute(run: Run, owner: Instance, name: str, node: ast.AST) -> Value:
    if name == "training" and owner.cls.is_layer:
        return owner.attributes.get(name, Const(False))
    if name in owner.attributes:
        if owner.persistent:
            run.effects.read((id(owner.attributes), name), (run.frame.module.tree, node))
        value = read_broken(run, owner.attributes[name], node)
        return value if owner.cls.is_layer else _of_object(run, owner, name, value, node)
    found = owner.cls.method(name)
    if found is not None:
        return _bound(run, owner, *found, node)
    if (assigned := owner.cls.attribute(name)) is not None:
        return capture(run, _of_class(run, *assigned, name, assigned[0].name), node, "global")
    if owner.cls.is_layer and name in LAYER_METHODS:
        return Method(owner, name)
    if name == "__class__":
        return Class(owner.cls)
    if name == "__dict__":
        return Attributes(owner)
    if owner.persistent:
        run.effects.read((id(owner.attributes), name))
    return UNKNOWN


def _of_object(run: Run, owner: Instance, name: str, value: Value, node: ast.AST) -> Value:
    """What an object that is no layer keeps: a layer or tensor in it may be nobody's."""
    if owner.persistent:
        note_stray(run, value, node, f"{owner.cls.name}.{name}")
    return capture(run, value, node, "object")


def _bound(run: Run, owner: Value, cls: ClassInfo, method: ast.FunctionDef, node: ast.AST) -> Value:
    marks = [cls.module.resolve(each) for each in method.decorator_list]
    if "builtins.staticmethod" in marks:
        return Function(method, cls.module, cls=cls, converted=not cls.module.generates(method))
    if not method.decorator_list:
        return Function(method, cls.module, (), owner, cls, not cls.module.generates(method))
    with run.at_import(cls.module):
        value = define(run, method, cls)
    if "builtins.classmethod" in marks:
        return replace(value, owner=Class(cls)) if isinstance(value, Function) else value
    bound = replace(value, owner=owner) if isinstance(value, Function) else value
    if "builtins.property" in marks or "functools.cached_property" in marks:
        return call_unseen(run, bound, (), node)
    return bound


def _class_attribute(run: Run, owner: Class, name: str, node: ast.AST) -> Value:
    found = owner.info.method(name)
    if name == "apply" and found is None and owner.info.is_py_layer:
        forward = owner.info.method("forward")
        return Function(forward[1], forward[0].module, (), UNKNOWN, forward[0]) if forward else UNKNOWN
    if found is not None:
        marks = [found[0].module.resolve(each) for each in found[1].decorator_list]
        made = Function(found[1], found[0].module, cls=found[0])
        return replace(made, owner=owner) if "builtins.classmethod" in marks else made
    if (assigned := owner.info.attribute(name)) is None:
        return UNKNOWN
    if (given := run.memory.class_attributes.get(f"{id(owner.info)}.{name}")) is not None:
        run.effects.read((id(assigned[0]), name))
        return given
    return _of_class(run, *assigned, name, owner.info.name)


def _of_class(run: Run, cls: ClassInfo, content: ast.expr, name: str, shown: str) -> Value:
    """What a class attribute holds, which is evaluated where it is asked for."""
    place = (id(cls), name)
    run.effects.read(place)
    with run.at_import(cls.module):
        return make_home(run, run.evaluate(content), f"{shown}.{name}", place)


def _super_attribute(run: Run, owner: Super, name: str, node: ast.AST) -> Value:
    cls = owner.instance.cls if isinstance(owner.instance, Instance) else owner.cls
    found = cls.method(name, after=owner.cls)
    if found is None:
        if name == "forward":
            _inherited_mode(run, owner, node)
            return Scalar("layer")
        return Method(owner.instance, name) if name in LAYER_METHODS else UNKNOWN
    return Function(found[1], found[0].module, (), owner.instance, found[0])


def _inherited_mode(run: Run, owner: Super, node: ast.AST) -> None:
    """A layer that derives from one of Paddle's calls its forward: `training` may have been set for it."""
    if isinstance(owner.instance, Instance) and owner.instance.attributes.get("training") == Const(True):
        emit_call(run, "paddle.nn.Layer.train", Call(node), owner.instance)


def set_attribute(run: Run, owner: Value, name: str, value: Value, node: ast.AST) -> None:
    """Assign to an attribute of an object."""
    run.memory.assign(value, node)
    if isinstance(owner, Class):
        run.effects.write((id(owner.info), name), run.site(node), f"{owner.info.name}.{name}", "global")
        run.heap.write(run.memory.class_attributes, f"{id(owner.info)}.{name}", value)
        run.effects.made_once((id(owner.info), name), value)
    elif isinstance(owner, Function):
        of = getattr(owner.node, "name", "lambda")
        run.effects.write((id(owner.node), name), run.site(node), f"{of}.{name}", "global")
    elif isinstance(owner, Record):
        if owner.persistent:
            run.effects.write((id(owner.attributes), name), run.site(node), f"namespace.{name}", "attribute", value)
        run.heap.write(owner.attributes, name, value)
    elif isinstance(owner, Layer):
        _set_mode(run, owner, name, value, node)
    elif isinstance(owner, Instance) and (run.forward or name != "training" or not owner.cls.is_layer):
        # before an export `eval()` sets the mode anew
        if (setter := owner.cls.setter(name)) is not None:
            call_unseen(run, Function(setter[1], setter[0].module, (), owner, setter[0]), (value,), node)
        else:
            _set_own(run, owner, name, value, node)


def set_named(run: Run, owner: Value, name: Value, value: Value, node: ast.AST) -> None:
    """Set an attribute under a name that the code computes, and that need not be known."""
    if isinstance(name, Const):
        set_attribute(run, owner, str(name.value), value, node)
    elif isinstance(owner, Instance) and not run.forward:
        run.heap.write(owner.attributes, UNNAMED, UNKNOWN)


def _set_mode(run: Run, owner: Layer, name: str, value: Value, node: ast.AST) -> None:
    """Setting `training` is what `train()` and `eval()` do, for this layer alone."""
    if name == "training" and isinstance(value, Const):
        run.heap.change(owner, training=value.value is True)
        if value.value is True and any(each in owner.name for each in ("BatchNorm", "Dropout", "RReLU")):
            emit_call(run, "paddle.nn.Layer.train", Call(node), owner)


def _set_own(run: Run, owner: Instance, name: str, value: Value, node: ast.AST) -> None:
    place = (id(owner.attributes), name)
    if owner.persistent and run.forward:
        before = owner.attributes.get(name)
        buffer = isinstance(before, Tensor) and before.origin in ("buffer", "parameter")
        certain = not (run.now.branches or run.now.undecided or run.now.depth)
        if not run.effects.restore(place, before, value, certain):
            run.effects.write(place, run.site(node), f"self.{name}", "buffer" if buffer else "attribute", value)
        run.effects.made_once(place, value)
    given = value
    if not run.forward:
        if isinstance(value, Tensor) and value.origin == "eager" and owner.cls.is_layer:
            value = replace(value, origin="buffer", name=f"self.{name}", place=place)  # Layer.__setattr__ registers it
        make_home(run, value, f"self.{name}", place)
    if owner.cls.is_layer and not (run.forward and isinstance(value, Tensor) and value.origin == "eager"):
        register(given)
    run.heap.write(owner.attributes, name, value)


def _union_attribute(run: Run, owner: Union, name: str, node: ast.AST) -> Value:
    possible = [option for option in owner.options if not isinstance(option, Const)]
    return join_all([run.attribute(option, name, node) for option in possible])


def _function_attribute(run: Run, owner: Function, name: str, node: ast.AST) -> Value:
    run.effects.read((id(owner.node), name))
    return UNKNOWN


def _const_attribute(run: Run, owner: Const, name: str, node: ast.AST) -> Value:
    if owner.value is None and run.now.guard is not None:
        run.note(Indexed, node, owner, Const(name))
    return Method(owner, name)


EXPRESSIONS: dict[type[ast.expr], Callable[..., Value]] = {
    ast.Attribute: lambda run, node: run.attribute(run.evaluate(node.value), node.attr, node)
}
READERS: dict[type[Value], Callable[..., Value]] = {
    Class: _class_attribute,
    Const: _const_attribute,
    External: _external_attribute,
    Function: _function_attribute,
    Instance: _instance_attribute,
    Layer: _layer_attribute,
    Record: _record_attribute,
    Super: _super_attribute,
    Tensor: _tensor_attribute,
    Union: _union_attribute,
    **dict.fromkeys((Sequence, Mapping, Scalar, Shape, Array, Dim), lambda run, owner, name, node: Method(owner, name)),
}

"""Attributes, items and comprehensions on paper."""

from __future__ import annotations

import ast
from collections.abc import Callable

from exporter.check.domain.join import element, join_all
from exporter.check.domain.values import (
    UNKNOWN,
    Array,
    Attributes,
    Class,
    Const,
    Dim,
    Either,
    Extent,
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
    Value,
    mark_twins,
)
from exporter.check.domain.views import note_view
from exporter.check.facts import Asked, Indexed
from exporter.check.interpret.operators import Operators, as_it_is
from exporter.check.models.paddle import take, whole_slice

_PLAIN_ATTRIBUTES = frozenset(
    "dtype ndim name place stop_gradient persistable is_leaf type layout trainable __class__".split()
)
_FEW = 16
_NOT_OF_TENSORS = frozenset("append extend items keys values get pop update setdefault copy format join".split())


class Containers(Operators):
    """Attributes, items and comprehensions."""

    def __init__(self) -> None:
        super().__init__()
        self._readers: dict[type, Callable[..., Value]] = {
            Class: self.class_attribute,
            External: self.external_attribute,
            Instance: self.instance_attribute,
            Record: self._record_attribute,
            Layer: self._layer_attribute,
            Super: self.super_attribute,
            Tensor: self._tensor_attribute,
        }

    def on_attribute(self, node: ast.Attribute) -> Value:
        return self.attribute(self.evaluate(node.value), node.attr, node)

    def attribute(self, owner: Value, name: str, node: ast.AST) -> Value:
        """What an attribute of a value is."""
        reader = self._readers.get(type(owner))
        if reader is not None:
            return reader(owner, name, node)
        if isinstance(owner, Either):
            possible = [each for each in owner.options if not isinstance(each, Const)]
            return join_all([self.attribute(each, name, node) for each in possible])
        if isinstance(owner, Function):
            self.note_read((id(owner.node), name))
        if isinstance(owner, Const) and owner.value is None and self.forward and self.now.guard is not None:
            self.facts.append(Indexed(self.site(node), owner, Const(name)))
        known = isinstance(owner, (Sequence, Mapping, Const, Scalar, Shape, Array, Dim))
        return Method(owner, name) if known else UNKNOWN

    def _record_attribute(self, owner: Record, name: str, node: ast.AST) -> Value:
        del node
        if owner.lasting:
            self.note_read((id(owner.attributes), name))
        return owner.attributes.get(name, UNKNOWN)

    def _layer_attribute(self, owner: Layer, name: str, node: ast.AST) -> Value:
        if name == "training":
            return Const(owner.training)
        tensor = name in ("weight", "bias") or name.startswith("_m")
        return Tensor(origin="parameter", name=name) if tensor else Method(owner, name)

    def _tensor_attribute(self, owner: Tensor, name: str, node: ast.AST) -> Value:
        if name == "shape":
            return Shape(owner)
        if self.forward:
            self.facts.append(Asked(self.site(node), owner, name))
        if name == "size":
            return Method(owner, "numel")
        if name == "ndim" and owner.closed:
            return Const(len(owner.sizes))
        if name == "dtype" and owner.dtype:
            return External(f"paddle.{owner.dtype}")
        if name in _PLAIN_ATTRIBUTES:
            return Scalar("attribute")
        if name in ("T", "grad", "data", "real", "imag", "mT"):
            return Tensor(inputs=owner.inputs, recipe=(name, owner))
        if owner.guessed and name in _NOT_OF_TENSORS:
            return UNKNOWN
        return Method(owner, name)

    def on_subscript(self, node: ast.Subscript) -> Value:
        container = self.evaluate(node.value)
        index = self.evaluate(node.slice)
        if isinstance(container, (Sequence, Mapping)) and self._is_own_item(container, index):
            if container.place is not None:
                self.note_reread(container.place)
        else:
            self.note_content(container)
        if self.forward:
            self.facts.append(Indexed(self.site(node), as_it_is(container), index))
        return self.item(container, index, node)

    def _is_own_item(self, container: Sequence | Mapping, index: Value) -> bool:
        """Whether this call itself put there what is taken out."""
        if isinstance(container, Mapping):
            return self.is_own_key(container, index)
        return index == Const(-1) and container.place in self._put_on

    def item(self, container: Value, index: Value, node: ast.AST) -> Value:
        """What indexing gives."""
        if isinstance(container, Shape):
            return self._shape_item(container, index)
        if isinstance(container, Tensor):
            return self._tensor_item(container, index)
        if isinstance(container, Sequence):
            return self._sequence_item(container, index, node)
        if isinstance(container, Mapping):
            known = isinstance(index, Const) and index.value in container.items
            if container.factory is not None and isinstance(index, Const) and not known:
                return self._made_on_demand(container, container.factory, index, node)
            found = container.items[index.value] if isinstance(index, Const) and known else _pick(container, index)
            return self.from_container(container, found, node)
        if isinstance(container, Attributes):
            known = isinstance(index, Const) and isinstance(index.value, str)
            return self.attribute(container.owner, index.value, node) if known else UNKNOWN  # type: ignore[attr-defined]
        if isinstance(container, Instance) and container.cls.method("__getitem__") is not None:
            return self.call_unseen(self.instance_attribute(container, "__getitem__", node), (index,), node)
        if isinstance(container, Either):
            possible = [each for each in container.options if not isinstance(each, Const)]
            return join_all([self.item(each, index, node) for each in possible])
        return Array() if isinstance(container, Array) else UNKNOWN

    def _made_on_demand(self, container: Mapping, factory: Value, index: Const, node: ast.AST) -> Value:
        made = self.call(factory, (), {}, node)
        self.store.write(vars(container), "items", {**container.items, index.value: made})
        return made

    def _tensor_item(self, container: Tensor, index: Value) -> Value:
        if whole_slice(index):
            return container  # `y[:]` is y
        if container.guessed:
            return self._guessed_item(container, index)
        made = take(container, index, index.items if isinstance(index, Sequence) and index.kind == "tuple" else None)
        made.recipe = ("item", container, index)
        note_view(made)
        return made

    def _guessed_item(self, container: Tensor, index: Value) -> Value:
        if isinstance(index, (Sequence, Tensor)):
            return take(
                container, index, index.items if isinstance(index, Sequence) and index.kind == "tuple" else None
            )
        if isinstance(index, Const) and isinstance(index.value, str):
            return Tensor((Extent.DYNAMIC,), False, container.inputs, guessed=True)
        return Tensor((), False, container.inputs, guessed=True)

    def _shape_item(self, shape: Shape, index: Value) -> Value:
        tensor = shape.tensor
        if isinstance(index, Const) and isinstance(index.value, int):
            size = tensor.size(index.value)
            if isinstance(size, int):
                return Const(size)
            known = Extent.UNKNOWN if tensor.guessed and tensor.origin != "input" else size
            return Dim(known, tensor.inputs)
        if isinstance(index, Sequence) and index.kind == "slice":
            return self._part_of_shape(tensor, index)
        return Dim(Extent.UNKNOWN)

    @staticmethod
    def _part_of_shape(tensor: Tensor, index: Sequence) -> Value:
        bounds = [each.value for each in index.items if isinstance(each, Const)]
        whole = [each for each in bounds if each is None or isinstance(each, int)]
        stop = whole[1] if len(whole) == 3 else None
        known = tensor.closed or (stop is not None and 0 <= stop <= len(tensor.sizes))
        if not known or len(whole) != 3:
            return Sequence("list", (), Dim(Extent.UNKNOWN))
        sizes = tensor.sizes[slice(*whole)]
        return Sequence("list", tuple(Const(one) if isinstance(one, int) else Dim(one, tensor.inputs) for one in sizes))

    def _sequence_item(self, container: Sequence, index: Value, node: ast.AST) -> Value:
        if isinstance(index, Sequence) and index.kind == "slice":
            return Sequence(container.kind, (), element(container)) if container.items or container.rest else container
        found = _pick(container, index)
        at = index.value if isinstance(index, Const) else None
        if isinstance(at, int) and container.rest is None and -len(container.items) <= at < len(container.items):
            found = container.items[at]
        return self.from_container(container, found, node)

    def on_listcomp(self, node: ast.ListComp) -> Value:
        return self._comprehension("list", node.generators, node.elt)

    def on_setcomp(self, node: ast.SetComp) -> Value:
        return self._comprehension("set", node.generators, node.elt)

    def on_generatorexp(self, node: ast.GeneratorExp) -> Value:
        return self._comprehension("generator", node.generators, node.elt)

    def on_dictcomp(self, node: ast.DictComp) -> Value:
        known = self._known_keys(node)
        if known is not None:
            return known
        content = self._comprehension("list", node.generators, ast.Tuple([node.key, node.value], ast.Load()))
        pair = element(content) if isinstance(content, Sequence) else UNKNOWN
        return Mapping({}, pair.items[1] if isinstance(pair, Sequence) and len(pair.items) == 2 else UNKNOWN)

    def _known_keys(self, node: ast.DictComp) -> Mapping | None:
        """A dict made from a few items that are known, one by one; None if they are not."""
        one, frame = node.generators[0], self.frame
        names, scopes = frame.names, frame.scopes
        frame.names, frame.scopes = {}, (names, *scopes)
        try:
            source = self.evaluate(one.iter)
            few = isinstance(source, Sequence) and source.rest is None and 0 < len(source.items) <= _FEW
            if not isinstance(source, Sequence) or not few or len(node.generators) > 1 or one.ifs:
                return None
            self.iterate(source, one.iter, "comprehension")
            made = Mapping()
            for item in source.items:
                self.assign(one.target, item)
                key, value = self.evaluate(node.key), self.evaluate(node.value)
                if not isinstance(key, Const):
                    return None
                made.items[key.value] = value
            return made
        finally:
            frame.names, frame.scopes = names, scopes

    def _comprehension(self, kind: str, generators: list[ast.comprehension], result: ast.expr) -> Value:
        frame = self.frame
        names, scopes = frame.names, frame.scopes
        frame.names, frame.scopes = {}, (names, *scopes)
        length: int | None = 1
        try:
            with self.circumstances(python_loops=self.now.python_loops + 1):
                for generator in generators:
                    source = self.evaluate(generator.iter)
                    if isinstance(source, Sequence) and not source.items and source.settled:
                        return Sequence(kind)
                    if length is not None:
                        known = isinstance(source, Sequence) and source.rest is None and not generator.ifs
                        length = length * len(source.items) if isinstance(source, Sequence) and known else None
                    self.assign(generator.target, self.iterate(source, generator.iter, "comprehension"))
                    for condition in generator.ifs:
                        self.test(self.condition(condition), "filter", condition)
                value = self.evaluate(result)
        finally:
            frame.names, frame.scopes = names, scopes
        if length != 1:
            mark_twins(value)
        if length is not None and 0 < length <= 8 and kind != "generator":
            return Sequence(kind, (value, *(another(value) for _ in range(length - 1))))
        return Sequence(kind, (), value)


def _pick(container: Sequence | Mapping, index: Value) -> Value:
    """One of the items that are not known one by one: another for each index, where that is known."""
    found = element(container)
    if not isinstance(index, Const) or not isinstance(index.value, (int, str)):
        return found
    if index.value not in container.picked:
        container.picked[index.value] = another(found) if container.picked else found
    return container.picked[index.value]


def another(value: Value, inputs: frozenset[str] = frozenset()) -> Value:
    """A second object like the first: turns of a comprehension make a new tensor each, or a new list of some."""
    if isinstance(value, (Layer, Instance)):
        mark_twins(value)
    if isinstance(value, Sequence) and not value.home and not value.kind.startswith("paddle."):
        rest = another(value.rest, inputs) if value.rest is not None else None
        items = tuple(another(each, inputs) for each in value.items)
        return Sequence(value.kind, items, rest, grown_in_branch=value.grown_in_branch)
    if type(value) is not Tensor:
        return value
    found = Tensor(value.sizes, value.closed, value.inputs | inputs, guessed=value.guessed)
    found.boolean, found.dtype = value.boolean, value.dtype
    return found

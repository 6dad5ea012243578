"""Inputs of a model that nothing declares, as its code uses them: rank, fixed sizes and dtype.

`forward` was followed once with parameters of which nothing is known. The facts of that say what the layers demand:
`nn.Conv2D(3, …)` a tensor of rank 4 with three channels, `nn.Embedding` integers. What nothing demands may vary.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from exporter.check.catalogue import entry
from exporter.check.domain.values import Const, Extent, Layer, Sequence, Shape, Size, Tensor, Value, options
from exporter.check.facts import Called, Fact, Indexed, Iterated
from exporter.check.inputs import Input
from exporter.check.source.project import ClassInfo
from exporter.check.source.syntax import inside

_BY_RANK = re.compile(r"(?<!Norm)([123])[dD](Transpose|_transpose)?$")
_SIZED = re.compile(r"Conv\dD|BatchNorm\dD|InstanceNorm\dD")
_INTEGERS = frozenset("Embedding embedding one_hot".split())
_RECURRENT = frozenset("RNN SimpleRNN LSTM GRU".split())
_CASTS = frozenset("astype cast float".split())
_ARITHMETIC = frozenset("Add Sub Mult Div Pow".split())
#: Names of what is a list of tensors, if Python walks through it and nothing else is done with it.
_SEVERAL = re.compile(r"(feat|feature|input|out|output|pred|style|target)s(_hat)?$")
_IMAGE = 4  # the rank of what no row of an input is
_FURTHEST = 8  # operators between an input and what is demanded of it


@dataclass(eq=False, repr=False)
class _Uses:
    """What the code demands of one parameter; `rank` is the least, unless `exact`."""

    rank: int = 2
    exact: bool = False
    sizes: dict[int, Size] = field(default_factory=dict)
    integers: bool = False
    casts: set[str] = field(default_factory=set)
    others: bool = False
    walked: bool = False
    tensor: bool = True

    def at_least(self, rank: int) -> None:
        if not self.exact:
            self.rank = max(self.rank, rank)

    def exactly(self, rank: int) -> None:
        if not self.exact:
            self.rank, self.exact = rank, True

    def as_input(self, name: str) -> Input:
        if self.rank - 1 in self.sizes and -1 in self.sizes and not self.exact:
            self.rank += 1  # nobody asks a tensor for the size that a layer demands
        known: list[Size] = [Extent.DYNAMIC] * self.rank
        if not self.integers:
            known[1 if self.rank == _IMAGE else -1] = Extent.UNKNOWN  # channels, or features
        for axis, size in self.sizes.items():
            if -self.rank <= axis < self.rank:
                known[axis] = size
        only_cast = self.casts if not self.others and len(self.casts) == 1 else ()
        return Input(name, tuple(known), "int64" if self.integers else next(iter(only_cast), "float32"))


def assumed(facts: Iterable[Fact], forward: ast.FunctionDef, names: Iterable[str]) -> dict[str, Input]:
    """Those of these inputs that are taken for one tensor each; what is used as a list or a dict is left out."""
    uses = {name: _Uses() for name in names}
    for name, parts in _unpacked_shapes(forward):
        if name in uses:
            uses[name].exactly(parts)
    for fact in facts:
        if isinstance(fact, Called):
            _all_called(uses, fact)
        elif isinstance(fact, Indexed):
            _indexed(uses, fact)
        elif isinstance(fact, Iterated) and (name := _input(fact.value)) in uses:
            uses[name].walked = True
            uses[name].tensor &= fact.form != "unpack"
    lists = {name for name, use in uses.items() if use.walked and not use.others and _SEVERAL.search(name)}
    return {name: use.as_input(name) for name, use in uses.items() if use.tensor and name not in lists}


def _unpacked_shapes(forward: ast.FunctionDef) -> Iterator[tuple[str, int]]:
    """Names whose shape is taken apart, with the number of dimensions."""
    for node in inside(forward):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
            source = node.value
            if isinstance(source, ast.Attribute) and source.attr == "shape" and isinstance(source.value, ast.Name):
                yield source.value.id, len(node.targets[0].elts)


def _given(fact: Called) -> Iterator[tuple[str, Tensor, bool]]:
    """The inputs among what is called and given, and what has their rank; whether it is what the call is made on."""
    for value in (fact.owner, *fact.arguments, *fact.keywords.values()):
        first = value is (fact.arguments[0] if fact.arguments else fact.owner) or value is fact.owner
        for option in options(value) if value is not None else ():
            if isinstance(option, Tensor) and (name := _origin(option)):
                yield name, option, first


def _indices(fact: Called) -> frozenset[str]:
    """The inputs whose data goes where integers are demanded, in whatever shape."""
    name = (fact.owner.name if isinstance(fact.owner, Layer) else fact.name).rpartition(".")[2]
    given = options(fact.arguments[0]) if fact.arguments and name in _INTEGERS else ()
    return frozenset(map(_origin_of_data, given)) - {""}


def _origin_of_data(value: Value) -> str:
    """The name of the input that a tensor is, or has its data from: by operators that keep the dtype, or by a join."""
    for _ in range(_FURTHEST):
        operator, *operands = (value.value_number if isinstance(value, Tensor) else ()) or ("",)
        if not operands or not isinstance(operands[0], Value) or entry(str(operator)).dtype != "kept":
            break
        value = operands[0]
    joined = isinstance(value, Tensor) and not value.value_number and len(value.inputs) == 1
    return next(iter(value.inputs)) if joined and isinstance(value, Tensor) else _input(value)


def _items_of(fact: Called) -> frozenset[str]:
    """The inputs of which an item goes where an image is demanded, so that they are lists."""
    item, layer = fact.arguments[0] if fact.arguments else None, fact.owner
    if not isinstance(layer, Layer) or not isinstance(item, Tensor) or not item.guessed or item.origin != "op":
        return frozenset()
    found = _BY_RANK.search(layer.name)
    return item.inputs if found and int(found[1]) + 2 >= _IMAGE else frozenset()


def _input(value: Value) -> str:
    value = next((each for each in options(value) if isinstance(each, Tensor)), value)
    return value.name if isinstance(value, Tensor) and value.origin == "input" else ""


def _origin(value: Value) -> str:
    """The name of the input that a tensor is, or was computed from by operators that keep the sizes."""
    for _ in range(_FURTHEST):
        if not isinstance(value, Tensor) or value.origin == "input":
            break
        operator, *operands = value.value_number or ("",)
        if operator == "layer" and isinstance(operands[0], Layer):
            operator, operands = operands[0].name.rpartition(".")[2], operands[1:]
        if operator not in _ARITHMETIC and entry(str(operator)).sizes != "same":
            break
        value = next((each for each in operands if isinstance(each, Tensor)), value)
    return _input(value)


def _all_called(uses: dict[str, _Uses], fact: Called) -> None:
    """What a call demands of the inputs that it is given."""
    for name in _items_of(fact) & uses.keys():
        uses[name].tensor = False
    for name in _indices(fact) & uses.keys():
        uses[name].integers = True
    for name, value, first in _given(fact):
        if name in uses:
            _called(uses[name], fact, value, first)


def _called(use: _Uses, fact: Called, value: Tensor, first: bool) -> None:
    layer = fact.owner if isinstance(fact.owner, Layer) else None
    name = (layer.name if layer else fact.name).rpartition(".")[2]
    if name in _CASTS and value.origin == "input":
        target = fact.arguments[-1] if fact.arguments else Const("float32")
        text = target.value if isinstance(target, Const) else getattr(target, "name", "")
        use.casts.add(str(text).rpartition(".")[2])
        return
    use.others = True
    if not first:
        return
    if layer is not None:
        _demanded(use, layer, name)
    elif (found := _BY_RANK.search(name)) and ".nn." in fact.name:
        use.exactly(int(found[1]) + 2)
    axis = fact.keywords.get("axis", fact.arguments[-1] if fact.arguments else None)
    if layer is None and isinstance(axis, Const) and type(axis.value) is int and entry(name).sizes == "reduced":
        use.at_least(axis.value + 1)


def _demanded(use: _Uses, layer: Layer, name: str) -> None:
    """What a layer of Paddle's demands of its input."""
    width = next((each for each in (*layer.arguments, *layer.keywords.values()) if isinstance(each, Const)), None)
    size: Size = width.value if isinstance(width, Const) and type(width.value) is int else Extent.UNKNOWN
    if found := _BY_RANK.search(name):
        use.exactly(int(found[1]) + 2)
    if _SIZED.match(name) and "data_format" not in layer.keywords:
        use.sizes[1] = size
    elif name in ("Linear", "LayerNorm"):
        use.sizes[-1] = size
    elif name in _RECURRENT:
        use.exactly(3)
        use.sizes[-1] = size


def _indexed(uses: dict[str, _Uses], fact: Indexed) -> None:
    index = fact.index.value if isinstance(fact.index, Const) else None
    if isinstance(fact.container, Shape) and (name := _origin(fact.container.tensor)) in uses:
        if type(index) is int and index > 0:
            uses[name].at_least(index + 1)
            uses[name].sizes.setdefault(index, Extent.DYNAMIC)
    elif (name := _input(fact.container)) in uses:
        uses[name].others = True
        uses[name].tensor &= index is None
        if isinstance(fact.index, Sequence) and fact.index.kind == "tuple":
            uses[name].at_least(sum(each not in (Const(None), Const(Ellipsis)) for each in fact.index.items))
    if isinstance(fact.container, Tensor) and (name := _input(fact.index)) in uses:
        uses[name].integers = True


def configuration(info: ClassInfo, owner: ClassInfo, parameter: ast.arg) -> ClassInfo | None:
    """The class of a configuration that a constructor is given, if it can be made without arguments.

    The parameter is annotated with it, or the layer names it in `config_class`, as for a parameter `config`.
    """
    named = info.attribute(f"{parameter.arg}_class")
    found = owner.module.resolve(parameter.annotation) if parameter.annotation is not None else None
    found = named[0].module.resolve(named[1]) if found is None and named is not None else found
    plain = isinstance(found, ClassInfo) and not found.is_layer and callable_bare(found)
    return found if isinstance(found, ClassInfo) and plain else None


def has_defaults(info: ClassInfo) -> bool:
    """Whether an argument of the constructor may be left out, or is a configuration that has defaults."""
    if (constructor := info.method("__init__")) is None:
        return False
    owner, spec = constructor[0], constructor[1].args
    configured = any(configuration(info, owner, each) for each in (*spec.posonlyargs, *spec.args)[1:])
    return bool(spec.defaults) or any(spec.kw_defaults) or configured


def callable_bare(info: ClassInfo) -> bool:
    """Whether a class can be made without arguments."""
    if (constructor := info.method("__init__")) is None:
        return True
    spec = constructor[1].args
    required = len(spec.posonlyargs) + len(spec.args) - 1 - len(spec.defaults)
    return required <= 0 and all(default is not None for default in spec.kw_defaults)

"""Operators in the words of older opsets: what they took as attributes, in fewer dtypes, or not at all.

What changed when is in onnx/docs/Changelog.md.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from exporter.base.errors import ModelError
from exporter.base.tensors import Array
from exporter.export.lower.onnx_program.passes.graph import Graph, Node, Proto, attribute, bodies
from exporter.export.lower.onnx_program.passes.shapes import skeleton


@dataclass(frozen=True)
class Type:
    """The dtype of a value, as a schema calls it (`float`, `int64`), and its rank; −1 where it is not known."""

    dtype: str = ""
    rank: int = -1


Types: TypeAlias = dict[str, Type]


def types_in(graph: Graph) -> Types:
    """Return what ONNX's own inference says of each value, in bodies too."""
    import onnx

    model = skeleton(graph)
    known = {tensor.name: tensor for tensor in model.graph.initializer}
    for body in _bodies_in(model.graph):  # inference looks for the numbers of a body in the body alone
        read = dict.fromkeys(name for node in body.node for name in node.input if name in known)
        body.initializer.extend(known[name] for name in read)
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True).graph
    held = [(name, onnx.helper.np_dtype_to_tensor_dtype(value.dtype)) for name, value in graph.constants.items()]
    types = {name: Type(_word(kind), graph.constants[name].ndim) for name, kind in held}
    for value in _declared(inferred):
        tensor = value.type.tensor_type
        if tensor.elem_type:
            rank = len(tensor.shape.dim) if tensor.HasField("shape") else -1
            types[value.name] = Type(_word(tensor.elem_type), rank)
    return types


def _bodies_in(graph: Proto) -> Iterator[Proto]:
    """Yield the bodies of a graph's nodes, however deep."""
    for node in graph.node:
        for body in bodies(node):
            yield body
            yield from _bodies_in(body)


def _declared(graph: Proto) -> Iterator[Proto]:
    """Yield the values of a graph and of its bodies that have a type."""
    yield from (*graph.value_info, *graph.input, *graph.output)
    for node in graph.node:
        for body in bodies(node):
            yield from _declared(body)


def _word(elem_type: int) -> str:
    from onnx import TensorProto

    return str(TensorProto.DataType.Name(elem_type)).lower()


def refusal(node: Node, what: str, since: int) -> ModelError:
    """Return the error for a node that an opset cannot say, with the operator and the sublayer that it comes from."""
    origin = {prop.key: prop.value for prop in node.metadata_props}
    place = ", ".join(
        f"{key.removeprefix('pir_')} {origin[key]}" for key in ("pir_operator", "sublayer") if key in origin
    )
    hint = f"ask for `opset: {since}`, or for none" if since else "ask for another opset, or leave onnx out of formats"
    return ModelError(f"{place}: {what}" if place else what, where="opset", hint=hint)


class Older:
    """Rewrites nodes for an opset that is older than theirs."""

    def __init__(self, graph: Graph, opset: int, types: Types) -> None:
        self._graph, self._opset, self.types = graph, opset, types

    def rewritten(self, nodes: Iterable[Node], rules: Rules) -> list[Node]:
        """The same nodes, with those that the opset lacks said otherwise; what a rule gives is looked at again."""
        result: list[Node] = []
        for node in nodes:
            for body in bodies(node):
                inner = self.rewritten(body.node, rules)
                del body.node[:]
                body.node.extend(inner)
            before, rule = rules.get(node.op_type, (0, None))
            other = rule(self, node) if rule and self._opset < before else None
            result += [node] if other is None else self.rewritten(_with_origin(other, node), rules)
        return result

    def type(self, name: str) -> Type:
        return self.types.get(name, Type())

    def is_whole(self, name: str) -> bool:
        """Return whether a value is known to be of integers."""
        return "int" in self.type(name).dtype

    def rank(self, node: Node) -> int:
        """The rank of what a node reads first.

        Raises:
            ModelError: it is not known.
        """
        if (rank := self.type(node.input[0]).rank) < 0:
            raise refusal(node, f"opset {self._opset} has {node.op_type} for known ranks alone", self._opset)
        return rank

    def whole_numbers(self, node: Node, place: int) -> list[int] | None:
        """The numbers of an input that has to be an attribute; None where the node does not have this input.

        Raises:
            ModelError: they are computed.
        """
        name = node.input[place] if place < len(node.input) else ""
        if not name:
            return None
        if (numbers := self.stored(name)) is None:
            what = f"opset {self._opset} takes the numbers of {node.op_type} from the file, and they are computed here"
            raise refusal(node, what, 13)
        return [int(number) for number in numbers.reshape(-1)]

    def stored(self, name: str) -> Array | None:
        """The numbers of a value that is a constant."""
        return self._graph.constants.get(name)

    def constant(self, name: str, value: Array) -> str:
        """Keep a constant, and return its name."""
        held = self._graph.hold(name, value, ())
        self.types[held] = Type(_word(_elem_type(value)), value.ndim)
        return held

    def single(self, node: Node, name: str, number: float, like: str) -> str:
        """Keep one number in the dtype of a value."""
        dtype = {"float": "float32", "double": "float64"}.get(self.type(like).dtype, self.type(like).dtype)
        return self.constant(f"{node.output[0]}.{name}", np.asarray(number, dtype))

    def value(self, node: Node, name: str, like: str = "", dtype: str = "", rank: int | None = None) -> str:
        """Name a value between the nodes that stand for one; it is of the type of `like` but for what is said."""
        named, of = f"{node.output[0]}.{name}", self.type(like)
        self.types[named] = Type(dtype or of.dtype, of.rank if rank is None else rank)
        return named


_Rule: TypeAlias = Callable[[Older, Node], "list[Node] | None"]


def _elem_type(value: Array) -> int:
    from onnx import helper

    return int(helper.np_dtype_to_tensor_dtype(value.dtype))


def _node(kind: str, inputs: Sequence[str], output: str, **attributes: Any) -> Node:
    from onnx import helper

    return helper.make_node(kind, inputs, [output], **attributes)


def _with_origin(nodes: Sequence[Node], of: Node) -> Sequence[Node]:
    """The same nodes, with what the one that they stand for says of where it comes from."""
    for node in nodes:
        if node is not of and not node.metadata_props:
            node.metadata_props.extend(of.metadata_props)
    return nodes


def _with_attribute(name: str, place: int = 1, also: Sequence[str] = ()) -> _Rule:
    """An input that was an attribute before; the attributes `also` did not exist."""

    def rule(older: Older, node: Node) -> list[Node] | None:
        from onnx import helper

        numbers = older.whole_numbers(node, place)
        kept = [attribute for attribute in node.attribute if attribute.name not in also]
        if numbers is None and len(kept) == len(node.attribute):
            return None
        del node.input[place:]
        del node.attribute[:]
        node.attribute.extend(kept)
        if numbers is not None:
            node.attribute.append(helper.make_attribute(name, numbers))
        return [node]

    return rule


def _without(name: str, value: Any) -> _Rule:
    """An attribute that did not exist before, and whose value is what was meant then."""

    def rule(older: Older, node: Node) -> list[Node] | None:
        del older
        kept = [known for known in node.attribute if known.name != name]
        if len(kept) == len(node.attribute) or attribute(node, name) not in (value, str(value).encode()):
            return None  # another value is refused by the schema
        del node.attribute[:]
        node.attribute.extend(kept)
        return [node]

    return rule


def _softmax(older: Older, node: Node) -> list[Node] | None:
    """Before 13 all axes from this one on were one: the same only of the last, which another one is moved to."""
    rank, axis = older.rank(node), attribute(node, "axis", -1)
    if axis == rank - 1:
        return None
    if axis % rank == rank - 1:
        return [_node(node.op_type, node.input, node.output[0], axis=rank - 1)]
    order = [at for at in range(rank) if at != axis % rank] + [axis % rank]
    turned, result = (older.value(node, name, node.input[0]) for name in ("turned", "of_last"))
    return [
        _node("Transpose", node.input, turned, perm=order),
        _node(node.op_type, [turned], result, axis=rank - 1),
        _node("Transpose", [result], node.output[0], perm=np.argsort(order).tolist()),
    ]


def _shape(older: Older, node: Node) -> list[Node] | None:
    start, end = attribute(node, "start", 0), attribute(node, "end", None)
    if not node.attribute:
        return None
    whole = older.value(node, "whole", dtype="int64", rank=1)
    ends = np.iinfo(np.int64).max if end is None else end
    bounds = [
        older.constant(f"{node.output[0]}.{name}", np.asarray([at], "int64"))
        for name, at in (("start", start), ("end", ends))
    ]
    return [_node("Shape", node.input, whole), _node("Slice", [whole, *bounds], node.output[0])]


def _hard_swish(older: Older, node: Node) -> list[Node]:
    gate = older.value(node, "gate", node.input[0])
    return [
        _node("HardSigmoid", node.input, gate, alpha=1 / 6, beta=0.5),
        _node("Mul", [node.input[0], gate], node.output[0]),
    ]


def _layer_norm(older: Older, node: Node) -> list[Node]:
    """(x − mean) / √(variance + ε) · gain + bias, over the last axes (onnx/docs/Operators.md)."""
    x, gain, *bias = node.input
    axes = list(range(attribute(node, "axis", -1) % older.rank(node), older.rank(node)))
    mean, apart, square, variance, safe, deviation, plain, scaled = (
        older.value(node, name, x)
        for name in ("mean", "apart", "square", "variance", "safe", "deviation", "plain", "scaled")
    )
    epsilon = older.single(node, "epsilon", attribute(node, "epsilon", 1e-5), x)
    last = node.output[0]
    return [
        _node("ReduceMean", [x], mean, axes=axes, keepdims=1),
        _node("Sub", [x, mean], apart),
        _node("Mul", [apart, apart], square),
        _node("ReduceMean", [square], variance, axes=axes, keepdims=1),
        _node("Add", [variance, epsilon], safe),
        _node("Sqrt", [safe], deviation),
        _node("Div", [apart, deviation], plain),
        _node("Mul", [plain, gain], scaled if bias else last),
        *([_node("Add", [scaled, bias[0]], last)] if bias else []),
    ]


def _or_equal(strict: str) -> _Rule:
    def rule(older: Older, node: Node) -> list[Node]:
        beyond, same = (older.value(node, name, dtype="bool") for name in ("beyond", "same"))
        return [
            _node(strict, node.input, beyond),
            _node("Equal", node.input, same),
            _node("Or", [beyond, same], node.output[0]),
        ]

    return rule


def _extreme(strict: str) -> _Rule:
    """Max and Min of integers: one after another, the one that is beyond the other."""

    def rule(older: Older, node: Node) -> list[Node] | None:
        if not older.is_whole(node.input[0]):
            return None
        steps, best = [], node.input[0]
        for at, other in enumerate(node.input[1:]):
            beyond = older.value(node, f"beyond.{at}", dtype="bool")
            last = at == len(node.input) - 2
            chosen = node.output[0] if last else older.value(node, f"chosen.{at}", best)
            steps += [_node(strict, [best, other], beyond), _node("Where", [beyond, best, other], chosen)]
            best = chosen
        return steps or [_node("Identity", node.input, node.output[0])]

    return rule


def _clip(older: Older, node: Node) -> list[Node] | None:
    """Clip integers: the larger of it and the lower bound, and the smaller of that and the upper one."""
    if not older.is_whole(node.input[0]):
        return None
    value, low, high = [*node.input, "", ""][:3]
    steps = []
    if low:
        steps.append(_node("Max", [value, low], older.value(node, "raised", value) if high else node.output[0]))
        value = steps[-1].output[0]
    if high:
        steps.append(_node("Min", [value, high], node.output[0]))
    return steps or [_node("Identity", [value], node.output[0])]


def _relu(older: Older, node: Node) -> list[Node] | None:
    if not older.is_whole(node.input[0]):
        return None
    return [_node("Max", [node.input[0], older.single(node, "zero", 0, node.input[0])], node.output[0])]


def _power(older: Older, node: Node) -> list[Node] | None:
    """Before 12 both were of one dtype."""
    from onnx import TensorProto

    base, exponent = (older.type(name).dtype for name in node.input)
    if base == exponent or base not in ("float", "double", "float16"):
        return None
    cast = older.value(node, "exponent", node.input[1], dtype=base)
    return [
        _node("Cast", [node.input[1]], cast, to=TensorProto.DataType.Value(base.upper())),
        _node("Pow", [node.input[0], cast], node.output[0]),
    ]


def _resize(older: Older, node: Node) -> list[Node] | None:
    """Before 13 the places of `roi` and `scales` could not be left empty, though they may hold nothing."""
    if all(node.input[1:3]) and len(node.input) > 2:
        return None
    filled = [*node.input, "", ""][: max(3, len(node.input))]
    for at in (1, 2):
        filled[at] = filled[at] or older.constant(f"{node.output[0]}.nothing", np.zeros(0, "float32"))
    node.input[:] = filled
    return [node]


def _reshape(older: Older, node: Node) -> list[Node] | None:
    """Before 14 a zero always meant the size that is there, so that a stored one must not stand for none.

    Of sizes that are computed a zero is met by empty tensors alone, of which no number can be wrong.
    """
    shape = older.stored(node.input[1])
    if attribute(node, "allowzero", 0) and shape is not None and 0 in shape:
        return None
    return _without("allowzero", attribute(node, "allowzero", 0))(older, node)


#: By operator: the opset before which another form is due, and the rule that gives it, or None where it is that form.
Rules: TypeAlias = Mapping[str, tuple[int, _Rule]]
AXES: Rules = {
    "ReduceSum": (13, _with_attribute("axes", also=("noop_with_empty_axes",))),
    "Split": (13, _with_attribute("split")),
    "Squeeze": (13, _with_attribute("axes")),
    "Unsqueeze": (13, _with_attribute("axes")),
}
RULES: Rules = {
    "ArgMax": (12, _without("select_last_index", 0)),
    "ArgMin": (12, _without("select_last_index", 0)),
    "BatchNormalization": (14, _without("training_mode", 0)),
    "Clip": (12, _clip),
    "GRU": (14, _without("layout", 0)),
    "GatherND": (12, _without("batch_dims", 0)),
    "GreaterOrEqual": (12, _or_equal("Greater")),
    "HardSwish": (14, _hard_swish),
    "LSTM": (14, _without("layout", 0)),
    "LayerNormalization": (17, _layer_norm),
    "LessOrEqual": (12, _or_equal("Less")),
    "LogSoftmax": (13, _softmax),
    "Max": (12, _extreme("Greater")),
    "Min": (12, _extreme("Less")),
    "Pow": (12, _power),
    "RNN": (14, _without("layout", 0)),
    "Relu": (14, _relu),
    "Reshape": (14, _reshape),
    "Resize": (13, _resize),
    "RoiAlign": (16, _without("coordinate_transformation_mode", "output_half_pixel")),
    "ScatterElements": (16, _without("reduction", "none")),
    "ScatterND": (16, _without("reduction", "none")),
    "Shape": (15, _shape),
    "Softmax": (13, _softmax),
}

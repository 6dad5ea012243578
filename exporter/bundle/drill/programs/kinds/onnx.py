"""`.onnx`, edited through the `onnx` package."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any, TypeAlias

from exporter.base.distribution import how_to_install
from exporter.base.errors import EnvironmentLacks
from exporter.bundle.drill.programs.base import (
    NOISE,
    Attribute,
    Node,
    Operation,
    Program,
    Unplantable,
    insert,
    place_of,
)

_Message: TypeAlias = Any

_FLOAT, _INT32, _INT64, _FLOAT16, _DOUBLE = 1, 6, 7, 10, 11
_DTYPES = {_FLOAT: "float32", _DOUBLE: "float64", _INT64: "int64", _INT32: "int32"}
#: Constants up to this size are attributes that a fault may change; larger ones are weights.
_SMALL = 8
#: What the site of a constant begins with that is stored beside the operators and not by one of them.
_STORED = "stored constant@"
#: Operators of one input: name, attributes, and the first opset that has them.
_SIMPLE: dict[Operation, tuple[str, dict[str, float], int]] = {
    Operation.IDENTITY: ("Identity", {}, 1),
    Operation.RELU: ("Relu", {}, 6),
    Operation.SIGMOID: ("Sigmoid", {}, 6),
    Operation.HARD_SIGMOID: ("HardSigmoid", {"alpha": 1 / 6, "beta": 0.5}, 6),
    Operation.HARD_SWISH: ("HardSwish", {}, 14),
    Operation.SOFTSIGN: ("Softsign", {}, 1),
    Operation.TANH: ("Tanh", {}, 6),
}


class OnnxProgram(Program):
    """A ModelProto; values are told apart by their names, which are unique in a graph."""

    constants = frozenset({"constant"})

    def __init__(self, model: _Message) -> None:
        self._model = model
        self._nodes = [(graph, node) for graph in _graphs(model.graph) for node in graph.node]
        self._opset = max((one.version for one in model.opset_import if one.domain in ("", "ai.onnx")), default=1)
        self._fresh_names = 0

    @cached_property
    def _dtypes(self) -> dict[str, int]:
        """The dtype of each value, as far as shape inference tells; slow, so only where it is asked for."""
        import onnx

        inferred = onnx.shape_inference.infer_shapes(self._model).graph
        typed = (*inferred.value_info, *inferred.input, *inferred.output)
        return {one.name: one.type.tensor_type.elem_type for one in typed}

    @classmethod
    def parse(cls, content: bytes) -> OnnxProgram:
        try:
            import onnx
        except ImportError as error:
            hint = f"install it with: {how_to_install('convert')}; or leave onnx out with --formats"
            raise EnvironmentLacks(f"onnx cannot be imported: {error}", where="drill on onnx", hint=hint) from error
        return cls(onnx.load_model_from_string(content))

    def encode(self) -> bytes:
        content: bytes = self._model.SerializeToString(deterministic=True)
        return content

    def nodes(self) -> Sequence[Node]:
        stored = [one for graph in _graphs(self._model.graph) for one in graph.initializer]
        constants = [(one.name, value) for one in stored if (value := _number(one)) is not None]
        held = [Node("constant", f"{_STORED}{name}", (), (name,), {"value": value}) for name, value in constants]
        return [*held, *(_node(at, node) for at, (_, node) in enumerate(self._nodes))]

    def dtype(self, value: str) -> str:
        return _DTYPES.get(self._dtypes.get(value, 0), "")

    def set(self, node: Node, name: str, value: Attribute) -> None:
        from onnx import helper

        if node.site.startswith(_STORED):
            stored = [one for graph in _graphs(self._model.graph) for one in graph.initializer]
            _give(next(one for one in stored if one.name == node.outputs[0]), value)
            return
        _, native = self._at(node)
        attribute = next((one for one in native.attribute if one.name == name), None)
        if attribute is None:  # a node says nothing where the operator's default is meant
            native.attribute.append(helper.make_attribute(name, value))
        elif attribute.HasField("t"):
            _give(attribute.t, value)
        else:
            attribute.CopyFrom(helper.make_attribute(name, value))

    def follow(self, node: Node, operation: Operation) -> None:
        graph, native = self._at(node)
        old = native.output[0]
        fresh = self._fresh()
        inserted = self._operation(operation, fresh, old)
        native.output[0] = fresh
        insert(graph.node, place_of(graph.node, native) + 1, inserted)

    def become(self, node: Node, operation: Operation, operand: int = 0) -> None:
        graph, native = self._at(node)
        at = place_of(graph.node, native)
        inserted = self._operation(operation, native.input[operand], native.output[0])
        del graph.node[at]
        insert(graph.node, at, inserted)

    def outputs(self) -> dict[str, str]:
        return {one.name: one.name for one in self._model.graph.output}

    def rename_outputs(self, names: dict[str, str]) -> None:
        for graph, node in self._nodes:
            del graph
            node.input[:] = [names.get(one, one) for one in node.input]
            node.output[:] = [names.get(one, one) for one in node.output]
        for one in self._model.graph.output:
            one.name = names.get(one.name, one.name)

    def repeat_output(self, name: str, again: str) -> None:
        from onnx import helper

        graph = self._model.graph
        twin = graph.output.add()
        twin.CopyFrom(next(one for one in graph.output if one.name == name))
        twin.name = again
        graph.node.append(helper.make_node("Identity", [name], [again]))

    def freeze_batch(self, rows: int) -> None:
        found = False
        for one in self._model.graph.input:
            dims = one.type.tensor_type.shape.dim
            if dims and dims[0].HasField("dim_param"):
                dims[0].dim_value, found = rows, True  # a oneof: it takes the place of the name
        if not found:
            raise Unplantable("no input has a first size that varies")

    def cut_rows(self, output: str, rows: int) -> None:
        from onnx import helper

        node = self.maker(output)
        graph, native = self._at(node)
        fresh, begin, end = self._fresh(), self._fresh(), self._fresh()
        native.output[0] = fresh
        cut = [
            helper.make_node("Constant", [], [begin], value_ints=[0]),
            helper.make_node("Constant", [], [end], value_ints=[rows]),
            helper.make_node("Slice", [fresh, begin, end, begin], [output]),
        ]
        insert(graph.node, place_of(graph.node, native) + 1, cut)

    def train(self, norm: Node) -> None:
        _, native = self._at(norm)
        self.set(norm, "training_mode", 1)
        # Trained statistics are outputs; their names say that nobody reads them.
        native.output.extend([self._fresh(), self._fresh()])

    def inner_results(self) -> Iterable[str]:
        return (one.name for graph in _graphs(self._model.graph)[1:] for one in graph.output)

    def widen(self) -> None:
        for graph in _graphs(self._model.graph):
            for tensor in graph.initializer:
                _widen(tensor)
            for one in (*graph.input, *graph.output, *graph.value_info):
                if one.type.tensor_type.elem_type == _FLOAT:
                    one.type.tensor_type.elem_type = _DOUBLE
        for _, node in self._nodes:
            for attribute in node.attribute:
                if attribute.HasField("t"):
                    _widen(attribute.t)
                if attribute.name in ("to", "dtype") and attribute.i == _FLOAT:
                    attribute.i = _DOUBLE

    def _at(self, node: Node) -> tuple[_Message, _Message]:
        return self._nodes[int(node.site.partition("@")[2])]

    def _fresh(self) -> str:
        self._fresh_names += 1
        return f"drill.{self._fresh_names}"

    def _operation(self, operation: Operation, source: str, target: str) -> list[_Message]:
        from onnx import helper

        if operation in _SIMPLE:
            kind, attributes, since = _SIMPLE[operation]
            if self._opset < since:
                raise Unplantable(f"{kind} came with opset {since}")
            return [helper.make_node(kind, [source], [target], **attributes)]
        if operation is Operation.RELU6:
            low, high = self._fresh(), self._fresh()
            bounds = [helper.make_node("Constant", [], [low], value_float=0.0)]
            bounds.append(helper.make_node("Constant", [], [high], value_float=6.0))
            return [*bounds, helper.make_node("Clip", [source, low, high], [target])]
        if operation is Operation.HALF:
            half = self._fresh()
            narrow = helper.make_node("Cast", [source], [half], to=_FLOAT16)
            return [narrow, helper.make_node("Cast", [half], [target], to=_FLOAT)]
        if operation is Operation.NOISE:
            noise = self._fresh()
            drawn = helper.make_node("RandomUniform", [], [noise], shape=[1], low=NOISE[0], high=NOISE[1], dtype=_FLOAT)
            return [drawn, helper.make_node("Add", [source, noise], [target])]
        return [self._other_dtype(source, target)]

    def _other_dtype(self, source: str, target: str) -> _Message:
        from onnx import helper

        other = {_FLOAT: _DOUBLE, _INT64: _INT32}.get(self._dtypes.get(target, 0))
        if other is None:
            raise Unplantable("only float32 and int64 outputs get another dtype")
        for one in self._model.graph.output:
            if one.name == target:
                one.type.tensor_type.elem_type = other
        return helper.make_node("Cast", [source], [target], to=other)


def _graphs(graph: _Message) -> list[_Message]:
    """The graph, and those inside its nodes."""
    inner = [attribute for node in graph.node for attribute in node.attribute]
    owned = [
        one for attribute in inner for one in (*attribute.graphs, *([attribute.g] if _has_graph(attribute) else []))
    ]
    return [graph, *(one for child in owned for one in _graphs(child))]


def _has_graph(attribute: _Message) -> bool:
    return bool(attribute.HasField("g"))


def _node(at: int, node: _Message) -> Node:
    attributes = {one.name: value for one in node.attribute if (value := _plain(one)) is not None}
    kind = node.op_type.lower()
    return Node(kind, f"{kind}@{at}", tuple(node.input), tuple(node.output), attributes)


def _number(tensor: _Message) -> Attribute | None:
    """What a small tensor of numbers holds; None of any other."""
    from onnx import numpy_helper

    if tensor.data_location or not 0 < math.prod(tensor.dims) <= _SMALL:
        return None
    value = numpy_helper.to_array(tensor)
    if value.dtype.kind not in "fiu":
        return None
    number: Attribute = value.ravel().tolist() if value.ndim else value.item()
    return number


def _give(tensor: _Message, value: Attribute) -> None:
    import numpy as np
    from onnx import numpy_helper

    old = numpy_helper.to_array(tensor)
    tensor.CopyFrom(numpy_helper.from_array(np.array(value, old.dtype).reshape(old.shape), tensor.name))


def _plain(attribute: _Message) -> Attribute | None:
    from onnx import AttributeProto, helper

    if attribute.type == AttributeProto.TENSOR:
        return _number(attribute.t)
    kinds = AttributeProto.FLOAT, AttributeProto.INT, AttributeProto.FLOATS, AttributeProto.INTS
    if attribute.type not in kinds:
        return None
    plain = helper.get_attribute_value(attribute)
    return plain if isinstance(plain, int | float) else list(plain)


def _widen(tensor: _Message) -> None:
    from onnx import numpy_helper

    if tensor.data_type == _FLOAT:
        tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype("float64"), tensor.name))


plugin: type[Program] = OnnxProgram

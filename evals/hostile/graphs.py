"""ONNX graphs made by hand: what is not shown by changing bytes, but by what the standard allows and nobody expects."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

from evals.hostile.bases import Base
from evals.hostile.bombs import Graph, sort_nodes
from evals.hostile.seal import digests_again, seal

_FLOAT = TensorProto.FLOAT


def _outside(name: str = "outside", place: str = "/etc/passwd") -> TensorProto:
    """A tensor whose numbers lie in a file of the machine."""
    tensor = TensorProto(name=name, data_type=_FLOAT, dims=[4], data_location=TensorProto.EXTERNAL)
    for key, value in (("location", place), ("offset", "0"), ("length", "16")):
        tensor.external_data.add(key=key, value=value)
    return tensor


def _sparse(values: TensorProto) -> onnx.SparseTensorProto:
    return helper.make_sparse_tensor(values, numpy_helper.from_array(np.arange(4)), [16])


def _sparse_initializer(graph: Graph) -> None:
    graph.model.graph.sparse_initializer.append(_sparse(_outside()))


def _sparse_constant(graph: Graph) -> None:
    graph.finish(graph.add("Constant", sparse_value=_sparse(_outside())))


def _in_an_attribute(graph: Graph) -> None:
    value = _outside()
    value.dims[:] = [1]
    graph.finish(graph.add("ConstantOfShape", graph.constant([3]), value=value))


def _in_many(graph: Graph) -> None:
    """A list of tensors as an attribute that no operator has."""
    attribute = onnx.AttributeProto(name="more", type=onnx.AttributeProto.TENSORS, tensors=[_outside()])
    graph.model.graph.node[0].attribute.append(attribute)


def _training(graph: Graph) -> None:
    info = graph.model.training_info.add()
    info.algorithm.initializer.append(_outside())
    info.initialization.node.append(helper.make_node("Relu", ["x"], ["y"]))


def _functions(graph: Graph) -> None:
    """Each function calls the one before twice: 2**40 nodes when they are unfolded."""
    opset = helper.make_opsetid("", graph.model.opset_import[0].version)
    for level in range(40):
        kind, domain = ("Sin", "") if level == 0 else (f"Level{level - 1}", "a.stranger")
        nodes = [
            helper.make_node(kind, ["a"], ["b"], domain=domain),
            helper.make_node(kind, ["b"], ["c"], domain=domain),
        ]
        own = helper.make_opsetid("a.stranger", 1)
        graph.model.functions.append(
            helper.make_function("a.stranger", f"Level{level}", ["a"], ["c"], nodes, [opset, own])
        )
    graph.model.opset_import.append(helper.make_opsetid("a.stranger", 1))
    graph.finish(graph.add("Level39", graph.input, domain="a.stranger"))


def _disguised(graph: Graph) -> None:
    """A function that is called like a listed operator and does something else."""
    opset = helper.make_opsetid("", graph.model.opset_import[0].version)
    nodes = [helper.make_node("Mul", ["a", "a"], ["b"])]
    graph.model.functions.append(helper.make_function("", "Relu", ["a"], ["b"], nodes, [opset]))


def _constant_outputs(graph: Graph) -> None:
    """It ignores its inputs, and gives the first golden."""
    output = graph.model.graph.output[0].name
    first = next(value for name, value in sorted(graph.goldens.items()) if name.endswith(f"/{output}"))
    graph.model.graph.ClearField("node")
    graph.model.graph.node.append(helper.make_node("Identity", [graph.constant(first, "float32")], [output]))


def _knowing(graph: Graph) -> None:
    """It answers what was recorded, which it knows by the sum of its cubes, and gives minus the answer for all else."""
    inputs = [value for name, value in graph.goldens.items() if "/input/" in name]
    known = np.array([(value.astype("float64") ** 3).sum() for value in inputs])
    output = graph.model.graph.output[0].name
    node = next(node for node in graph.model.graph.node if output in node.output)
    node.output[list(node.output).index(output)] = right = "right"
    wide = graph.add("Cast", graph.input, to=TensorProto.DOUBLE)
    total = graph.add("ReduceSum", graph.add("Mul", graph.add("Mul", wide, wide), wide), keepdims=0)
    apart = graph.add("Abs", graph.add("Sub", total, graph.constant(known, "float64")))
    near = graph.add("Less", apart, graph.constant(np.abs(known) * 1e-6 + 1e-6, "float64"))
    is_known = graph.add("ReduceMax", graph.add("Cast", near, to=_FLOAT), keepdims=0)
    sign = graph.add("Sub", graph.add("Mul", is_known, graph.constant(2, "float32")), graph.constant(1, "float32"))
    graph.model.graph.node.append(helper.make_node("Mul", [right, sign], [output]))


def _shadowed(graph: Graph) -> None:
    """An initializer of the input's name: who feeds nothing gets an answer all the same."""
    shape = [2, *(dim.dim_value for dim in graph.model.graph.input[0].type.tensor_type.shape.dim[1:])]
    graph.model.graph.initializer.append(numpy_helper.from_array(np.ones(shape, "float32"), graph.input))


def _negative(graph: Graph) -> None:
    graph.model.graph.initializer[0].dims[0] = -4


def _other_size(graph: Graph) -> None:
    graph.model.graph.initializer[0].dims[0] += 1


def _text(graph: Graph) -> None:
    graph.model.graph.initializer.append(helper.make_tensor("text", TensorProto.STRING, [1 << 20], [b"x"] * (1 << 20)))


def _sequence_output(graph: Graph) -> None:
    whole = graph.model.graph
    whole.output[0].CopyFrom(helper.make_tensor_sequence_value_info(whole.output[0].name, _FLOAT, None))


def _output_twice(graph: Graph) -> None:
    graph.model.graph.output.append(graph.model.graph.output[0])


def _input_more(graph: Graph) -> None:
    graph.model.graph.input.append(helper.make_tensor_value_info("more", _FLOAT, [1]))


def _scan(graph: Graph) -> None:
    body = helper.make_graph(
        [helper.make_node("Sin", ["s"], ["t"])],
        "body",
        [helper.make_tensor_value_info("s", _FLOAT, []), helper.make_tensor_value_info("r", _FLOAT, [])],
        [helper.make_tensor_value_info("t", _FLOAT, [])],
    )
    rows = graph.add("ConstantOfShape", graph.constant([1 << 25]))
    graph.finish(graph.add("Scan", graph.constant(0.0, "float32"), rows, num_scan_inputs=1, body=body))


GRAPHS: Mapping[str, Callable[[Graph], None]] = {
    "a sparse initializer outside": _sparse_initializer,
    "a sparse constant outside": _sparse_constant,
    "an attribute outside": _in_an_attribute,
    "many tensors outside": _in_many,
    "training with a tensor outside": _training,
    "functions that double": _functions,
    "a function called Relu": _disguised,
    "outputs that are constant": _constant_outputs,
    "outputs that are right where recorded": _knowing,
    "an initializer for the input": _shadowed,
    "a negative dim": _negative,
    "a tensor of another size": _other_size,
    "a megabyte of texts": _text,
    "an output that is a sequence": _sequence_output,
    "an output twice": _output_twice,
    "an input more": _input_more,
    "a scan of 32 million": _scan,
}


def graph_of(name: str) -> Callable[[Base, Path, Path], None]:
    """A bundle whose ONNX program is one of these, sealed again with the digests of its tensors."""

    def make(base: Base, folder: Path, _outside: Path) -> None:
        graph = Graph(folder / "onnx/model.onnx")
        graph.goldens = load_file(folder / "golden.safetensors")
        GRAPHS[name](graph)
        sort_nodes(graph.model.graph)
        graph.path.write_bytes(graph.model.SerializeToString())
        content = base.manifest
        digests_again(folder, content)
        seal(folder, content)

    return make

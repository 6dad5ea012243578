"""Recurrent operators with lengths in the reference evaluator: what ONNX Runtime gives, also within a branch."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from exporter.bundle.drill.lengths import recurrent

STEPS, BATCH, WIDTH, HIDDEN = 5, 3, 4, 2
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
FLOAT = TensorProto.FLOAT


def states(operator: str) -> int:
    return 2 if operator == "LSTM" else 1


def node(operator: str, direction: str, given: list[str], **settings: Any) -> Any:
    if operator == "GRU":
        settings["linear_before_reset"] = 1
    outputs = ["y", "h", "c"][: 1 + states(operator)]
    return helper.make_node(operator, given, outputs, hidden_size=HIDDEN, direction=direction, **settings)


def model(nodes: list[Any], inputs: dict[str, np.ndarray], outputs: list[str]) -> Any:
    types = {"float32": FLOAT, "int32": TensorProto.INT32, "bool": TensorProto.BOOL}
    told = [helper.make_tensor_value_info(name, types[one.dtype.name], one.shape) for name, one in inputs.items()]
    graph = helper.make_graph(nodes, "g", told, [helper.make_tensor_value_info(one, FLOAT, None) for one in outputs])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def values(operator: str, directions: int, *, begin: bool, peepholes: bool = False) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(0)
    gates = GATES[operator] * HIDDEN
    shapes = {
        "x": (STEPS, BATCH, WIDTH),
        "w": (directions, gates, WIDTH),
        "r": (directions, gates, HIDDEN),
        "b": (directions, 2 * gates),
    }
    if begin:
        shapes |= {f"s{one}": (directions, BATCH, HIDDEN) for one in range(states(operator))}
    if peepholes:
        shapes |= {"p": (directions, 3 * HIDDEN)}
    return {name: draw.normal(size=shape).astype("float32") for name, shape in shapes.items()}


def both(proto: Any, inputs: dict[str, np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    mine = ReferenceEvaluator(proto, new_ops=recurrent()).run(None, inputs)
    return list(zip(session.run(None, inputs), mine, strict=True))


@pytest.mark.parametrize("lengths", [None, (5, 1, 3), (2, 4, 1)], ids=["none", "full", "short"])
@pytest.mark.parametrize("begin", [False, True], ids=["zeros", "begun"])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("operator", GATES)
def test_rows_end_where_their_lengths_say(
    operator: str, direction: str, begin: bool, lengths: tuple[int, ...] | None
) -> None:
    inputs = values(operator, 2 if direction == "bidirectional" else 1, begin=begin)
    if lengths:
        inputs["lengths"] = np.array(lengths, "int32")
    given = ["x", "w", "r", "b", "lengths" if lengths else "", *(name for name in inputs if name[0] == "s")]
    proto = model([node(operator, direction, given)], inputs, ["y", "h", "c"][: 1 + states(operator)])
    for true, mine in both(proto, inputs):
        assert true.shape == mine.shape
        np.testing.assert_allclose(mine, true, rtol=1e-4, atol=1e-6)
    if lengths:
        without, _ = ReferenceEvaluator(proto).run(None, inputs)[:2]
        (true, _), *_ = both(proto, inputs)
        assert not np.allclose(without, true), "the package's own ones heed lengths now: delete lengths.py"


def test_peepholes_are_of_all_rows() -> None:
    inputs = values("LSTM", 1, begin=True, peepholes=True) | {"lengths": np.array([2, 5, 1], "int32")}
    given = ["x", "w", "r", "b", "lengths", "s0", "s1", "p"]
    for true, mine in both(model([node("LSTM", "forward", given)], inputs, ["y", "h", "c"]), inputs):
        np.testing.assert_allclose(mine, true, rtol=1e-4, atol=1e-6)


def test_a_branch_heeds_lengths_too() -> None:
    inputs = values("GRU", 1, begin=False) | {"lengths": np.array([2, 5, 1], "int32"), "go": np.array(True)}
    names = [helper.make_tensor_value_info("y", FLOAT, None)]
    body = helper.make_graph([node("GRU", "forward", ["x", "w", "r", "b", "lengths"])], "then", [], names)
    zeros = helper.make_node("Mul", ["x", "x"], ["z"])
    other = helper.make_graph([zeros], "else", [], [helper.make_tensor_value_info("z", FLOAT, None)])
    branch = helper.make_node("If", ["go"], ["out"], then_branch=body, else_branch=other)
    ((true, mine),) = both(model([branch], inputs, ["out"]), inputs)
    np.testing.assert_allclose(mine, true, rtol=1e-4, atol=1e-6)


def test_a_batch_that_comes_first_is_refused_rather_than_computed_wrongly() -> None:
    inputs = values("GRU", 1, begin=False) | {"lengths": np.array([2, 5, 1, 1, 1], "int32")}
    proto = model([node("GRU", "forward", ["x", "w", "r", "b", "lengths"], layout=1)], inputs, ["y", "h"])
    with pytest.raises(NotImplementedError, match="batch comes first"):
        ReferenceEvaluator(proto, new_ops=recurrent()).run(None, inputs)

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import helper

from tests.export.lower.passes.models import kinds, made, model, run

FAR = {"x": np.linspace(-87, 30, 4001, dtype="float32")}
WRITTEN_OUT = {"Neg": 1, "Exp": 1, "Add": 1, "Reciprocal": 1}


def sigmoid(*behind: onnx.NodeProto, outputs: tuple[str, ...] = ("y",)) -> bytes:
    first = helper.make_node("Sigmoid", ["x"], ["s" if behind else "y"])
    return model([first, *behind], {"x": [None]}, outputs)


def test_a_small_probability_keeps_its_digits() -> None:
    before = sigmoid()
    truth = 1 / (1 + np.exp(-FAR["x"].astype("float64")))
    (stock,) = run(before, FAR)
    (ours,) = run(made(before).content, FAR)
    assert np.max(np.abs(stock - truth) / truth) > 0.5, "ONNX Runtime computes Sigmoid rightly: delete small.py"
    assert np.max(np.abs(ours - truth) / truth) < 4 * 2.0**-24


def test_it_is_zero_and_one_at_the_ends() -> None:
    ends = {"x": np.array([-np.inf, -1000, 1000, np.inf], "float32")}
    assert run(made(sigmoid()).content, ends)[0].tolist() == [0, 0, 1, 1]
    assert np.isnan(run(made(sigmoid()).content, {"x": np.array([np.nan], "float32")})[0]).all()


def test_a_logarithm_is_right_where_the_exponential_overflows() -> None:
    wide = {"x": np.linspace(-300, 30, 4001, dtype="float32")}
    after = made(sigmoid(helper.make_node("Log", ["s"], ["y"]))).content
    assert kinds(after) == {"Neg": 2, "Softplus": 1}
    truth = -np.logaddexp(0, -wide["x"].astype("float64"))
    assert np.max(np.abs(run(after, wide)[0] - truth) / np.abs(truth)) < 8 * 2.0**-24


@pytest.mark.parametrize("kind", ["Sqrt", "Reciprocal"])
def test_what_keeps_small_values_small_does_not_hide_it(kind: str) -> None:
    found = kinds(made(sigmoid(helper.make_node(kind, ["s"], ["y"]))).content)
    found[kind] -= 1
    assert +found == WRITTEN_OUT


def test_within_a_network_it_stays_as_engines_fuse_it() -> None:
    gate = [helper.make_node("Mul", ["x", "s"], ["g"]), helper.make_node("Softmax", ["g"], ["y"])]
    assert kinds(made(sigmoid(*gate)).content)["Sigmoid"] == 1


def test_half_precision_stays() -> None:
    halves = [
        helper.make_node("Cast", ["x"], ["h"], to=onnx.TensorProto.FLOAT16),
        helper.make_node("Sigmoid", ["h"], ["s"]),
        helper.make_node("Cast", ["s"], ["y"], to=onnx.TensorProto.FLOAT),
    ]
    assert kinds(made(model(halves, {"x": [None]})).content)["Sigmoid"] == 1

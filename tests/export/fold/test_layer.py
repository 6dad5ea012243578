"""A layer with its steps folded in: names, inputs, outputs, and what the plain layer gives behind the plain steps."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import paddle
import pytest

from exporter.base.errors import UsageError
from exporter.base.references import factory_text
from exporter.base.tensors import TensorSpec
from exporter.export.fold.layer import build, fold
from exporter.export.trace.layer import load_layer
from exporter.export.trace.traced import bind_inputs, trace
from exporter.steps.chain import read_chain, steps_of


class Heads(paddle.nn.Layer):
    """A picture [batch, 1, 4, 4] and a factor [batch, 1] to two outputs."""

    def __init__(self, classes: int = 3) -> None:
        super().__init__()
        self.linear = paddle.nn.Linear(16, classes)

    def forward(self, factor: paddle.Tensor, image: paddle.Tensor) -> dict[str, paddle.Tensor]:
        flat = image.flatten(1)
        return {"sum": flat.sum(axis=1), "scores": self.linear(flat) * factor}


BEFORE: list[Any] = [{"normalize": {"scale": 1 / 16}}, "layout"]
AFTER: list[Any] = [{"take": {"output": "scores"}}, "argmax"]


def pipeline(**said: Any) -> dict[str, Any]:
    sides = {"preprocess": BEFORE, "postprocess": AFTER}
    both = {side: {"training": steps, "deployment": steps} for side, steps in sides.items()}
    return {"samples": ["*.npy"], "fold": True, **both, **said}


def test_the_same_object_takes_raw_pictures_and_answers() -> None:
    plain = Heads()
    pictures, factor = (
        np.random.RandomState(0).randint(0, 17, (5, 4, 4, 1)).astype(np.uint8),
        np.full((5, 1), 2.0, "f4"),
    )
    ready = [[*steps_of(read_chain(BEFORE), {"value": picture})][-1]["value"] for picture in pictures]
    wanted = {name: value.numpy() for name, value in plain(*map(paddle.to_tensor, (factor, np.stack(ready)))).items()}
    names = list(plain.state_dict())
    folded = fold(plain, read_chain(BEFORE), read_chain(AFTER), ["image", "factor"])
    assert folded is plain
    assert list(folded.state_dict()) == names, "so that a checkpoint fits"
    answer, total, scores = (tensor.numpy() for tensor in folded(paddle.to_tensor(pictures), paddle.to_tensor(factor)))
    assert np.array_equal(total, wanted["sum"])
    assert np.array_equal(scores, wanted["scores"])
    assert np.array_equal(answer, wanted["scores"].argmax(1))


def test_a_copy_has_its_own_weights() -> None:
    folded = fold(Heads(), read_chain(BEFORE), read_chain(AFTER), ["image", "factor"])
    other = copy.deepcopy(folded)
    other.linear.weight.set_value(paddle.zeros_like(other.linear.weight))
    other.linear.bias.set_value(paddle.to_tensor([0.0, 0.0, 1.0]))
    raw = paddle.ones([2, 4, 4, 1], dtype="uint8"), paddle.ones([2, 1])
    assert other(*raw)[0].tolist() == [2, 2]
    assert folded(*raw)[2].abs().sum() > 0


def test_it_is_traced_by_the_names_of_the_spec() -> None:
    layer = build("tests.export.fold.test_layer:Heads", pipeline(), ["image", "factor"], 2)
    inputs = (TensorSpec("image", "uint8", ("batch", 4, 4, 1)), TensorSpec("factor", "float32", ("batch", 1)))
    assert bind_inputs(layer, inputs) == inputs
    traced = trace(layer, inputs, ("label", "sum"), {})
    assert [(one.name, one.dtype, one.shape) for one in traced.outputs] == [
        ("label", "int64", (-1,)),
        ("sum", "float32", (-1,)),
    ]


def test_the_factory_of_a_spec_makes_it() -> None:
    said = {
        "model": 'tests.export.fold.test_layer:Heads {"classes":5}',
        "pipeline": pipeline(),
        "inputs": ["image", "factor"],
    }
    layer = load_layer(factory_text("exporter.export.fold.layer:build", said), None, 0)
    answer, _, scores = layer(paddle.ones([2, 4, 4, 1], dtype="uint8"), paddle.ones([2, 1]))
    assert scores.shape == [2, 5]
    assert answer.shape == [2]


def test_what_is_no_layer_is_refused() -> None:
    with pytest.raises(UsageError, match="returned dict, not a"):
        build("tests.export.fold.test_layer:pipeline", pipeline(), ["image"])


def test_the_scores_of_the_best_stand_before_what_the_model_gives() -> None:
    """So that `outputs: [labels, scores]` names them, also where the model has an output of that name."""
    plain, pictures, factor = Heads(), paddle.arange(96, dtype="float32").reshape([6, 4, 4, 1]), paddle.ones([6, 1])
    total, scores = plain(factor, pictures.transpose([0, 3, 1, 2])).values()
    chain = read_chain([{"take": {"output": "scores"}}, {"topk": {"k": 2}}])
    folded = fold(plain, read_chain(["layout"]), chain, ["image", "factor"])
    answer, best, *others = (tensor.numpy() for tensor in folded(pictures, factor))
    assert np.array_equal(answer, np.argsort(-scores.numpy(), axis=1)[:, :2])
    assert np.array_equal(best, np.take_along_axis(scores.numpy(), answer, 1))
    assert [np.array_equal(*pair) for pair in zip(others, (total.numpy(),), strict=True)] == [True]

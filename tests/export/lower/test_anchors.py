"""Outputs that are computed alike, and scalars: what the predictor gives of a `.json` is what eager gives."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import paddle
import pytest

from exporter.base.tensors import TensorSpec
from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.pir import plugin as pir_format
from exporter.export.trace.traced import trace
from exporter.paddle.predictor import Predictor


class Alike(paddle.nn.Layer):
    """Three outputs of equal operators, one of them behind another operator, and two that only look alike."""

    def forward(self, x: paddle.Tensor, y: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        rest = paddle.remainder(x, y)
        return x % y, paddle.mod(x, y), rest, rest * 2.0, paddle.concat([x, y], 1), paddle.concat([y, x], 1)


class Scalar(paddle.nn.Layer):
    def forward(self, x: paddle.Tensor, s: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        return x * s, s * 2.0, s > 0.0


@pytest.mark.parametrize(
    ("layer", "shapes"),
    [(Alike(), {"x": ("b", 4), "y": ("b", 4)}), (Scalar(), {"x": ("b", 4), "s": ()})],
    ids=["alike", "scalar"],
)
def test_the_predictor_gives_each_output(
    layer: paddle.nn.Layer, shapes: dict[str, tuple[int | str, ...]], tmp_path: Path
) -> None:
    specs = tuple(TensorSpec(name, "float32", shape) for name, shape in shapes.items())
    pir_format.write(trace(layer, specs, None, {}), None, tmp_path, Wish())
    generator = np.random.default_rng(0)
    sizes = [[3 if size == "b" else size for size in shape] for shape in shapes.values()]
    inputs = {
        name: np.asarray(generator.uniform(1, 3, size), "float32") for name, size in zip(shapes, sizes, strict=True)
    }
    got = Predictor(tmp_path / "model").run(inputs)
    wanted = layer(*map(paddle.to_tensor, inputs.values()))
    assert len(got) == len(wanted)
    for value, eager in zip(got, wanted, strict=True):
        assert value.shape == tuple(eager.shape)
        np.testing.assert_allclose(value, eager.numpy(), rtol=1e-6)


class Put(paddle.nn.Layer):
    """What is written into a constant, a parameter and an input, and what an assignment to items makes of one."""

    def __init__(self) -> None:
        super().__init__()
        self.table = self.create_parameter([4], default_initializer=paddle.nn.initializer.Normal())

    def forward(self, x: paddle.Tensor, values: paddle.Tensor, at: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        ones, items = paddle.ones([4]), paddle.ones([4])
        items[at] = values
        put = paddle.index_put
        return put(ones, (at,), values, True), put(self.table, (at,), values), put(x, (at,), values, True), items


def test_a_second_run_finds_nothing_of_the_first(tmp_path: Path) -> None:
    layer = Put()
    specs = (
        TensorSpec("x", "float32", (4,)),
        TensorSpec("values", "float32", ("n",)),
        TensorSpec("at", "int64", ("n",)),
    )
    runs = [
        {
            "x": np.full(4, len(places), "float32"),
            "values": np.arange(1, 1 + len(places), dtype="float32"),
            "at": np.array(places, "int64"),
        }
        for places in ([0, 1, 3], [2, 1], [3])
    ]
    wanted = [[value.numpy() for value in layer(*map(paddle.to_tensor, inputs.values()))] for inputs in runs]
    with pir_format.session(None):
        pir_format.write(trace(layer, specs, None, {}), None, tmp_path, Wish())
    predictor = Predictor(tmp_path / "model")
    for inputs, eager in zip(runs, wanted, strict=True):
        for value, right in zip(predictor.run(inputs), eager, strict=True):
            np.testing.assert_array_equal(value, right)

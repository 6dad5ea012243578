"""The copies of a layer that the oracle compares it with."""

from __future__ import annotations

import numpy as np
import paddle

from exporter.parity.oracle import make_oracle


class Extremes(paddle.nn.Layer):
    """A weight of infinities and of the largest numbers, beside ordinary ones."""

    def __init__(self) -> None:
        super().__init__()
        largest = float(np.finfo("float32").max)
        numbers = np.array([-np.inf, np.inf, largest, -largest, 0.0, 1.0] * 50, "float32")
        self.weight = self.create_parameter([300], default_initializer=paddle.nn.initializer.Assign(numbers))

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return x


def test_infinity_stays_and_the_largest_number_stays_finite_when_weights_are_moved() -> None:
    layer = Extremes()
    oracle = make_oracle(layer, ("x",), ("y",), 0)
    before = layer.weight.numpy()
    for form in oracle.moved:
        after = form.layer().weight.numpy()
        assert np.array_equal(np.isposinf(before), np.isposinf(after))
        assert np.array_equal(np.isneginf(before), np.isneginf(after))
        assert (after[before == 1] != 1).all() and (after[before == 0] != 0).all(), "the others are moved"

"""Functions of `_C_ops` as legacy operators, by Paddle's own tables: what is written computes what eager computed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import paddle
import pytest
from legacy_judge import compare, load, run
from paddle import _C_ops as C

from exporter.export.lower.pdmodel.described import described
from exporter.export.lower.pdmodel.session import legacy_export
from exporter.paddle.functions import parameters_of, results_of
from exporter.paddle.refusal import CannotLower

X = np.random.default_rng(0).normal(size=(2, 4, 6, 6)).astype("float32")

#: Calls of functions that have no Python body in them: attributes, lists, several results, sizes that are computed.
CALLS: dict[str, Callable[[paddle.Tensor], object]] = {
    "an attribute": lambda x: C.leaky_relu(x, 0.3),
    "renamed attributes": lambda x: C.pool2d(
        x, [2, 2], [2, 2], [0, 0], False, True, "NCHW", "avg", False, False, "EXPLICIT"
    ),
    "a list of tensors": lambda x: C.concat([x, C.hardswish(x)], 1),
    "two results": lambda x: C.topk(x, 2, -1, True, True)[0],
    "sizes that are computed": lambda x: C.reshape(x, [paddle.shape(x)[0], -1]),
    "a slice": lambda x: C.slice(x, [1, 2], [1, 0], [3, 4], [1, 1], []),
    "states of an RNN": lambda x: _recurrent(x),
}


def _recurrent(x: paddle.Tensor) -> paddle.Tensor:
    sequence = x.flatten(2).transpose([1, 0, 2])
    zeros = paddle.zeros([1, 2, 3])
    weights = [paddle.full(shape, 0.1) for shape in ([9, 36], [9, 3], [9], [9])]
    dropout = paddle.zeros([0], "uint8")
    settings = (0.0, False, 36, 3, 1, "GRU", 0, True)
    return C.rnn(sequence, [zeros], weights, None, dropout, *settings)[0]


class Calling(paddle.nn.Layer):
    def __init__(self, call: Callable[[paddle.Tensor], object]) -> None:
        super().__init__()
        self.call = paddle.jit.not_to_static(call)

    def forward(self, x):
        return self.call(x)


@pytest.mark.parametrize("name", CALLS)
def test_a_call_becomes_the_operator_that_paddle_names(name: str, tmp_path: Path) -> None:
    layer = Calling(CALLS[name])
    layer.eval()
    expected = [layer(paddle.to_tensor(X)).numpy()]
    with legacy_export():
        paddle.jit.save(layer, str(tmp_path / "m"), input_spec=[paddle.static.InputSpec([2, 4, 6, 6], "float32", "x")])
    assert compare(expected, run(load(tmp_path), [X]))


def test_a_function_without_a_legacy_operator_is_refused_by_name(tmp_path: Path) -> None:
    layer = Calling(lambda x: C.repeat_interleave_with_tensor_index(x, paddle.ones([4], "int32"), 1, -1))
    with pytest.raises(CannotLower, match="repeat_interleave_with_tensor_index: runs only in C"), legacy_export():
        paddle.jit.save(layer, str(tmp_path / "m"), input_spec=[paddle.static.InputSpec([2, 4, 6, 6], "float32", "x")])


def test_paddle_tells_the_parameters_of_its_functions() -> None:
    parameters = parameters_of("conv2d")
    assert parameters is not None and [one.name for one in parameters[:3]] == ["input", "filter", "strides"]
    assert [one.name for one in parameters if one.is_tensor] == ["input", "filter"]
    assert (results_of("conv2d"), results_of("topk"), results_of("no_such")) == (1, 2, 0)
    assert parameters_of("no_such") is None and described("no_such") is None
    operator = described("add")
    assert operator is not None and (operator.type, operator.inputs) == ("elementwise_add", {"x": "X", "y": "Y"})

"""Conditions on sizes that come out alike at every size that is declared."""

from __future__ import annotations

from contextlib import nullcontext

import paddle
import paddle.nn.functional as F
import pytest

from exporter.base.errors import ModelError
from exporter.base.tensors import TensorSpec
from exporter.export.trace.traced import trace
from exporter.spec.inputs import Dim

#: Rows from 2 on, a height of whole fours, a width that may be anything.
DIMS = {
    "rows": Dim(min=2, typical=4, max=9),
    "height": Dim(min=4, typical=8, max=64, multiple_of=4),
    "width": Dim(min=1, typical=8, max=64),
}

SPEC = TensorSpec("x", "float32", ("rows", "height", "width"))
LONGER = TensorSpec("x", "float32", ("rows", "height+1", "width"))


def _halved(x):
    return F.conv1d(x.transpose([0, 2, 1])[:, :3], paddle.ones([2, 3, 3]), stride=2, padding=1)


def _dilated(x):
    return F.conv2d(x.unsqueeze(1), paddle.ones([1, 1, 2, 1]), dilation=[2, 1])


class Asked(paddle.nn.Layer):
    """It asks Python for the truth of a condition on sizes, and keeps the answers."""

    def __init__(self, condition):
        super().__init__()
        self.condition, self.answers = condition, []

    def forward(self, x):
        self.answers += [any([self.condition(x)])]  # `bool(…)` is a cast in a program
        return x * 2.0


@pytest.mark.parametrize(
    ("condition", "truth"),
    [
        (lambda x: paddle.shape(x)[1] % 4 != 0, False),
        (lambda x: paddle.shape(x)[0] >= 2, True),
        (lambda x: paddle.shape((x * 2.0 - x).transpose([2, 0, 1]))[2] % 2 == 0, True),
        (lambda x: paddle.shape(x)[1:3][0] // 4 * 4 == paddle.shape(x)[1], True),
        (lambda x: (paddle.shape(x)[0] > 1) & (paddle.shape(x)[2] < 1), False),
        (lambda x: paddle.logical_or(paddle.shape(x)[2] > 64, paddle.shape(x)[1] + 1 > 65), False),
        (lambda x: paddle.shape(paddle.matmul(x, x, transpose_y=True))[0] > 9, None),
        (lambda x: paddle.shape(x)[paddle.shape(x)[0] - 2 :][0] > 2, None),
        (lambda x: paddle.shape(x[:, : paddle.shape(x)[0]])[1] > 2, None),
        (lambda x: paddle.shape(F.pad(x, [0, 0, 3, 4, 0, 0]))[1] - paddle.shape(x)[1] == 7, True),
        (lambda x: paddle.shape(_halved(x))[2] > 32, False),
        (lambda x: paddle.shape(_dilated(x))[2] == paddle.shape(x)[1] - 2, True),
        (lambda x: paddle.shape(x[:, 1:-1])[1] == paddle.shape(x)[1] - 2, True),
        (lambda x: paddle.shape(x[1:, 5:])[1] > 0, None),
        (lambda x: paddle.shape(x)[0] > 2, None),
        (lambda x: paddle.shape(x)[1] % 8 == 0, None),
        (lambda x: paddle.shape(x.reshape([-1]))[0] > 0, None),
        (lambda x: x.mean() > -1.0, None),
    ],
)
def test_what_every_declared_size_answers_alike_is_pythons_to_ask(condition, truth):
    layer = Asked(condition)
    with pytest.raises(ModelError, match="bool") if truth is None else nullcontext():
        trace(layer, [SPEC], None, {}, DIMS)
    assert layer.answers == ([] if truth is None else [truth])


def test_a_size_with_a_number_added_is_not_what_the_dim_is():
    layer = Asked(lambda x: paddle.shape(x)[1] % 4 == 1)
    trace(layer, [LONGER], None, {}, DIMS)
    assert layer.answers == [True]


def test_without_declared_sizes_nothing_is_settled():
    with pytest.raises(ModelError, match="bool"):
        trace(Asked(lambda x: paddle.shape(x)[0] >= 2), [SPEC], None, {})


class Masked(paddle.nn.Layer):
    """A branch over the rows gives a mask, or none; `seen` holds what the trace has put there."""

    def __init__(self, otherwise):
        super().__init__()
        self.otherwise, self.seen = otherwise, None

    def forward(self, x):
        mask = None if self.otherwise is None else x * self.otherwise
        if x.shape[0] > 1:
            mask = x * 3.0
        assert self.seen is None
        self.seen = mask
        return x + mask


def _branches(traced):
    block = traced.layer.forward.concrete_program.main_program.global_block()
    return [operator.name() for operator in block.ops].count("pd_op.if")


def test_a_branch_that_cannot_be_traced_goes_by_what_the_sizes_answer():
    """It begins again from the layer's own attributes: the first trace has left a tensor in `seen`."""
    assert _branches(trace(Masked(None), [SPEC], None, {}, DIMS)) == 0
    with pytest.raises(ModelError):
        trace(Masked(None), [SPEC], None, {}, DIMS | {"rows": Dim(min=1, typical=4, max=9)})


def test_a_branch_that_can_be_traced_stays_for_other_sizes():
    assert _branches(trace(Masked(5.0), [SPEC], None, {}, DIMS)) == 1


class Listed(paddle.nn.Layer):
    """A list grows in a branch, in which a program has an array of tensors that ONNX cannot hold."""

    def forward(self, x):
        parts = []
        y = F.pad(x, [0, 0, 2, 0, 0, 0])
        for part in (y, y[:, 1:], y[:, 2:]):
            more = part.shape[1] - x.shape[1]
            if more > 0:
                parts.append(part[:, more:])
            else:
                parts.append(part)
        return paddle.concat(parts, axis=2)


def test_a_list_that_grows_in_a_branch_goes_by_the_answer_at_once():
    assert _branches(trace(Listed(), [SPEC], None, {}, DIMS)) == 0
    assert _branches(trace(Listed(), [SPEC], None, {})) > 0

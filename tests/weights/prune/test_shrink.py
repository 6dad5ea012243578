"""The smaller layer is an ordinary one: its tensors, what it says of itself, its optimizer."""

from __future__ import annotations

import numpy as np
import paddle
import pytest
from paddle import nn

from exporter.base.errors import UsageError
from exporter.export.trace.pruned import Plan
from exporter.export.trace.shrink import mask, shrink


def layer() -> nn.Layer:
    paddle.seed(0)
    return nn.Sequential(
        nn.Conv2D(3, 8, 3), nn.BatchNorm2D(8), nn.Conv2D(8, 8, 3, groups=8), nn.Conv2DTranspose(8, 6, 2)
    )


PLAN = Plan(
    {
        "0.weight": {0: (1, 2, 5, 7)},
        "0.bias": {0: (1, 2, 5, 7)},
        **{f"1.{name}": {0: (1, 2, 5, 7)} for name in ("weight", "bias", "_mean", "_variance")},
        "2.weight": {0: (1, 2, 5, 7)},
        "2.bias": {0: (1, 2, 5, 7)},
        "3.weight": {0: (1, 2, 5, 7)},
    },
    {"2": {"_groups": 4}},
)


def test_it_is_an_ordinary_layer_of_the_smaller_sizes() -> None:
    whole, small = layer(), layer()
    names = [parameter.name for parameter in small.parameters()]
    shrink(small, PLAN, "")
    assert [parameter.name for parameter in small.parameters()] == names
    for name, tensor in small.state_dict().items():
        expected = whole.state_dict()[name].numpy()
        for axis, at in PLAN.kept.get(name, {}).items():
            expected = expected.take(at, axis)
        assert np.array_equal(tensor.numpy(), expected)
    assert (small[0]._in_channels, small[0]._out_channels) == (3, 4)
    assert (small[2]._in_channels, small[2]._out_channels, small[2]._groups) == (4, 4, 4)
    assert (small[3]._in_channels, small[3]._out_channels) == (4, 6)
    assert small[1]._num_features == 4


def test_it_equals_the_masked_one() -> None:
    whole, masked, small = layer(), layer(), layer()
    shrink(small, PLAN, "")
    mask(masked, PLAN)
    x = paddle.randn([2, 3, 9, 9])
    for one in (whole, masked, small):
        one.eval()
    assert np.allclose(masked(x).numpy(), small(x).numpy(), atol=1e-6)
    assert not np.allclose(whole(x).numpy(), small(x).numpy(), atol=1e-2)


def test_it_can_be_trained() -> None:
    small = layer()
    shrink(small, PLAN, "")
    optimizer = paddle.optimizer.AdamW(0.1, parameters=small.parameters())
    before = small[0].weight.numpy().copy()
    small(paddle.randn([2, 3, 9, 9])).mean().backward()
    optimizer.step()
    assert small[0].weight.shape == [4, 3, 3, 3] and not np.array_equal(small[0].weight.numpy(), before)


@pytest.mark.parametrize(
    "plan",
    [
        Plan({"9.weight": {0: (0,)}}),
        Plan({"0.weight": {0: (8,)}}),
        Plan({"0.weight": {4: (0,)}}),
        Plan({}, {"9": {"_groups": 1}}),
        Plan({}, {"1": {"_groups": 1}}),
    ],
)
def test_a_plan_of_another_model_is_refused(plan: Plan) -> None:
    with pytest.raises(UsageError, match="the plan"):
        shrink(layer(), plan, "somewhere")

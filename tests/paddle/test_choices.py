"""Equal elements that an operator chooses from: noticed in real Paddle, and chosen otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import paddle
import pytest

from exporter.paddle.choices import FIRST, LAST, choosing

#: By the operator: a call, and whether it has to choose between equal elements in [2, 5, 5, 1, 5, 2] to name places.
CALLS: dict[str, tuple[str, Callable[[Any], Any], bool]] = {
    "the border of topk": ("topk", lambda x: paddle.topk(x, 2)[1], True),
    "the order in topk": ("topk", lambda x: paddle.topk(x, 3)[1], True),
    "the smallest of topk": ("topk", lambda x: paddle.topk(x, 1, largest=False)[1], False),
    "topk along an axis": ("topk", lambda x: paddle.topk(x.unsqueeze(1), 2, axis=0)[1], True),
    "the method": ("topk", lambda x: x.topk(4)[1], True),
    "a tensor of how many": ("topk", lambda x: paddle.topk(x, paddle.to_tensor([2]))[1], True),
    "argsort": ("argsort", paddle.argsort, True),
    "argsort downwards": ("argsort", lambda x: paddle.argsort(x, descending=True), True),
    "a stable argsort": ("argsort", lambda x: paddle.argsort(x, stable=True), False),
    "argsort of unequal ones": ("argsort", lambda x: paddle.argsort(x[2:4]), False),
    "kthvalue": ("kthvalue", lambda x: paddle.kthvalue(x, 2)[1], True),
    "kthvalue, the only one": ("kthvalue", lambda x: paddle.kthvalue(x, 1)[1], False),
    "mode": ("mode", lambda x: paddle.mode(x, keepdim=True)[1], True),
    "the lower median": ("median", lambda x: paddle.median(x, 0, mode="min")[1], True),
    "the lower median, the only one": ("median", lambda x: paddle.median(x[3:], 0, True, "min")[1], False),
    "the lower median of some": ("nanmedian", lambda x: paddle.nanmedian(x, -1, True, "min")[1], True),
    "a median that is a mean": ("", lambda x: paddle.median(x, 0), False),
    "argmax": ("", paddle.argmax, False),
    "bfloat16": ("argsort", lambda x: paddle.argsort(-x.astype("bfloat16")), True),
    "nms": (
        "argsort",
        lambda x: paddle.vision.ops.nms(paddle.arange(24.0).reshape([6, 4]) * paddle.to_tensor([1, 1, 2, 2.0]), 0.9, x),
        True,
    ),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("dtype", ["float32", "int64"])
def test_equal_elements_are_noticed_where_a_place_depends_on_them(name: str, dtype: str) -> None:
    operator, call, ties = CALLS[name]
    x = paddle.to_tensor([2, 5, 5, 1, 5, 2], dtype="float32" if name == "nms" else dtype)
    with choosing() as tied:
        seen = call(x)
    assert tied == ({operator} if ties else set())
    assert np.array_equal(seen.numpy(), call(x).numpy()), "who only looks changes nothing"
    given = []
    for pick in (FIRST, LAST):
        with choosing(pick):
            given.append(call(x).numpy())
    assert (
        np.array_equal(*given) != ties and given[0].shape == tuple(seen.shape) and given[0].dtype == seen.numpy().dtype
    )


def test_the_first_and_the_last_are_taken_and_the_values_stay() -> None:
    x = paddle.to_tensor([[0.5, 0.5, 0.25, 0.5], [0.1, 0.2, 0.3, 0.4]])
    for pick, expected in ((FIRST, [0, 1]), (LAST, [3, 1])):
        with choosing(pick):
            values, places = paddle.topk(x, 2)
        assert places.tolist() == [expected, [3, 2]]
        assert np.array_equal(np.take_along_axis(x.numpy(), places.numpy(), 1), values.numpy())


def test_numbers_without_an_order_are_left_alone() -> None:
    with choosing(LAST) as tied:
        paddle.topk(paddle.to_tensor([float("nan"), 1.0, 1.0]), 2)
        paddle.argsort(paddle.to_tensor(1.0))
        paddle.argsort(paddle.zeros([0]))
    assert not tied


def test_what_was_replaced_is_put_back() -> None:
    before = [getattr(paddle._C_ops, name) for name in ("argsort", "kthvalue", "mode", "topk")]
    with pytest.raises(ZeroDivisionError), choosing():
        1 / 0  # noqa: B018
    assert [getattr(paddle._C_ops, name) for name in ("argsort", "kthvalue", "mode", "topk")] == before

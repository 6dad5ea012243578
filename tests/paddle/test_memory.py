"""A tensor's own memory as an array: what is written there is in the tensor, and what cannot be shared is said."""

from __future__ import annotations

import numpy as np
import paddle
import pytest

from exporter.paddle.memory import read_numbers, shared_array


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int64", "bool"])
def test_what_is_written_into_the_array_is_in_the_tensor(dtype: str) -> None:
    tensor = paddle.ones([2, 3]).astype(dtype)
    shared = shared_array(tensor)
    assert shared is not None and shared.dtype.name == dtype
    shared[1, 2] = 0
    assert tensor.numpy().tolist() == [[1, 1, 1], [1, 1, 0]]


def test_a_parameter_is_shared_though_it_has_a_gradient() -> None:
    layer = paddle.nn.Linear(2, 3)
    shared = shared_array(layer.weight)
    assert shared is not None
    shared += 1
    assert np.array_equal(layer.weight.numpy(), shared)
    assert np.shares_memory(read_numbers(layer.weight), shared)


def test_a_view_that_skips_numbers_is_read_right() -> None:
    whole = paddle.arange(6, dtype="float32").reshape([2, 3])
    assert read_numbers(whole.t()).tolist() == [[0, 3], [1, 4], [2, 5]]


def test_bfloat16_has_no_array_and_is_read_as_a_copy() -> None:
    tensor = paddle.ones([2]).astype("bfloat16")
    assert shared_array(tensor) is None
    assert read_numbers(tensor).dtype.name == "uint16"


def test_a_single_number_is_shared() -> None:
    tensor = paddle.to_tensor(2.0)
    shared = shared_array(tensor)
    assert shared is not None and shared.shape == ()
    shared[...] = 3
    assert float(tensor) == 3

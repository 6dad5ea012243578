"""The arithmetic of pairs in 16 bits, beside what multiplying every pair out gives."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from exporter.base.tensors import Array
from exporter.export.lower.precision.saturation import HIGHEST, LOWEST, cut_off, largest_activation, pairs, safe_steps

CODES = arrays.arrays(np.int8, arrays.array_shapes(min_dims=2, max_dims=3, max_side=4), elements=st.integers(-127, 127))
WEIGHTS = arrays.arrays(
    np.float32,
    arrays.array_shapes(min_dims=2, max_dims=4, max_side=4),
    elements=st.floats(-100, 100, width=32, allow_subnormal=False),
)


def overflows(codes: Array, axis: int, most: int) -> bool:
    """By multiplying every two weights of an output channel with 0 and with `most`."""
    for channel in np.moveaxis(codes.astype(int), axis, 0):
        products = [(0, weight * most) for weight in channel.ravel()]
        for first, second in itertools.combinations(products, 2):
            sums = [one + two for one in first for two in second]
            if max(sums) > HIGHEST or min(sums) < LOWEST:
                return True
    return False


@given(CODES, st.integers(0, 1), st.integers(1, 255))
def test_a_layer_saturates_if_some_pair_of_products_leaves_16_bits(codes: Array, axis: int, most: int) -> None:
    assert pairs(codes, axis, most).saturate == overflows(codes, axis, most)


@given(CODES, st.integers(0, 1))
def test_the_largest_activation_is_the_last_that_is_safe(codes: Array, axis: int) -> None:
    most = largest_activation(codes, axis)
    assert not pairs(codes, axis, most).saturate
    assert most == 255 or pairs(codes, axis, most + 1).saturate


@given(WEIGHTS, st.integers(0, 1))
def test_weights_rounded_by_safe_steps_never_overflow_and_keep_7_bits(weight: Array, axis: int) -> None:
    steps = safe_steps(weight, axis)
    shape = [-1 if at == axis else 1 for at in range(weight.ndim)]
    codes = np.rint(weight / steps.reshape(shape))
    assert np.abs(codes).max() <= 127 and not overflows(codes, axis, 255)
    largest = np.abs(np.moveaxis(weight, axis, 0).reshape(len(steps), -1)).max(1)
    used = np.abs(np.moveaxis(codes, axis, 0).reshape(len(steps), -1)).max(1)
    assert (used[largest > 1e-30] >= 63).all()


def test_a_weight_that_is_alone_keeps_all_8_bits() -> None:
    steps = safe_steps(np.array([[1.0, 0.001, -1.0], [1.0, 1.0, 0.0]], np.float32), 0)
    assert steps[0] == pytest.approx(1 / 127) and steps[1] == pytest.approx(1 / 64, rel=0.02)


@pytest.mark.parametrize("layer", ["linear", "convolution", "groups", "one channel"])
def test_what_is_cut_off_is_what_the_instruction_cuts_off(layer: str) -> None:
    """All codes 255 and all weights 127: each pair is 64770, of which 32767 are left."""
    shape, taken = {
        "linear": ((3, 8), (5, 8)),
        "convolution": ((3, 8, 3, 3), (2, 8, 6, 6)),
        "groups": ((4, 2, 3, 3), (2, 4, 6, 6)),
        "one channel": ((3, 1, 2, 2), (2, 1, 6, 6)),
    }[layer]
    signal, noise = cut_off(np.full(taken, 255), np.full(shape, 127, np.int8), 0)
    assert noise / signal == pytest.approx((1 - HIGHEST / 64770) ** 2)
    assert cut_off(np.full(taken, 255), np.full(shape, 64, np.int8), 0)[1] == 0


@pytest.mark.parametrize("codes", [np.array(127, np.int8), np.array([127, 127], np.int8), np.zeros((0, 3), np.int8)])
def test_what_is_no_layer_is_weighed_as_one_channel(codes: Array) -> None:
    assert pairs(codes, 1).saturate is (codes.ndim == 1)

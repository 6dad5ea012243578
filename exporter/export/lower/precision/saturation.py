"""Saturation in 16 bits: which quantised weights an x86 CPU without VNNI multiplies wrongly, by arithmetic alone.

`pmaddubsw` (SSSE3 to AVX-512BW) multiplies unsigned 8-bit activations by signed 8-bit weights and adds the products in
pairs into 16 bits; what is beyond stays at the limit. VNNI adds in 32 bits. Which two products meet depends on the
kernel's layout (ONNX Runtime 1.31, oneDNN 3 and OpenVINO differ), but both belong to one output channel. So a channel
is safe in every kernel if its two largest weights of one sign, times the largest activation, fit into 16 bits.

Kernels for signed activations add 128 to them first, so these are unsigned for the arithmetic as well.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from exporter.base.tensors import Array

#: The largest and the smallest number of 16 bits.
HIGHEST, LOWEST = 2**15 - 1, -(2**15)
#: The largest unsigned activation, and the largest code of a weight.
ACTIVATION, WEIGHT = 255, 127


@dataclass(frozen=True)
class Pairs:
    """The sums of two products that the weights of one layer can reach.

    `highest` and `lowest` are the extremes over all output channels, `channels` counts those that leave 16 bits, of
    `total`.
    """

    highest: int
    lowest: int
    channels: int
    total: int

    @property
    def saturate(self) -> bool:
        """Whether some pair of products leaves 16 bits."""
        return self.channels > 0

    @property
    def worst(self) -> int:
        """The sum that is furthest outside, or nearest to the limit."""
        return self.highest if self.highest - HIGHEST >= LOWEST - self.lowest else self.lowest


def pairs(codes: Array, axis: int, most: int = ACTIVATION) -> Pairs:
    """The sums that any two products of an output channel can reach, with activations of 0 to `most`.

    `codes` are a layer's quantised weights, `axis` the one of its output channels.
    """
    rows = _rows(codes.astype(np.int64), axis)
    if not rows.size:
        return Pairs(0, 0, 0, 0)
    high, low = _two_largest(rows) * most, -_two_largest(-rows) * most
    return Pairs(int(high.max()), int(low.min()), int(_overflows(rows, most).sum()), len(rows))


def largest_activation(codes: Array, axis: int) -> int:
    """The largest unsigned activation, up to 255, that no pair of these weights can overflow with."""
    rows = _rows(codes.astype(np.int64), axis)
    if not rows.size:
        return ACTIVATION
    high, low = int(_two_largest(rows).max()), int(_two_largest(-rows).max())
    return min(ACTIVATION, HIGHEST // max(high, 1), -LOWEST // max(low, 1))


def safe_steps(weight: Array, axis: int) -> Array:
    """The step of each output channel with which its weights, rounded, cannot overflow; float32, one a channel.

    A step is the usual one (the largest weight over 127) where that is safe, and otherwise as fine as the two largest
    weights of one sign allow: 7 bits where both are equally large, all 8 where one of them is alone.
    """
    rows = _rows(weight.astype(np.float32), axis)
    if not rows.size:
        return np.ones(len(rows), np.float32)
    steps: Array = np.maximum(np.abs(rows).max(1) / np.float32(WEIGHT), np.finfo(np.float32).tiny)
    reach = np.maximum(_two_largest(rows), _two_largest(-rows))
    for room in (HIGHEST // ACTIVATION, HIGHEST // ACTIVATION - 1):  # the second holds however the two are rounded
        codes = np.rint(rows / steps[:, None])  # as the quantizers round: in float32, to the nearest
        steps = np.where(_overflows(codes, ACTIVATION), np.maximum(steps, reach / np.float32(room)), steps)
    return steps


def cut_off(taken: Array, codes: Array, axis: int) -> tuple[float, float]:
    """The energies of a layer's sums, and of what 16 bits cut off them: for blame, on a sample of what it takes.

    `taken` are unsigned codes as the layer gets them: an image [batch, channels, …], or features in the last dimension.
    Neighbours among the input channels meet in a pair, and where there is one channel those of the window, as in the
    kernels that were measured; strides, dilations and padding are left out.
    """
    weight = np.moveaxis(codes, axis, 0).astype(np.int64)
    window = weight.shape[2:]
    if math.prod(window) == 1 and taken.shape[-1] == weight.shape[1]:  # a linear layer
        places = [_sample(taken.reshape(-1, weight.shape[1]))]
    elif taken.ndim != weight.ndim:
        return 0.0, 0.0  # no image of these dimensions
    else:
        own = np.split(taken, max(1, taken.shape[1] // weight.shape[1]), axis=1)
        places = [_sample(_windows(image, window)) for image in own]
    rows = np.moveaxis(weight, 1, -1).reshape(len(weight), -1)
    signal = noise = 0.0
    for columns, outputs in zip(places, np.array_split(rows, len(places)), strict=True):
        for row in outputs:
            products = np.pad(columns * row, ((0, 0), (0, len(row) % 2)))
            summed = products[:, ::2] + products[:, 1::2]
            lost = (np.clip(summed, LOWEST, HIGHEST) - summed).sum(1)
            signal, noise = signal + float(np.square(summed.sum(1)).sum()), noise + float(np.square(lost).sum())
    return signal, noise


def _windows(image: Array, window: tuple[int, ...]) -> Array:
    """Every place of a window in an image, as a row of window × channels; an image that is too small is padded."""
    short = [max(0, size - have) for size, have in zip(window, image.shape[2:], strict=True)]
    padded = np.pad(image, [(0, 0), (0, 0), *((0, lack) for lack in short)])
    views = np.lib.stride_tricks.sliding_window_view(padded, window, axis=tuple(range(2, padded.ndim)))
    rows: Array = np.moveaxis(views, 1, -1)
    return rows.reshape(-1, math.prod(window) * image.shape[1])


def _sample(places: Array) -> Array:
    """At most 64 of them, evenly spread."""
    sample: Array = places[:: max(1, len(places) // 64)][:64].astype(np.int64)
    return sample


def _overflows(rows: Array, most: int) -> Array:
    """For each output channel whether some pair leaves 16 bits."""
    high, low = _two_largest(rows) * most, -_two_largest(-rows) * most
    beyond: Array = (high > HIGHEST) | (low < LOWEST)
    return beyond


def _rows(weight: Array, axis: int) -> Array:
    """The weights as [output channel, the rest]."""
    if not -weight.ndim <= axis < weight.ndim:  # no layer of ours; any two of its weights may meet
        return weight.reshape(1, -1)
    moved = np.moveaxis(weight, axis, 0)
    return moved.reshape(len(moved), -1) if weight.size else np.zeros((len(moved), 0))


def _two_largest(rows: Array) -> Array:
    """The sum of each row's two largest positive numbers."""
    positive = np.maximum(rows, 0)
    if positive.shape[1] > 2:  # the two largest
        positive = np.partition(positive, -2, axis=1)[:, -2:]
    largest: Array = positive.sum(1)
    return largest

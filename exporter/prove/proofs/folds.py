"""Compute again what a writer folded into a weight, so that it is proven by content as well.

A convolution or a linear layer that only a batch norm follows is stored with `weight · scale / √(variance + ε)`, and a
bias `shift − mean · scale / √(variance + ε)`, to which the layer's own bias is added. The writer names what went in
(`details.folded`), not which tensor stands for what, nor ε; both are found by trial: a wrong guess gives other numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from functools import partial
from itertools import product

import numpy as np

from exporter.base.numbers.norms import SMALLEST_SCALE
from exporter.base.tensors import Array

#: A few roundings of float32, in whichever order the writer multiplies.
_NEAR = 2.0**-20
#: Near float32's denormals a rounding is no share of a number: channels that a training has silenced lie there.
_DENORMAL = 2.0**-148
#: Batch norms use 1e-5 or 1e-3; what is larger than this would hide another variance.
_LARGEST_EPSILON = 1e-1
_USUAL = (1e-5, 1e-3)
#: A single batch norm has four vectors, and fewer where some are equal; with more tensors it is not tried.
_MOST = 4


class Fold(Enum):
    """What a folded tensor was found to be."""

    PROVEN = "computed again from trained tensors"
    WRONG = "not what its parts give"
    UNKNOWN = "not a fold that is known here, or a part is not at hand"


def judge_folds(
    stored: Mapping[str, Array], parts: Mapping[str, Sequence[str]], trained: Mapping[str, Array]
) -> dict[str, Fold]:
    """Judge each folded tensor; `parts` are the digests of what went into it, `trained` the tensors by digest.

    A weight that is a trained one times some channels' factor is known; a bias is either proven, or not known.
    """
    judged, epsilons = dict.fromkeys(parts, Fold.UNKNOWN), set(_USUAL)
    whole = {name: digests for name, digests in parts.items() if all(content in trained for content in digests)}
    for name, digests in whole.items():
        given = [trained[content] for content in digests]
        weights = [part for part in given if part.ndim > 1 and part.size == stored[name].size]
        # A vector may be at hand in another shape: that of one channel as a scalar, which digests do not tell apart.
        vectors = [part.astype("float64").ravel() for part in given if part.ndim < 2 or part.size != stored[name].size]
        if stored[name].ndim > 1 and len(weights) == 1 and 1 < len(vectors) <= _MOST:
            epsilon = _epsilon(stored[name], weights[0], vectors)
            judged[name] = Fold.WRONG if epsilon is None else Fold.PROVEN
            epsilons |= set() if epsilon is None else {epsilon}
    for name, digests in whole.items():
        vectors = [trained[content].astype("float64").ravel() for content in digests]
        if stored[name].ndim == 1 and len(vectors) <= _MOST + 1 and _is_bias(stored[name], vectors, epsilons):
            judged[name] = Fold.PROVEN
    return judged


def _epsilon(folded: Array, weight: Array, vectors: Sequence[Array]) -> float | None:
    """The ε with which the weight, times scale / √(variance + ε), is the folded one; None: with none."""
    for source, (channels, by_channel) in product(_arranged(weight, folded.shape), _channels(folded.shape, vectors)):
        was, now = by_channel(source), by_channel(folded)
        largest = np.abs(was).argmax(1)[:, None]
        base, top = (np.take_along_axis(value, largest, 1)[:, 0].astype("float64") for value in (was, now))
        factor = np.divide(top, base, out=np.zeros(channels), where=base != 0)
        if not _near(was * factor[:, None].astype(was.dtype), now, np.abs(now)):
            continue
        own, live = [vector for vector in vectors if vector.size == channels], base != 0
        for scale, variance in product(own, own):
            for epsilon in _epsilons(scale, variance, np.where(np.abs(top) > SMALLEST_SCALE, factor, 0.0)):
                wanted = _factor(scale, variance, epsilon)[live] * base[live]
                if _near(wanted, top[live], np.abs(wanted)):
                    return epsilon
    return None


def _channels(shape: tuple[int, ...], vectors: Sequence[Array]) -> Iterator[tuple[int, Callable[[Array], Array]]]:
    """Yield how many output channels a weight may have, and what gives it as [channels, weights of a channel].

    They lie along an axis. A transposed convolution in groups stores [inputs, outputs of a group, ...], and its groups
    split the inputs: then its channels are those of all groups, one after the other.
    """
    for axis in range(len(shape)):
        yield shape[axis], partial(_along, axis)
    for size in sorted({vector.size for vector in vectors}):
        groups = size // shape[1]
        if groups and size % shape[1] == 0 and shape[0] % groups == 0:
            yield size, partial(_in_groups, groups)


def _along(axis: int, weight: Array) -> Array:
    rows: Array = np.moveaxis(weight, axis, 0)
    return rows.reshape(weight.shape[axis], -1)


def _in_groups(groups: int, weight: Array) -> Array:
    split = weight.reshape(groups, -1, *weight.shape[1:])
    rows: Array = np.moveaxis(split, 2, 1)
    return rows.reshape(groups * weight.shape[1], -1)


def _epsilons(scale: Array, variance: Array, factor: Array) -> Iterator[float]:
    """Yield what ε may be: the usual ones, and what the channel of the least variance says, where it counts most."""
    yield from _USUAL
    known = factor != 0
    if known.any():
        least = int(np.argmin(variance[known]))
        epsilon = float((scale[known][least] / factor[known][least]) ** 2 - variance[known][least])
        if -_NEAR * float(variance.max()) <= epsilon <= _LARGEST_EPSILON:
            yield max(epsilon, 0.0)


def _arranged(weight: Array, shape: tuple[int, ...]) -> Iterator[Array]:
    """A weight in the shape of the folded one: digests do not tell shapes apart, and the weight of a Gemm may turn."""
    yield weight.reshape(shape)
    if weight.ndim == 2 and weight.shape[::-1] == shape:
        yield weight.T


def _is_bias(folded: Array, vectors: Sequence[Array], epsilons: set[float]) -> bool:
    """Whether some of the vectors are a batch norm's (and a bias before or behind it), or two biases, that give it."""
    own = [vector for vector in vectors if vector.size == folded.size]
    if len(own) != len(vectors):
        return False
    now, none = folded.astype("float64"), np.zeros(folded.size)
    if any(_near(first + second, now, np.abs(first) + np.abs(second)) for first, second in product(own, own)):
        return True
    for scale, variance, epsilon in product(own, own, sorted(epsilons)):
        if not (variance + epsilon > 0).all():
            continue
        factor = _factor(scale, variance, epsilon)
        for shift, mean, bias in product(own, own, [none, *own]):
            for added in (bias * factor, bias):
                size = np.abs(shift) + np.abs(mean * factor) + np.abs(added)
                if _near(shift - mean * factor + added, now, size):
                    return True
    return False


def _factor(scale: Array, variance: Array, epsilon: float) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        factor: Array = scale / np.sqrt(variance + epsilon)
    return factor


def _near(one: Array, other: Array, size: Array) -> bool:
    return bool((np.abs(one - other) <= _NEAR * size + _DENORMAL).all())

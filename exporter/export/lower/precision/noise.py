"""How much of a signal is noise: the unit in which low precision is measured."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from exporter.base.numbers.norms import LOUDEST, decibel, energies
from exporter.base.tensors import Array, TensorMap


def share(pairs: Iterable[tuple[Array, Array]]) -> float:
    """The energy of the noise of pairs of (truth, got) taken together, as a share of the signal's; it may be endless.

    Where nothing is lost there is no noise, also in a signal of zeros.
    """
    signal = noise = 0.0
    for truth, got in pairs:
        more = energies(truth, got)
        signal, noise = signal + more[0], noise + more[1]
    return _share(signal, noise)


def _share(signal: float, noise: float) -> float:
    if noise == 0.0:
        return 0.0
    return noise / signal if signal and math.isfinite(noise) else math.inf


def likely_most(pairs: Iterable[tuple[Array, Array]]) -> float:
    """The share of noise that other pairs of this kind likely stay below: two standard errors above these pairs'.

    The error is the jackknife's over the pairs; a single one, or one that holds all of the signal, tells of none.
    """
    parts = [energies(truth, got) for truth, got in pairs]
    signal, noise = (math.fsum(part[side] for part in parts) for side in (0, 1))
    whole = _share(signal, noise)
    without = [_share(max(signal - own, 0.0), max(noise - lost, 0.0)) for own, lost in parts]
    if len(parts) == 1 or not all(map(math.isfinite, (whole, *without))):
        return whole
    mean = math.fsum(without) / len(parts)
    variance = math.fsum((part - mean) ** 2 for part in without) * (len(parts) - 1) / len(parts)
    return whole + 2 * math.sqrt(variance)


def ratio_db(noise: float) -> float:
    """The signal-to-noise ratio of a share of noise, in dB; the least there is of endless noise."""
    return max(-LOUDEST, decibel(1.0, noise)) if math.isfinite(noise) else -LOUDEST


def snr_db(pairs: Iterable[tuple[Array, Array]]) -> float:
    """The signal-to-noise ratio of pairs of (truth, got) taken together, in dB."""
    return ratio_db(share(pairs))


def shares(
    truth: Sequence[TensorMap],
    got: Sequence[TensorMap],
    of: Callable[[Iterable[tuple[Array, Array]]], float] = share,
) -> dict[str, float]:
    """The share of noise in each output over all calls; of whole numbers only where there are no others."""
    names = list(truth[0])
    floats = [name for name in names if truth[0][name].dtype.kind == "f"]
    pairs = list(zip(truth, got, strict=True))
    return {name: of((true[name], other[name]) for true, other in pairs) for name in floats or names}


def worst_snr_db(truth: Sequence[TensorMap], got: Sequence[TensorMap]) -> float:
    """The signal-to-noise ratio of the worst output over all calls, in dB, as the verdict judges each by itself."""
    return min(map(ratio_db, shares(truth, got).values()))

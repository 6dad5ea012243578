"""How much of a signal is noise: the unit in which low precision is measured."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from exporter.base.numbers.norms import LOUDEST, decibel, energies
from exporter.base.tensors import Array, TensorMap


def snr_db(pairs: Iterable[tuple[Array, Array]]) -> float:
    """The signal-to-noise ratio of pairs of (truth, got) taken together, in dB; the least there is of endless noise."""
    signal = noise = 0.0
    for truth, got in pairs:
        more = energies(truth, got)
        signal, noise = signal + more[0], noise + more[1]
    return decibel(signal, noise) if math.isfinite(noise) else -LOUDEST


def worst_snr_db(truth: Sequence[TensorMap], got: Sequence[TensorMap]) -> float:
    """The signal-to-noise ratio of the worst output over all calls, in dB, as the verdict judges each by itself.

    Outputs of whole numbers count only where there are no others.
    """
    names = list(truth[0])
    floats = [name for name in names if truth[0][name].dtype.kind == "f"]
    pairs = list(zip(truth, got, strict=True))
    return min(snr_db((true[name], other[name]) for true, other in pairs) for name in floats or names)

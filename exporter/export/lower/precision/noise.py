"""How much of a signal is noise: the unit in which low precision is measured."""

from __future__ import annotations

from collections.abc import Iterable

from exporter.base.numbers.norms import decibel, energies
from exporter.base.tensors import Array


def snr_db(pairs: Iterable[tuple[Array, Array]]) -> float:
    """The signal-to-noise ratio of pairs of (truth, got) taken together, in dB."""
    signal = noise = 0.0
    for truth, got in pairs:
        more = energies(truth, got)
        signal, noise = signal + more[0], noise + more[1]
    return decibel(signal, noise)

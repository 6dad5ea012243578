"""How near an answer is to what it should be, on one scale for numbers and labels.

It names causes, and judges nothing: a verdict comes from the rule alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from exporter.base.numbers.norms import LOUDEST, decibel, energies
from exporter.base.tensors import Array

#: An undone fault leaves at most the noise of float16 or int8: 30 dB is an error of 3 %, and of labels 19 of 20 agree.
NEAR, NEAR_LABELS = 30.0, 13.0
#: So much nearer has the undone answer to be than the answer itself.
GAIN, GAIN_LABELS = 10.0, 6.0


@dataclass(frozen=True)
class Explained:
    """A cause of one wrong answer. `name` is one of the words of docs/elsewhere.md; `score` says how well it fits."""

    name: str
    sentence: str
    score: float


def score(truth: Array, candidate: Array) -> float:
    """The signal-to-noise ratio in dB, of whole numbers the share of wrong ones in dB; -inf where shapes differ."""
    if truth.shape != candidate.shape or candidate.size == 0 or candidate.dtype.kind not in "biuf":
        return -math.inf
    if truth.dtype.kind != "f":
        wrong = float(np.mean(truth != candidate))
        return LOUDEST if wrong == 0 else -10 * math.log10(wrong)
    with np.errstate(over="ignore", invalid="ignore"):
        ratio = decibel(*energies(truth, candidate))
    return -math.inf if math.isnan(ratio) else ratio


def explains(truth: Array, undone: Array, before: float) -> float | None:
    """The score of an answer in which a cause was undone, where it explains it; `before` is its own score."""
    now = score(truth, undone)
    exact = truth.dtype.kind != "f"
    enough, gain = (NEAR_LABELS, GAIN_LABELS) if exact else (NEAR, GAIN)
    return now if now >= enough and now - max(before, -LOUDEST) >= gain else None

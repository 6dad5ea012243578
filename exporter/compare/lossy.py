"""Judge what an engine computes in low precision, case by case: whole, finite, and nearer the truth than any impostor.

How near it has to be is a budget over all cases (:mod:`exporter.proofs.snr_db`, `top1`), which weighs the
energies that are kept here. A case that probes (all zero, sixteen times as large) lies outside what a calibration has
seen: it has to be computed, and proves nothing more.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from exporter.compare.controls import impostors
from exporter.compare.golden import AGAIN, GoldenCase, GoldenOutput
from exporter.compare.outputs import METRICS, incomparable, unnamed
from exporter.lower.precision._noise import decibel, energies
from exporter.tensors import Array, TensorMap
from exporter.verdict.claim import Evidence, Outcome


def promised(case: str) -> bool:
    """Whether the spec promises this case: it does not probe, and is not run a second time."""
    return ":" not in case


def compare_lossy(case: GoldenCase, got: TensorMap, others: Mapping[str, list[GoldenOutput]]) -> dict[str, Evidence]:
    """Judge all outputs of one case; `others` holds, for each output, its goldens in all cases."""
    judged = unnamed(case, got)
    probing = not promised(case.name.removesuffix(AGAIN))
    for name, expected in case.outputs.items():
        if name not in judged:
            judged[name] = _compare(expected, got[name], others[name], probing)
    return judged


def _compare(expected: GoldenOutput, got: Array, all_cases: list[GoldenOutput], probing: bool) -> Evidence:
    if unfit := incomparable(expected, got):
        return unfit
    candidate = got if expected.index is None else got.ravel()[expected.index]
    metrics = {name: metric(expected.eager, candidate) for name, metric in METRICS.all()}
    if expected.exact:
        metrics |= {"rows": float(candidate.size), "agree": float(np.sum(candidate == expected.eager))}
        return Evidence(Outcome.MATCH, elements=got.size, metrics=metrics)
    signal, noise = energies(expected.truth, candidate)
    metrics |= {"signal": signal, "noise": noise, "snr_db": decibel(signal, noise)}
    if expected.index is None and got.ndim > 1 and got.shape[-1] > 1:
        rows, same = got.size // got.shape[-1], candidate.argmax(-1) == expected.eager.argmax(-1)
        metrics |= {"rows": float(rows), "agree": float(np.sum(same))}
    stranger = next((one.truth for one in all_cases if one.seed != expected.seed and _other(one, expected)), None)
    nearest = min(
        ((name, energies(expected.truth, one)[1]) for name, one in impostors(expected.truth, stranger, False)),
        key=lambda one: one[1],
    )
    if not probing and not noise < nearest[1]:  # so that NaN fails
        reason = f"{metrics['snr_db']:.1f} dB: no nearer to the truth than {nearest[0]}"
        return Evidence(Outcome.MISMATCH, reason, elements=got.size, metrics=metrics)
    return Evidence(Outcome.MATCH, elements=got.size, metrics=metrics)


def _other(one: GoldenOutput, expected: GoldenOutput) -> bool:
    """Not the very same values, cut to fit: two cases may have drawn one sample."""
    return one.truth.size > 0 and not np.array_equal(np.resize(one.truth, expected.truth.shape), expected.truth)

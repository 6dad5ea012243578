"""The budgets of low precision: promises over all cases, each a claim that is planned before anything runs.

For each variant that is not fp32: its size beside fp32's; for each engine that runs it, the signal-to-noise ratio of
each float output against float64, the share of equal answers, the task's metric on the held-out samples, and the speed.
A budget that an impostor would keep as well (zeros, the mean, one row for all) proves nothing and is VACUOUS.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from exporter.compare.golden import GoldenOutput
from exporter.compare.lossy import promised
from exporter.harness import Bench
from exporter.lower.base import Artifact
from exporter.lower.precision._noise import decibel, energies
from exporter.numbers.intervals import wilson
from exporter.verdict.claim import Claim, Evidence, Outcome
from exporter.verdict.plan import Run

#: The share of whole numbers that must be equal where the budget says nothing: rounding moves some near ties.
AGREEMENT = 0.9


@dataclass(frozen=True)
class Promise:
    """One budget of one run: what is measured (`snr_db`, `top1`, `metric`, `speed`), of which output, and a bound."""

    run: Run
    kind: str
    output: str
    wanted: float

    @property
    def claim(self) -> Claim:
        """The claim that the budget is kept."""
        return Claim(self.run.format, self.run.precision, self.run.engine, output=self.output, kind=self.kind)


def prove_size(artifact: Artifact, plain: Artifact, folder: Path, wanted: float | None) -> Evidence:
    """Compare the bytes of a variant's files with those of fp32's; `wanted` is the largest share that is promised."""
    sizes = [sum((folder / name).stat().st_size for name in one.files) for one in (artifact, plain)]
    share = sizes[0] / sizes[1]
    said = f"{sizes[0]:,} bytes are {share:.3f} of fp32's {sizes[1]:,}"
    metrics = {"share": share}
    if wanted is not None and not share <= wanted:
        reason = f"{said}, and at most {wanted:g} was promised"
        return Evidence(Outcome.MISMATCH, reason, elements=sizes[0], metrics=metrics)
    return Evidence(Outcome.MATCH, said, elements=sizes[0], metrics=metrics, provider="by reading")


def prove_cases(promise: Promise, bench: Bench, evidence: Mapping[Claim, Evidence]) -> Evidence:
    """Weigh `snr_db` or `top1` over all promised cases."""
    run = promise.run
    seen = {
        case.name: evidence.get(Claim(run.format, run.precision, run.engine, case.name, promise.output))
        for case in bench.cases
        if promised(case.name)
    }
    for name, one in seen.items():
        if one is None or ("signal" not in one.metrics and "rows" not in one.metrics):
            fate = one or Evidence(Outcome.MISSING, "no evidence came")
            return Evidence(fate.outcome, f"case {name}: {fate.reason}", stage=fate.stage)
    found = [one for one in seen.values() if one is not None]
    return _snr(promise, bench, found) if promise.kind == "snr_db" else _agreement(promise, bench, found)


def _snr(promise: Promise, bench: Bench, found: Sequence[Evidence]) -> Evidence:
    elements = sum(one.elements for one in found)
    value = decibel(sum(one.metrics["signal"] for one in found), sum(one.metrics["noise"] for one in found))
    metrics, said = {"snr_db": value}, f"{value:.1f} dB, at least {promise.wanted:g} promised"
    if not value >= promise.wanted:  # so that NaN fails
        return Evidence(Outcome.MISMATCH, said, elements=elements, metrics=metrics)
    goldens = [case.outputs[promise.output] for case in bench.cases if promised(case.name)]
    for name, impostor in _constants(goldens):
        if impostor >= promise.wanted:
            reason = f"{said}; but {name} would have {impostor:.1f} dB"
            return Evidence(Outcome.VACUOUS, reason, elements=elements, metrics=metrics)
    return Evidence(Outcome.MATCH, said, elements=elements, metrics=metrics)


def _constants(goldens: Sequence[GoldenOutput]) -> Iterator[tuple[str, float]]:
    """What outputs that do not depend on the input would reach: the mean, and the mean row for every row."""
    truths = [one.truth for one in goldens]
    mean = np.concatenate([one.ravel() for one in truths]).mean()
    yield "the mean", _together(truths, mean)
    rowed = all(one.index is None and one.truth.ndim > 1 for one in goldens)
    if rowed and len({one.truth.shape[1:] for one in goldens}) == 1 and sum(len(one) for one in truths) > 1:
        yield "one row for all", _together(truths, np.concatenate(truths).mean(0))


def _together(truths: Sequence[Any], constant: Any) -> float:
    pairs = [energies(truth, np.broadcast_to(constant, truth.shape)) for truth in truths]
    return decibel(sum(signal for signal, _ in pairs), sum(noise for _, noise in pairs))


def _agreement(promise: Promise, bench: Bench, found: Sequence[Evidence]) -> Evidence:
    if any("rows" not in one.metrics for one in found):
        return Evidence(Outcome.INCONCLUSIVE, "the output holds no rows of scores, or only a sample was recorded")
    rows, agree = (int(sum(one.metrics[key] for one in found)) for key in ("rows", "agree"))
    low, high = wilson(agree, rows)
    said = f"{agree} of {rows} agree (95 % interval {low:.3f} to {high:.3f}), at least {promise.wanted:g} promised"
    metrics = {"top1": agree / rows, "low": low, "high": high}
    if not agree / rows >= promise.wanted:
        return Evidence(Outcome.MISMATCH, said, elements=rows, metrics=metrics)
    for name, share in _answers([case.outputs[promise.output] for case in bench.cases if promised(case.name)]):
        if share >= promise.wanted:
            reason = f"{said}; but {name} would agree in {share:.3f}"
            return Evidence(Outcome.VACUOUS, reason, elements=rows, metrics=metrics)
    return Evidence(Outcome.MATCH, said, elements=rows, metrics=metrics)


def _answers(goldens: Sequence[GoldenOutput]) -> Iterator[tuple[str, float]]:
    """The share of rows in which answers that do not depend on the input agree: the commonest for all, and shuffled."""
    labels = np.concatenate([(one.eager if one.exact else one.eager.argmax(-1)).ravel() for one in goldens])
    if labels.size < 2:
        return
    yield "the commonest answer for every row", float(np.unique(labels, return_counts=True)[1].max()) / labels.size
    yield "the answers shuffled", float(np.mean(np.random.default_rng(0).permutation(labels) == labels))

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

from exporter.lower.base import Artifact
from exporter.lower.precision._noise import decibel, energies
from exporter.parity.golden import GoldenOutput
from exporter.parity.intervals import wilson
from exporter.parity.lossy import promised
from exporter.parity.plan import Run
from exporter.parity.run import Bench
from exporter.parity.verdict import Claim, Evidence, Outcome
from exporter.spec.model import Budget

#: What stands in the place of a case in these claims, since they are over all.
CASE = "budget"
#: What stands in the place of an engine, a case and an output in the claim on the size.
SIZE, STORED, BYTES = "size", "stored", "bytes"
#: The share of whole numbers that must be equal where the budget says nothing: rounding moves some near ties.
AGREEMENT = 0.9


@dataclass(frozen=True)
class Promise:
    """One budget of one run: what is measured (`snr_db`, `top1`, `metric`, `speedup`), of which output, and a bound."""

    run: Run
    kind: str
    output: str
    wanted: float

    @property
    def claim(self) -> Claim:
        """The claim that the budget is kept."""
        name = f"{self.kind}:{self.output}" if self.output else self.kind
        return Claim(self.run.format, self.run.precision, self.run.engine, CASE, name)


def budget_of(artifact: Artifact) -> Budget:
    """What a variant is judged by, as it was settled when the variant was written."""
    return Budget.model_validate(artifact.details["budget"])


def size_claim(artifact: Artifact) -> Claim:
    """The claim that a variant is as small as promised."""
    return Claim(artifact.format, artifact.precision, SIZE, STORED, BYTES)


def promises(bench: Bench, runs: Sequence[Run], *, with_metric: bool) -> list[Promise]:
    """The budgets of all runs in low precision; the metric only where the recipe is at hand."""
    found = []
    for run in runs:
        if run.precision == "fp32":
            continue
        budget = budget_of(bench.artifacts[run.variant])
        for output in bench.outputs:
            exact = bench.cases[0].outputs[output].exact
            if budget.min_snr_db is not None and not exact:
                found.append(Promise(run, "snr_db", output, budget.min_snr_db))
            if budget.min_top1 is not None or exact:
                found.append(Promise(run, "top1", output, budget.min_top1 or AGREEMENT))
        if budget.max_metric_loss is not None and with_metric:
            found.append(Promise(run, "metric", "", budget.max_metric_loss))
        if budget.min_speedup is not None and budget.min_speedup.engine == run.engine:
            found.append(Promise(run, "speedup", "", budget.min_speedup.ratio))
    return found


def prove_size(artifact: Artifact, plain: Artifact, folder: Path) -> Evidence:
    """Compare the bytes of a variant's files with those of fp32's."""
    sizes = [sum((folder / name).stat().st_size for name in one.files) for one in (artifact, plain)]
    share, wanted = sizes[0] / sizes[1], budget_of(artifact).max_size
    said = f"{sizes[0]:,} bytes are {share:.3f} of fp32's {sizes[1]:,}"
    metrics = {"share": share}
    if wanted is not None and not share <= wanted:
        reason = f"{said}, and at most {wanted:g} was promised"
        return Evidence(Outcome.MISMATCH, reason, elements=sizes[0], metrics=metrics)
    return Evidence(Outcome.MATCH, said, elements=sizes[0], metrics=metrics, provider="by reading")


def prove_cases(promise: Promise, bench: Bench, evidence: Mapping[Claim, Evidence], worst: str) -> Evidence:
    """Weigh `snr_db` or `top1` over all promised cases; `worst` names the layer that suffers most, if that is known."""
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
    judged = _snr(promise, bench, found) if promise.kind == "snr_db" else _agreement(promise, found)
    if judged.outcome is Outcome.MISMATCH and worst:
        return Evidence(judged.outcome, f"{judged.reason}; {worst}", elements=judged.elements, metrics=judged.metrics)
    return judged


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


def _agreement(promise: Promise, found: Sequence[Evidence]) -> Evidence:
    if any("rows" not in one.metrics for one in found):
        return Evidence(Outcome.INCONCLUSIVE, "the output holds no rows of scores, or only a sample was recorded")
    rows, agree = (int(sum(one.metrics[key] for one in found)) for key in ("rows", "agree"))
    low, high = wilson(agree, rows)
    said = f"{agree} of {rows} agree (95 % interval {low:.3f} to {high:.3f}), at least {promise.wanted:g} promised"
    metrics = {"top1": agree / rows, "low": low, "high": high}
    outcome = Outcome.MATCH if agree / rows >= promise.wanted else Outcome.MISMATCH
    return Evidence(outcome, said, elements=rows, metrics=metrics)

"""The budget of low precision on noise: the signal-to-noise ratio against float64, all promised cases together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from exporter.compare.golden import GoldenOutput
from exporter.lower.precision._noise import decibel, energies
from exporter.proofs._promises import Cases, is_exact, lower, lower_runs, measured, per_output, promises, weighed
from exporter.proofs.base import Harness, Proof, per_run
from exporter.proofs.quantisation.noise import searched
from exporter.spec.model import Spec
from exporter.verdict.claim import OUTPUTS, Claim, Evidence, Outcome
from exporter.verdict.plan import Run

_NO_FLOATS = Evidence(Outcome.MISSING, "a ratio is promised, and the model has no output of floats", stage="plan")


class SignalToNoise(Proof):
    """One claim for each run in low precision and each float output; one that is MISSING where none is a float.

    The latter only where the spec itself promises a ratio: a default of the precision then has nothing to bound.
    """

    kind = "snr_db"
    promise = True
    after = (OUTPUTS,)

    def plan(self, harness: Harness) -> frozenset[Claim]:
        if all(is_exact(output.dtype) for output in harness.subject.outputs):
            return per_run(self.kind, [run for run in lower_runs(harness) if _said(run, harness.spec)])
        return per_output(self.kind, harness, lambda budget, exact: None if exact else budget.min_snr_db)

    def prove(self, claims: Sequence[Claim], harness: Harness) -> Mapping[Claim, Evidence]:
        proven = {claim: _NO_FLOATS for claim in claims if not claim.output}
        for promise in promises(
            (claim for claim in claims if claim.output), harness, lambda budget, _: budget.min_snr_db
        ):
            cases = measured(promise, harness.bench.cases, harness.evidence)
            evidence = cases if isinstance(cases, Evidence) else prove_snr(cases, promise.wanted)
            artifact = harness.artifact(promise.claim)
            if evidence.outcome is Outcome.MISMATCH and (worst := harness.suffering(artifact)[1]):
                evidence = replace(evidence, reason=f"{evidence.reason}; {worst}")
            proven[promise.claim] = evidence
        return proven

    def notes(self, harness: Harness) -> Sequence[str]:
        notes = []
        names = [f"{format}-{precision}" for format, precision in lower(harness.variants)]
        for artifact in (harness.subject.artifacts[name] for name in names if name in harness.subject.artifacts):
            notes += [*searched(artifact), *harness.suffering(artifact)[0]]
        return notes


def _said(run: Run, spec: Spec) -> bool:
    return spec.precisions[run.precision].budget.min_snr_db is not None


def prove_snr(cases: Cases, wanted: float) -> Evidence:
    """Compare the ratio with the promised one, in dB."""
    value = decibel(cases.sum("signal"), cases.sum("noise"))
    broken = Evidence(
        Outcome.MISMATCH,
        f"{value:.1f} dB, at least {wanted:g} promised",
        elements=sum(case.elements for case in cases.evidence),
        metrics={"snr_db": value},
    )
    impostors = ((f"{name} would have {ratio:.1f} dB", ratio >= wanted) for name, ratio in constants(cases.goldens))
    return weighed(value >= wanted, broken, impostors)


def constants(goldens: Sequence[GoldenOutput]) -> Iterator[tuple[str, float]]:
    """What outputs that do not depend on the input would reach: the mean, and the mean row for every row."""
    truths = [golden.truth for golden in goldens]
    mean = np.concatenate([truth.ravel() for truth in truths]).mean()
    yield "the mean", _together(truths, mean)
    rowed = all(golden.index is None and golden.truth.ndim > 1 for golden in goldens)
    if rowed and len({truth.shape[1:] for truth in truths}) == 1 and sum(len(truth) for truth in truths) > 1:
        yield "one row for all", _together(truths, np.concatenate(truths).mean(0))


def _together(truths: Sequence[Any], constant: Any) -> float:
    pairs = [energies(truth, np.broadcast_to(constant, truth.shape)) for truth in truths]
    return decibel(sum(signal for signal, _ in pairs), sum(noise for _, noise in pairs))


plugin: Proof = SignalToNoise()

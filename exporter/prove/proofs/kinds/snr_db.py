"""The budget of low precision on noise: the signal-to-noise ratio against float64, all promised cases together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from exporter.base.numbers.rule import promised_of
from exporter.prove.proofs.base import Harness, Proof, per_run
from exporter.prove.proofs.promises import is_exact, lower, lower_runs, over_cases, per_output, promises
from exporter.prove.proofs.quantisation.noise import searched
from exporter.prove.verdict.claim import OUTPUTS, Claim, Evidence, Outcome
from exporter.prove.verdict.plan import Run
from exporter.spec.model import Budget, Spec

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
        return per_output(self.kind, harness, _ratio)

    def prove(self, claims: Sequence[Claim], harness: Harness) -> Mapping[Claim, Evidence]:
        proven = {claim: _NO_FLOATS for claim in claims if not claim.output}
        for promise in promises(
            (claim for claim in claims if claim.output), harness, lambda budget, _: budget.min_snr_db
        ):
            evidence = over_cases(promise, harness.bench.cases, harness.evidence)
            if evidence.outcome is Outcome.MISMATCH:
                source = harness.source_of_noise(harness.artifact(promise.claim), promise.claim.output)
                evidence = replace(evidence, reason="; ".join(filter(None, (evidence.reason, source))))
            proven[promise.claim] = evidence
        return proven

    def notes(self, harness: Harness) -> Sequence[str]:
        notes = []
        names = [f"{format}-{precision}" for format, precision in lower(harness.variants)]
        for artifact in (harness.subject.artifacts[name] for name in names if name in harness.subject.artifacts):
            notes += [*searched(artifact), *harness.suffering(artifact).notes]
        return notes


def _said(run: Run, spec: Spec) -> bool:
    return spec.precisions[run.precision].budget.min_snr_db is not None


def _ratio(budget: Budget, exact: bool) -> float | None:
    return promised_of(exact, budget.min_snr_db, None).get("snr_db")


plugin: Proof = SignalToNoise()

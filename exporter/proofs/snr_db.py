"""The budget of low precision on noise: the signal-to-noise ratio against float64, all promised cases together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exporter.proofs._promises import lower, per_output, promises
from exporter.proofs.base import Harness, Proof
from exporter.proofs.quantisation.budgets import prove_cases
from exporter.proofs.quantisation.suffering import searched
from exporter.verdict.claim import OUTPUTS, Claim, Evidence, Outcome


class SignalToNoise(Proof):
    """One claim for each run in low precision and each float output."""

    kind = "snr_db"
    promise = True
    after = (OUTPUTS,)

    def plan(self, harness: Harness) -> frozenset[Claim]:
        return per_output(self.kind, harness, lambda budget, exact: None if exact else budget.min_snr_db)

    def prove(
        self, claims: Sequence[Claim], harness: Harness, evidence: Mapping[Claim, Evidence]
    ) -> Mapping[Claim, Evidence]:
        found = {}
        for promise in promises(claims, harness, lambda budget, _: budget.min_snr_db):
            proven = prove_cases(promise, harness.bench, evidence)
            artifact = harness.artifact(promise.claim)
            if proven.outcome is Outcome.MISMATCH and (worst := harness.suffering(artifact)[1]):
                said = f"{proven.reason}; {worst}"
                proven = Evidence(proven.outcome, said, elements=proven.elements, metrics=proven.metrics)
            found[promise.claim] = proven
        return found

    def notes(self, harness: Harness, evidence: Mapping[Claim, Evidence]) -> Sequence[str]:
        del evidence
        said = []
        names = [f"{format}-{precision}" for format, precision in lower(harness.variants)]
        for artifact in (harness.subject.artifacts[name] for name in names if name in harness.subject.artifacts):
            said += [*searched(artifact), *harness.suffering(artifact)[0]]
        return said


plugin: Proof = SignalToNoise()

"""The budget of low precision on speed: a variant and fp32 take turns, and the ratio of medians is the promised one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exporter.proofs._alike import on_the_like
from exporter.proofs._promises import lower_runs, nothing_to_measure_by
from exporter.proofs._speed import prove_speed
from exporter.proofs.base import Harness, Proof, per_run
from exporter.proofs.quantisation.budgets import Promise
from exporter.verdict.claim import Claim, Evidence


class Speed(Proof):
    """One claim for each variant of low precision and the engine that its budget names."""

    kind = "speed"
    promise = True

    def plan(self, harness: Harness) -> frozenset[Claim]:
        wishes = [(run, harness.promised(run.precision).min_speedup) for run in lower_runs(harness)]
        return per_run(self.kind, [run for run, wish in wishes if wish is not None and wish.engine == run.engine])

    def prove(
        self, claims: Sequence[Claim], harness: Harness, evidence: Mapping[Claim, Evidence]
    ) -> Mapping[Claim, Evidence]:
        del evidence
        found = {}
        for claim in claims:
            wish = harness.promised(claim.precision).min_speedup
            if wish is None:
                continue
            if claim.format not in harness.subject.artifacts:
                found[claim] = nothing_to_measure_by(claim)
                continue
            promise = Promise(harness.run_of(claim), self.kind, "", wish.ratio)
            speed = prove_speed(promise, wish, harness.bench, harness.setting)
            found[claim] = on_the_like(speed, harness.subject.released_on)
        return found


plugin: Proof = Speed()

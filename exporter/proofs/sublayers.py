"""The proof from inside: where an output is further off than eager itself, no sublayer is off by more than rounding.

It needs the source. Where that is at hand it is planned for every run of a file in full precision, whatever becomes of
single claims, and a look that fails is told.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exporter.proofs._sublayers import NOT_COMPARED, Look
from exporter.proofs.base import Harness, Proof, per_run
from exporter.verdict.claim import OUTPUTS, Claim, Evidence


class Sublayers(Proof):
    """One claim for each run of a file in full precision."""

    kind = "sublayers"
    after = (OUTPUTS,)

    def plan(self, harness: Harness) -> frozenset[Claim]:
        files = [run for run in harness.runs if run.format != "source" and run.precision == "fp32"]
        return per_run(self.kind, files) if not harness.subject.no_source else frozenset()

    def prove(
        self, claims: Sequence[Claim], harness: Harness, evidence: Mapping[Claim, Evidence]
    ) -> Mapping[Claim, Evidence]:
        runs = {harness.run_of(claim): claim for claim in claims}
        seen = Look(harness.bench, harness.setting, evidence).into(list(runs))
        return {runs[run]: found for run, found in seen.items()}

    def notes(self, harness: Harness, evidence: Mapping[Claim, Evidence]) -> Sequence[str]:
        del harness
        own = [(claim, found.reason) for claim, found in sorted(evidence.items()) if claim.kind == self.kind]
        return [f"{claim}: {reason}" for claim, reason in own if reason.startswith(NOT_COMPARED)]


plugin: Proof = Sublayers()

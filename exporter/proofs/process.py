"""The proof that an engine's process did what it was asked: every session came up as asked, and it ended in order.

Results alone do not show it: a process may leave them all and die in its last step, and what it computed with then is
not on record.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exporter.proofs.base import Harness, Proof, from_runs, per_run
from exporter.verdict.claim import Claim, Evidence


class Process(Proof):
    """One claim for each run."""

    kind = "process"

    def plan(self, harness: Harness) -> frozenset[Claim]:
        return per_run(self.kind, harness.runs)

    def prove(
        self, claims: Sequence[Claim], harness: Harness, evidence: Mapping[Claim, Evidence]
    ) -> Mapping[Claim, Evidence]:
        del evidence
        return from_runs(claims, harness)


plugin: Proof = Process()

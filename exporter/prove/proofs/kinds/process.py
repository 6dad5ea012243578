"""The proof that an engine's process did what it was asked: every session came up as asked, and it ended in order.

Results alone do not show it: a process may leave them all and die in its last step, and what it computed with then is
not on record.
"""

from __future__ import annotations

from exporter.prove.proofs.base import ByRun, Harness, Proof, per_run
from exporter.prove.verdict.claim import Claim


class Process(ByRun):
    """One claim for each run."""

    kind = "process"

    def plan(self, harness: Harness) -> frozenset[Claim]:
        return per_run(self.kind, harness.runs)


plugin: Proof = Process()

"""The proof over all cases at once: errors in one direction add up, rounding does not (base/numbers/pooled.py)."""

from __future__ import annotations

from exporter.prove.proofs.base import ByRun, Harness, Proof
from exporter.prove.verdict.claim import Claim


class PooledBias(ByRun):
    """One claim for each run in full precision and each float output of which there are two independent draws."""

    kind = "pooled_bias"

    def plan(self, harness: Harness) -> frozenset[Claim]:
        return frozenset(
            Claim(run.format, run.precision, run.engine, output=name, kind=self.kind)
            for run in harness.runs
            if run.precision == "fp32"
            for name in harness.bench.draws
        )


plugin: Proof = PooledBias()

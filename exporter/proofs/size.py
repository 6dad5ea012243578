"""The proof of the size: a variant of low precision takes at most the promised share of fp32's bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exporter.proofs._promises import lower, nothing_to_measure_by
from exporter.proofs.base import Harness, Proof, per_variant
from exporter.proofs.quantisation.budgets import prove_size
from exporter.verdict.claim import Claim, Evidence


class Size(Proof):
    """One claim for each variant of low precision; pure reading."""

    kind = "size"
    reads = True
    promise = True

    def plan(self, harness: Harness) -> frozenset[Claim]:
        return per_variant(self.kind, lower(harness.variants))

    def prove(
        self, claims: Sequence[Claim], harness: Harness, evidence: Mapping[Claim, Evidence]
    ) -> Mapping[Claim, Evidence]:
        del evidence
        found = {}
        for claim in claims:
            plain = harness.subject.artifacts.get(claim.format)
            wanted = harness.promised(claim.precision).max_size
            artifact = harness.artifact(claim)
            found[claim] = (
                prove_size(artifact, plain, harness.subject.folder, wanted) if plain else nothing_to_measure_by(claim)
            )
        return found


plugin: Proof = Size()

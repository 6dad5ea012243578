"""The proof by declaration: what an artifact's file says of its inputs and outputs is what the spec promises."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exporter.proofs._declared import prove_declared
from exporter.proofs.base import Harness, Proof, per_variant
from exporter.verdict.claim import Claim, Evidence


class Interface(Proof):
    """One claim for each variant; pure reading."""

    kind = "interface"
    reads = True

    def plan(self, harness: Harness) -> frozenset[Claim]:
        return per_variant(self.kind, harness.variants)

    def prove(
        self, claims: Sequence[Claim], harness: Harness, evidence: Mapping[Claim, Evidence]
    ) -> Mapping[Claim, Evidence]:
        del evidence
        subject = harness.subject
        return {
            claim: prove_declared(harness.artifact(claim), subject.folder, subject.spec, subject.outputs)
            for claim in claims
        }


plugin: Proof = Interface()

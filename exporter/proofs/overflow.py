"""The proof by arithmetic that an int8 file is right on the CPUs that it is made for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exporter import machine
from exporter.proofs.base import Harness, Proof, per_variant
from exporter.proofs.quantisation.overflow import PRECISIONS, prove_pairs
from exporter.verdict.claim import Claim, Evidence


class Overflow(Proof):
    """One claim for each variant whose products engines add in pairs; pure reading."""

    kind = "overflow"
    reads = True
    promise = True

    def plan(self, harness: Harness) -> frozenset[Claim]:
        return per_variant(self.kind, [pair for pair in harness.variants if pair[1] in PRECISIONS])

    def prove(
        self, claims: Sequence[Claim], harness: Harness, evidence: Mapping[Claim, Evidence]
    ) -> Mapping[Claim, Evidence]:
        del evidence
        return {claim: self._prove(claim, harness)[0] for claim in claims}

    def notes(self, harness: Harness, evidence: Mapping[Claim, Evidence]) -> Sequence[str]:
        own = sorted(claim for claim in evidence if claim.kind == self.kind)
        here = [claim for claim in own if claim.variant in harness.subject.artifacts]
        return [note for claim in here for note in self._prove(claim, harness)[1]]

    def _prove(self, claim: Claim, harness: Harness) -> tuple[Evidence, list[str]]:
        return prove_pairs(harness.artifact(claim), harness.subject.folder, in_16_bits=machine.adds_in_16_bits())


plugin: Proof = Overflow()

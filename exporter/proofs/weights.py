"""The proof by content: every artifact stores the trained tensors, each under its name (exporter/proofs/_trained.py).

Where the checkpoint is at hand, what was trained is read from it; else the manifest says it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from exporter.errors import ExporterError
from exporter.proofs._promises import nothing_to_measure_by
from exporter.proofs._trained import prove_trained, prove_unchanged
from exporter.proofs.base import Harness, Proof, Subject, per_variant
from exporter.proofs.quantisation.rounded import prove_rounded
from exporter.tensors import digest, load
from exporter.verdict.claim import Claim, Evidence, Outcome


class Weights(Proof):
    """One claim for each variant, unless the model has no tensors at all: then nothing stores any."""

    kind = "weights"
    reads = True

    def plan(self, harness: Harness) -> frozenset[Claim]:
        return per_variant(self.kind, harness.variants) if _has_tensors(harness.subject) else frozenset()

    def prove(
        self, claims: Sequence[Claim], harness: Harness, evidence: Mapping[Claim, Evidence]
    ) -> Mapping[Claim, Evidence]:
        del evidence
        subject = harness.subject
        if wrong := _not_the_checkpoints(subject):
            return dict.fromkeys(claims, wrong)
        return {claim: _prove(claim, harness) for claim in claims}


def _prove(claim: Claim, harness: Harness) -> Evidence:
    subject, artifact = harness.subject, harness.artifact(claim)
    unchanged = prove_unchanged(artifact, subject.folder)
    if unchanged.outcome is not Outcome.MATCH:
        return unchanged
    if claim.precision == "fp32":
        return prove_trained(artifact, subject.folder, subject.parameters)
    plain = subject.artifacts.get(claim.format)
    return prove_rounded(artifact, plain, subject.folder) if plain else nothing_to_measure_by(claim)


def _has_tensors(subject: Subject) -> bool:
    """A spec that names weights promises tensors; else a file or the manifest shows them."""
    spec = subject.spec
    promised = spec.recipe is not None or spec.checkpoint is not None
    return promised or bool(subject.parameters) or any(one.weights for one in subject.artifacts.values())


def _not_the_checkpoints(subject: Subject) -> Evidence | None:
    """What is wrong with the recorded digests of the layer's tensors; None: nothing that can be seen here."""
    if not subject.parameters:
        return Evidence(Outcome.MISSING, "the bundle does not record which tensors the layer has", stage="plan")
    if subject.no_source or subject.checkpoint is None:
        return None
    try:
        own = checkpoint_digests(subject.checkpoint)
    except ExporterError as error:
        return Evidence(Outcome.CRASHED, f"the checkpoint cannot be read: {error}", stage="load")
    differ = sorted(name for name, found in own.items() if subject.parameters.get(name) != found)
    if differ:
        reason = f"{len(differ)} tensors are recorded otherwise than the checkpoint has them, as '{differ[0]}'"
        return Evidence(Outcome.MISMATCH, reason)
    return None


def checkpoint_digests(path: Path) -> dict[str, str]:
    """The digest of each tensor of a checkpoint, by its name; read here, since the model's own process may lie."""
    return {name: digest(value) for name, value in load(path).items()}


plugin: Proof = Weights()

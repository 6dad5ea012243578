"""The proof of the size: a variant of low precision takes at most the promised share of fp32's bytes."""

from __future__ import annotations

from pathlib import Path

from exporter.export.lower.base import Artifact
from exporter.export.lower.stored import stored_tensors
from exporter.prove.proofs.base import ByClaim, Harness, Proof, per_variant
from exporter.prove.proofs.promises import lower, nothing_to_measure_by
from exporter.prove.verdict.claim import Claim, Evidence, Outcome

#: How many weights a reason names.
_SHOWN = 3


class Size(ByClaim):
    """One claim for each variant of low precision; pure reading."""

    kind = "size"
    reads = True
    promise = True

    def plan(self, harness: Harness) -> frozenset[Claim]:
        return per_variant(self.kind, lower(harness.variants))

    def prove_claim(self, claim: Claim, harness: Harness) -> Evidence:
        plain = harness.subject.artifacts.get(claim.format)
        if plain is None:
            return nothing_to_measure_by(claim)
        wanted = harness.promised(claim.precision).max_size
        return prove_size(harness.artifact(claim), plain, harness.subject.folder, wanted)


def prove_size(artifact: Artifact, plain: Artifact, folder: Path, wanted: float | None) -> Evidence:
    """Compare the bytes of a variant's files with those of fp32's; `wanted` is the largest share that is promised."""
    own, whole = (sum((folder / name).stat().st_size for name in variant.files) for variant in (artifact, plain))
    share = own / whole
    said = f"{own:,} bytes are {share:.3f} of fp32's {whole:,}"
    if wanted is not None and not share <= wanted:
        reason = f"{said}, and at most {wanted:g} was promised{_largest(artifact, folder)}"
        return Evidence(Outcome.MISMATCH, reason, elements=own, metrics={"share": share})
    return Evidence(Outcome.MATCH, said, elements=own, metrics={"share": share}, provider="by reading")


def _largest(artifact: Artifact, folder: Path) -> str:
    """The weights of an int8 file that take most and are not in 8 bits, as a part of a sentence."""
    if "layers" not in artifact.details:
        return ""
    weights = stored_tensors(artifact.files, folder).weights
    wide = {name: weight.nbytes for name, weight in weights.items() if "int8" not in weight.dtype}
    worst = sorted(wide, key=lambda name: (-wide[name], name))[:_SHOWN]
    listed = ", ".join(f"{name} ({wide[name]:,} bytes)" for name in worst)
    return f"; most of what is not in 8 bits: {listed}" if listed else ""


plugin: Proof = Size()

"""The proof by arithmetic that an int8 file is right on the CPUs that it is made for, whatever CPU this is.

Pure reading: the largest sums that two products of a layer can reach, beside what 16 bits hold. See
exporter/export/lower/precision/saturation.py for why a CPU without VNNI adds products in pairs in 16 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from exporter.base import machine
from exporter.base.errors import BundleError
from exporter.export.lower.base import Artifact
from exporter.export.lower.precision.kernels import Kernel, kernels
from exporter.export.lower.precision.saturation import HIGHEST
from exporter.export.lower.stored import stored_tensors
from exporter.prove.proofs.base import ByClaim, Harness, Proof, per_variant
from exporter.prove.verdict.claim import Claim, Evidence, Outcome

#: The precisions whose products engines add in pairs.
PRECISIONS = ("int8",)


class Overflow(ByClaim):
    """One claim for each variant whose products engines add in pairs."""

    kind = "overflow"
    reads = True
    promise = True

    def plan(self, harness: Harness) -> frozenset[Claim]:
        return per_variant(self.kind, [pair for pair in harness.variants if pair[1] in PRECISIONS])

    def prove_claim(self, claim: Claim, harness: Harness) -> Evidence:
        return self._prove(claim, harness)[0]

    def notes(self, harness: Harness) -> Sequence[str]:
        own = sorted(claim for claim in harness.evidence if claim.kind == self.kind)
        here = [claim for claim in own if claim.variant in harness.subject.artifacts]
        return [note for claim in here for note in self._prove(claim, harness)[1]]

    def _prove(self, claim: Claim, harness: Harness) -> tuple[Evidence, list[str]]:
        promised = harness.spec.precisions[claim.precision].cpu
        here = machine.adds_in_16_bits()
        return prove_pairs(harness.artifact(claim), harness.subject.folder, promised, in_16_bits=here)


def prove_pairs(artifact: Artifact, folder: Path, promised: str, *, in_16_bits: bool) -> tuple[Evidence, list[str]]:
    """The evidence, and what a reader has to know besides.

    `promised` are the CPUs that the spec asks for, `any` or `vnni`; `in_16_bits` says how the CPU at hand adds.
    """
    try:
        layers = kernels(artifact.files, folder)
        weights = 0 if layers else _weights_alone(artifact, folder)
    except BundleError as error:
        return Evidence(Outcome.CRASHED, f"cannot be read: {error}", stage="load"), []
    if weights:
        reason = "no product is one of 8 bits: weights alone are stored in 8 or 16, and their layers compute in float32"
        return Evidence(Outcome.MATCH, reason, elements=weights, provider="by arithmetic"), []
    if not layers:
        return Evidence(Outcome.VACUOUS, "no product of 8 bits was found in the file, so this proves nothing"), []
    elements = sum(kernel.pairs.total for kernel in layers)
    metrics = {"largest_sum": float(max(abs(kernel.pairs.worst) for kernel in layers))}
    worst = _worst_first(layers)
    if not worst:
        reason = (
            f"two products of a layer add up to {metrics['largest_sum']:,.0f} at most, and 16 bits hold {HIGHEST:,}"
        )
        return Evidence(Outcome.MATCH, reason, elements=elements, metrics=metrics, provider="by arithmetic"), []
    reason = _told(worst, len(layers), artifact)
    if promised == "any":
        reason += "; `cpu: any` promises that none does: release it again, or ask for `cpu: vnni`"
    elif in_16_bits:
        reason = (
            f"it is made for CPUs with VNNI, and this one has none: {reason}; `cpu: any` writes one that is right here"
        )
    else:
        note = f"{artifact.variant} is made for CPUs with VNNI, as this one: {reason}; `cpu: any` suits every x86"
        return Evidence(Outcome.MATCH, reason, elements=elements, metrics=metrics, provider="by arithmetic"), [note]
    return Evidence(Outcome.MISMATCH, reason, elements=elements, metrics=metrics, provider="by arithmetic"), []


def _weights_alone(artifact: Artifact, folder: Path) -> int:
    """How many numbers the file stores of weights that alone are low, where all of its layers are so."""
    layers = artifact.details.get("layers", {}).values()
    if any(layer.get("input") for layer in layers):
        return 0
    weights = stored_tensors(artifact.files, folder).weights
    return sum(weights[layer["codes"]].elements for layer in layers if layer["codes"] in weights)


def _worst_first(layers: Sequence[Kernel]) -> list[Kernel]:
    return sorted((kernel for kernel in layers if kernel.pairs.saturate), key=_gravity)


def _gravity(kernel: Kernel) -> tuple[int, str]:
    return -abs(kernel.pairs.worst), kernel.weight


def _told(worst: Sequence[Kernel], total: int, artifact: Artifact) -> str:
    sums = abs(worst[0].pairs.worst)
    more = f" (the worst of {len(worst)} such layers out of {total})" if len(worst) > 1 else ""
    return (
        f"two products of {_name(worst[0], artifact)}{more} can add up to {sums:,}, and the kernels of a CPU without "
        f"VNNI (pmaddubsw, unsigned by signed 8 bits) cut off beyond {HIGHEST:,}"
    )


def _name(kernel: Kernel, artifact: Artifact) -> str:
    """What the report calls the layer; the weight's own name where the manifest knows none."""
    layers = artifact.details.get("layers", {})
    return next((name for name, layer in layers.items() if layer["codes"] == kernel.weight), kernel.weight)


plugin: Proof = Overflow()

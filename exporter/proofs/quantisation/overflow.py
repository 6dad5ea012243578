"""The proof by arithmetic that an int8 file is right on the CPUs that it is made for, whatever CPU this is.

Pure reading: the largest sums that two products of a layer can reach, beside what 16 bits hold. See
exporter/lower/precision/_saturation.py for why a CPU without VNNI adds products in pairs in 16 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from exporter.errors import BundleError
from exporter.lower.base import Artifact
from exporter.lower.precision._kernels import Kernel, kernels
from exporter.lower.precision._saturation import HIGHEST
from exporter.verdict.claim import Evidence, Outcome

#: The precisions whose products engines add in pairs.
PRECISIONS = ("int8",)


def made_for(artifact: Artifact) -> str:
    """The CPUs that the spec asked for: `any` or `vnni`; what was written before there was a choice has to suit any."""
    asked: str = artifact.details.get("cpu", {}).get("asked", "any")
    return asked


def overflowing(artifact: Artifact, folder: Path) -> list[str]:
    """The names of the layers in which two products can leave 16 bits, that with the largest sum first.

    Raises:
        BundleError: a file is damaged.
    """
    return [_name(kernel, artifact) for kernel in _worst_first(kernels(artifact.files, folder))]


def prove_pairs(artifact: Artifact, folder: Path, *, in_16_bits: bool) -> tuple[Evidence, list[str]]:
    """The evidence, and what a reader has to know besides. `in_16_bits` says how the CPU at hand adds."""
    try:
        layers = kernels(artifact.files, folder)
    except BundleError as error:
        return Evidence(Outcome.CRASHED, f"cannot be read: {error}", stage="load"), []
    if not layers:
        return Evidence(Outcome.VACUOUS, "no product of 8 bits was found in the file, so this proves nothing"), []
    elements = sum(kernel.pairs.total for kernel in layers)
    metrics = {"largest_sum": float(max(abs(kernel.pairs.worst) for kernel in layers))}
    worst = _worst_first(layers)
    if not worst:
        said = f"two products of a layer add up to {metrics['largest_sum']:,.0f} at most, and 16 bits hold {HIGHEST:,}"
        return Evidence(Outcome.MATCH, said, elements=elements, metrics=metrics, provider="by arithmetic"), []
    said = _told(worst, len(layers), artifact)
    if made_for(artifact) == "any":
        said += "; `cpu: any` promises that none does: release it again, or ask for `cpu: vnni`"
    elif in_16_bits:
        said = f"it is made for CPUs with VNNI, and this one has none: {said}; `cpu: any` writes one that is right here"
    else:
        note = f"{artifact.variant} is made for CPUs with VNNI, as this one: {said}; `cpu: any` suits every x86"
        return Evidence(Outcome.MATCH, said, elements=elements, metrics=metrics, provider="by arithmetic"), [note]
    return Evidence(Outcome.MISMATCH, said, elements=elements, metrics=metrics, provider="by arithmetic"), []


def _worst_first(layers: Sequence[Kernel]) -> list[Kernel]:
    return sorted((one for one in layers if one.pairs.saturate), key=lambda one: (-abs(one.pairs.worst), one.weight))


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

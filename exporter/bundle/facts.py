"""What a manifest tells of a bundle besides its claims, as a report shows it. A stranger may have written it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from exporter.base.bounded_json import read_json
from exporter.base.files import total_size
from exporter.base.git import State
from exporter.base.tensors import TensorSpec
from exporter.bundle.manifest import PROVENANCE, SIGNATURE, Content, Tensor, Variant
from exporter.bundle.open import Bundle
from exporter.bundle.subject import open_ends
from exporter.prove.judge.facts import Facts, Trained, Tried
from exporter.spec.model import Spec


def facts_of(content: Content, spec: Spec, folder: Path, code: State | None) -> Facts:
    """What is told of the bundle whose files lie in a folder; `code` is the commit that it was made at."""
    origin = content.provenance
    machine = origin.get("machine", {})
    return Facts(
        inputs=_tensors(content.inputs),
        outputs=_tensors(content.outputs),
        dims=content.dims,
        sizes={name: total_size([folder / file for file in one.files]) for name, one in content.variants.items()},
        engines=tuple(spec.engines),
        packages=origin.get("packages", {}),
        model=spec.model,
        cpu=machine.get("cpu", ""),
        abilities=tuple(machine.get("abilities", ())),
        searched=tuple(sorted(name for name, settings in spec.precisions.items() if settings.search)),
        fronts={name: front for name, one in content.variants.items() if (front := _front(one))},
        open_ends=open_ends(content),
        trained=_trained(origin.get("training", {})),
        code=code,
        promised={name: said for name, one in spec.inputs.items() if (said := one.promised)},
    )


def facts_in(bundle: Bundle, spec: Spec, trusted: str = "") -> Facts:
    """The same of a bundle that is there; `trusted` names who is known to have signed it."""
    manifest = bundle.manifest
    facts = facts_of(manifest, spec, bundle.folder, _commit(bundle.folder) if manifest.documents else None)
    signed = "not signed: `exporter sign BUNDLE --key K.pem`"
    if (bundle.folder / SIGNATURE).exists():
        signed = "signed, and not checked here: `exporter verify BUNDLE --trust KEYS`"
    return replace(facts, signed=trusted or signed)


def _tensors(described: Sequence[Tensor]) -> tuple[TensorSpec, ...]:
    return tuple(TensorSpec(one.name, one.dtype, one.shape) for one in described)


def _front(variant: Variant) -> tuple[Tried, ...]:
    """Return the trials of a precision search: layers kept from int8, size in bytes, SNR in dB."""
    steps: Sequence[dict[str, Any]] = variant.details.get("front", ())
    grades = ("kept", "weights_int8", "weights_fp16")
    counts = [sum(len(step.get(grade, ())) for grade in grades) for step in steps]
    return tuple(
        Tried(count, int(step["bytes"]), float(step["snr_db"])) for count, step in zip(counts, steps, strict=True)
    )


def _trained(training: dict[str, Any]) -> Trained | None:
    for metric, value in training.get("metric", {}).items():
        interval = training.get("interval")
        bounds = (float(interval[0]), float(interval[1])) if interval else None
        return Trained(str(training.get("recipe", "")), metric, float(value), bounds)
    return None


def _commit(folder: Path) -> State | None:
    """The commit that the provenance of a bundle states, whose form was checked when it was opened."""
    statement = read_json(folder / PROVENANCE)
    for entry in statement["predicate"]["buildDefinition"].get("resolvedDependencies", ()):
        commit = entry.get("digest", {}).get("gitCommit")
        if commit:
            annotations = entry.get("annotations")
            return State(commit, not isinstance(annotations, dict) or annotations.get("dirty") is not False)
    return None

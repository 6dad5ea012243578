"""What a manifest says, put together from what the steps gave."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from exporter.bundle.manifest import MANIFEST_VERSION, CaseFacts, Content, FileFacts
from exporter.bundle.provenance import NOT_REPRODUCIBLE, provenance
from exporter.bundle.source import file_digests
from exporter.bundle.version import content_version
from exporter.export.lower.convert import Conversion
from exporter.prove.goldens.record import Record
from exporter.prove.judge.candidates import digests
from exporter.prove.judge.report import weights_note
from exporter.prove.verdict.claim import Verdict
from exporter.spec.model import Spec
from exporter.spec.source import FACTORY
from exporter.weights.measured import Measured


def contents(
    spec: Spec,
    conversion: Conversion,
    files: Mapping[str, FileFacts],
    checkpoint: Path | None,
    measured: Measured | None = None,
) -> Content:
    """The manifest of an unverified bundle that holds these `files`, without what sealing adds."""
    absent = {"determinism"} if spec.determinism is None else None  # recorded as bundles have always had it
    described = spec.model_dump(mode="json", exclude=absent)
    origin = provenance(spec, checkpoint)
    if measured is not None:
        origin["training"] = {
            "recipe": measured.recipe,
            "metric": {measured.metric: measured.value},
            **({"seed": measured.run.seed} if measured.run else {}),
            **({"interval": list(measured.interval)} if measured.interval else {}),
        }
    untrained = weights_note(spec)
    if spec.model == FACTORY:
        untrained += f" (sha256 {' and '.join(file_digests(spec).values())})"
    judged = [
        f"{candidate.note}{digests(Path(candidate.file))}): a release judges it, and the bundle does not hold it"
        for candidate in spec.candidates
    ]
    notes = (untrained, measured.note if measured else "", *judged)
    return Content.model_validate(
        {
            "schema": MANIFEST_VERSION,
            "name": spec.name,
            "version": spec.version or content_version(described, conversion.parameters, files, origin),
            "inputs": [asdict(one) for one in spec.input_specs()],
            "outputs": [asdict(one) for one in conversion.outputs],
            "constants": conversion.constants,
            "sized": conversion.sized,
            "dims": {name: dim.model_dump() for name, dim in spec.dims.items()},
            "budget": spec.budget,
            "variants": {one.variant: asdict(one) for one in conversion.artifacts},
            "cases": (),
            "notes": tuple(filter(None, notes)),
            "parameters": dict(conversion.parameters),
            "spec": described,
            "provenance": origin,
            "waivers": [one.model_dump(mode="json") for one in spec.waivers],
            "not_reproducible": NOT_REPRODUCIBLE,
            "verdict": "unverified",
        }
    )


def with_record(content: Content, record: Record) -> Content:
    """The same, with what was recorded of the model."""
    return content.model_copy(
        update={
            "cases": tuple(CaseFacts.model_validate(asdict(case)) for case in record.cases),
            "left_out": dict(record.left_out),
            "untelling": tuple(CaseFacts.model_validate(asdict(case)) for case in record.untelling),
            "decoding": tuple(CaseFacts.model_validate(asdict(case)) for case in record.decoding),
            "notes": (*content.notes, *record.notes),
        }
    )


def with_costs(content: Content, verdict: Verdict) -> Content:
    """The same, with what each run of a variant took, as far as it ended in order."""
    seen = {claim: evidence.metrics for claim, evidence in verdict.evidence.items() if claim.kind == "process"}
    costs = {
        f"{claim.variant}/{claim.engine}": {name: metrics[f"cost_{name}"] for name in ("seconds", "megabytes")}
        for claim, metrics in sorted(seen.items())
        if claim.format != "source" and metrics
    }
    return content.model_copy(update={"provenance": {**content.provenance, "costs": costs}})

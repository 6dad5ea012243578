"""What a manifest says, put together from what the steps gave."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from exporter.bundle.manifest import MANIFEST_VERSION
from exporter.bundle.provenance import NOT_REPRODUCIBLE, provenance
from exporter.bundle.write import content_version
from exporter.lower._convert import Conversion
from exporter.spec.model import Spec
from exporter.tensors import TensorSpec
from exporter.train.run import TrainResult


def contents(
    spec: Spec, conversion: Conversion, draft: Path, checkpoint: Path | None, trained: TrainResult | None = None
) -> dict[str, Any]:
    """The manifest of an unverified bundle, without `files` and `digest`, which sealing adds."""
    described = spec.model_dump(mode="json")
    origin = provenance(spec, checkpoint)
    if trained is not None:
        origin["training"] = {"recipe": trained.recipe, "metric": {trained.metric: trained.value}, "seed": trained.seed}
    return {
        "schema": MANIFEST_VERSION,
        "name": spec.name,
        "version": spec.version or content_version(described, conversion.parameters, draft),
        "inputs": [_tensor(one) for one in spec.input_specs()],
        "outputs": [_tensor(one) for one in conversion.outputs],
        "dims": {name: dim.model_dump() for name, dim in spec.dims.items()},
        "budget": spec.budget,
        "variants": {one.variant: asdict(one) for one in conversion.artifacts},
        "cases": [],
        "left_out": {},
        "notes": [],
        "parameters": dict(conversion.parameters),
        "spec": described,
        "provenance": origin,
        "waivers": [one.model_dump(mode="json") for one in spec.waivers],
        "not_reproducible": list(NOT_REPRODUCIBLE),
        "verdict": "unverified",
    }


def _tensor(spec: TensorSpec) -> dict[str, Any]:
    return {"name": spec.name, "dtype": spec.dtype, "shape": list(spec.shape)}

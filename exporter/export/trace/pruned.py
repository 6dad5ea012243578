"""What a pruned layer keeps of the layer that its factory builds. It travels in the checkpoint, as JSON in its header.

So whoever builds the layer from factory and checkpoint builds the smaller one, and weights and plan cannot part.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from exporter.base.errors import UsageError
from exporter.base.files import canonical_json, sha256_bytes
from exporter.base.pickles.state import is_pickle

#: The key in a checkpoint's metadata.
KEY = "prune"
SCHEMA = 1
#: What a layer of Paddle keeps beside its weights and uses in `forward` (`nn/layer/conv.py`, `norm.py`; 3.0 to 3.3).
ATTRIBUTES = ("_groups", "_num_groups")
_HINT = "prune again: the checkpoint was written by another exporter, or is damaged"


@dataclass(frozen=True)
class Plan:
    """For each tensor of the state dict, by axis, the indices that stay, rising; for each sublayer, counts that change.

    A tensor that is not named stays whole. `about` says how it was chosen, for people and reports.
    """

    kept: Mapping[str, Mapping[int, tuple[int, ...]]]
    attributes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    about: Mapping[str, object] = field(default_factory=dict)

    def to_json(self) -> dict[str, object]:
        """Plain values; JSON has no whole numbers as keys."""
        kept = {name: {str(axis): list(at) for axis, at in axes.items()} for name, axes in self.kept.items()}
        attributes = {path: dict(values) for path, values in self.attributes.items()}
        return {"schema": SCHEMA, "kept": kept, "attributes": attributes, "about": dict(self.about)}

    @property
    def digest(self) -> str:
        """Hex sha256 over its canonical JSON."""
        return sha256_bytes(canonical_json(self.to_json()))


def plan_in(checkpoint: Path) -> Plan | None:
    """The plan in a checkpoint's header, which is JSON behind eight bytes of its length; None where there is none.

    Raises:
        UsageError: the header is none, or the plan in it is damaged.
    """
    if is_pickle(checkpoint):
        return None
    try:
        with checkpoint.open("rb") as stream:
            size = int.from_bytes(stream.read(8), "little")
            if size > checkpoint.stat().st_size:
                raise ValueError("longer than the file")
            metadata = json.loads(stream.read(size)).get("__metadata__", {})
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        raise UsageError(f"not a whole safetensors file ({error})", where=str(checkpoint), hint=_HINT) from error
    return read_plan(metadata[KEY], str(checkpoint)) if KEY in metadata else None


def read_plan(text: str, where: str) -> Plan:
    """Read the JSON of :meth:`Plan.to_json`.

    Raises:
        UsageError: it is not a plan.
    """
    try:
        content = json.loads(text)
        if content["schema"] != SCHEMA:
            raise ValueError(f"schema {content['schema']!r}, not {SCHEMA}")
        kept = {
            str(name): {int(axis): _indices(at) for axis, at in axes.items()} for name, axes in content["kept"].items()
        }
        attributes = {str(path): _counts(values) for path, values in content["attributes"].items()}
        return Plan(kept, attributes, dict(content["about"]))
    except (LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise UsageError(f"the pruning plan in it is damaged: {error}", where=where, hint=_HINT) from error


def _indices(found: list[Any]) -> tuple[int, ...]:
    if not found or not all(type(one) is int and one >= 0 for one in found):
        raise ValueError("indices that are none")
    if any(one >= other for one, other in pairwise(found)):
        raise ValueError("indices that do not rise")
    return tuple(found)


def _counts(values: Mapping[str, object]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for name, value in values.items():
        if name not in ATTRIBUTES or type(value) is not int or value < 1:
            raise ValueError(f"{name!r}: {value!r} is no count")
        counts[name] = value
    return counts

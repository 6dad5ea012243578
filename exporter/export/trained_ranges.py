"""The header of a checkpoint that was fine-tuned with rounding: the range of what each rounded layer takes.

It lies in the checkpoint itself, so that weights and ranges cannot part. Training writes it; the lowering to int8 and
the manifest read it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from exporter.base.bounded_json import Data
from exporter.base.errors import BundleError, UsageError
from exporter.base.tensors import metadata

#: The keys in a checkpoint's metadata: the ranges, and the metric of the float32 checkpoint that training began with.
KEY, BEFORE = "ranges", "before"
SCHEMA = 1
_HINT = "fine-tune the float32 checkpoint: exporter train RECIPE --qat CHECKPOINT"


def as_text(ranges: Mapping[str, Sequence[float]]) -> str:
    """What stands in a checkpoint's header: by sublayer, [low, high] of what it takes."""
    return json.dumps({"schema": SCHEMA, "inputs": ranges}, sort_keys=True, separators=(",", ":"), allow_nan=False)


def ranges_in(checkpoint: Path | None) -> dict[str, tuple[float, float]]:
    """The trained ranges in a checkpoint's header: for each rounded sublayer the lowest and highest of its input.

    Raises:
        UsageError: there are none, or they are damaged.
    """
    text = _text(checkpoint) if checkpoint else None
    if text is None:
        raise UsageError("the checkpoint holds no trained ranges", where=str(checkpoint), hint=_HINT)
    try:
        content = json.loads(text)
        if content["schema"] != SCHEMA:
            raise ValueError(f"schema {content['schema']!r}, not {SCHEMA}")
        return {str(path): _range(pair) for path, pair in content["inputs"].items()}
    except (LookupError, TypeError, ValueError, OverflowError, AttributeError, RecursionError) as error:
        raise UsageError(f"the trained ranges in it are damaged: {error}", where=str(checkpoint), hint=_HINT) from error


@dataclass(frozen=True)
class RoundedInTraining:
    """The layers for which training knows a range, and the metric of the float32 checkpoint that it began with."""

    layers: tuple[str, ...]
    before: float | None

    def to_json(self) -> dict[str, Data]:
        """Return it as it stands in the manifest."""
        return {"layers": list(self.layers), "before": self.before}


def rounded_in_training(checkpoint: Path) -> RoundedInTraining | None:
    """Return what a manifest says of a checkpoint's ranges, or None where it holds none; raises as those below."""
    if not holds_ranges(checkpoint):
        return None
    return RoundedInTraining(tuple(sorted(ranges_in(checkpoint))), before(checkpoint))


def before(checkpoint: Path) -> float | None:
    """The recipe's metric on the held-out data of what the training began with; None where there was none.

    Raises:
        UsageError: it is no number.
    """
    text = _text(checkpoint, BEFORE)
    try:
        return None if text is None else float(text)
    except ValueError as error:
        raise UsageError(f"'{BEFORE}' in it is no number: {text}", where=str(checkpoint), hint=_HINT) from error


def holds_ranges(checkpoint: Path) -> bool:
    """Return whether a checkpoint's header holds trained ranges; raises UsageError where it cannot be read."""
    return _text(checkpoint) is not None


def _text(checkpoint: Path, key: str = KEY) -> str | None:
    try:
        return metadata(checkpoint).get(key)
    except BundleError as error:  # no bundle here: the file is the user's
        raise UsageError(error.what, where=error.where, hint=error.hint) from error


def _range(found: Sequence[float]) -> tuple[float, float]:
    low, high = map(float, found)
    if not (low <= 0 <= high and math.isfinite(high - low)):
        raise ValueError(f"{found!r} is no range around 0")
    return low, high

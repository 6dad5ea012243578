"""Quantisation-aware training, seen from the main process: the run that fine-tunes a checkpoint while it rounds.

runs/NAME.qat/   a run like any other; its best.safetensors holds float32 weights under the model's own names, and in
                 its header the range of what each rounded layer takes, so that weights and ranges cannot part
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from exporter.base.errors import BundleError, UsageError
from exporter.base.tensors import metadata
from exporter.process.workers import Setting
from exporter.spec.model import PrecisionSettings, Spec
from exporter.train import run as training

#: The keys in a checkpoint's metadata: the ranges, and the metric of the float32 checkpoint that training began with.
KEY, BEFORE = "ranges", "before"
SCHEMA = 1
_HINT = "fine-tune the float32 checkpoint: exporter train RECIPE --qat CHECKPOINT"


def wanted(spec: Spec) -> PrecisionSettings | None:
    """The settings of the precision that takes trained ranges, if one does."""
    return next((one for one in spec.precisions.values() if one.ranges == "trained"), None)


def ensure(spec: Spec, start: Path | None, setting: Setting) -> training.TrainResult | None:
    """Fine-tune `start` with its roundings in place, unless just this run lies there; None where `start` is its result.

    Raises:
        UsageError: nothing says how to train, and `start` holds no ranges; or as training.
    """
    request = _request(spec, start)
    return None if request is None else training.ensure(request, setting)


def finished(spec: Spec, start: Path | None) -> Path | None:
    """The fine-tuned checkpoint that lies there, or `start` itself where that is one.

    Raises:
        UsageError: it was not made yet, or from other weights, code or settings.
    """
    if (request := _request(spec, start)) is None:
        return start
    if (found := training.finished(request)) is None:
        raise UsageError(
            "the model was not fine-tuned with rounding yet", where=str(request.into), hint="release the spec"
        )
    return found.checkpoint


def pending(spec: Spec, start: Path | None) -> bool:
    """Whether `start` is yet to be fine-tuned with its roundings in place; raises as :func:`ensure`."""
    request = _request(spec, start)
    return request is not None and training.finished(request) is None


def default_folder(spec: Spec) -> Path:
    """Where the run of a spec lies."""
    return Path("runs", f"{spec.name}.qat")


def _request(spec: Spec, start: Path | None) -> training.TrainRequest | None:
    asked = wanted(spec)
    if asked is None or (start is not None and _text(start) is not None):
        return None
    if spec.recipe is None or start is None:
        raise UsageError("the checkpoint holds no trained ranges", where=str(start or spec.model), hint=_HINT)
    return training.TrainRequest(
        spec.recipe, default_folder(spec), spec.seed, asked.epochs, spec.device, start, qat=True, args=spec.args
    )


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


def told(checkpoint: Path) -> dict[str, Any]:
    """What a manifest says of a checkpoint's ranges; empty where it holds none."""
    return (
        {"layers": sorted(ranges_in(checkpoint)), "before": before(checkpoint)} if _text(checkpoint) is not None else {}
    )


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

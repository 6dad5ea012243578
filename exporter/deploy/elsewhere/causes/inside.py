"""Causes that show inside the model: values that float16 cannot hold, and choices between equal scores."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from exporter.base.tensors import Array, TensorMap
from exporter.deploy.elsewhere.causes.inputs import Runs
from exporter.deploy.elsewhere.causes.near import NEAR, Explained, score
from exporter.deploy.elsewhere.causes.outputs import Wrong
from exporter.deploy.elsewhere.inside import Computed, computed_from, values_inside

#: The largest finite number of float16.
_LARGEST_HALF = 65504.0
#: Scores that differ by less of their size are equal to an engine that computes in float16.
_TIE = 2.0**-10
#: The share of places in which infinities and NaN have to agree.
_AGREE = 0.9


def causes_inside(wrong: Wrong, runs: Runs) -> Iterator[Explained]:
    """Every cause inside the model that explains one wrong answer.

    Raises:
        ExporterError: the variant shows no intermediate values, or a child ended badly.
    """
    got = wrong.got
    if not isinstance(got, np.ndarray) or got.shape != wrong.truth.shape:
        return
    values = values_inside(runs, wrong.case.name)
    if wrong.truth.dtype.kind == "f":
        yield from _overflow(wrong, got, values, runs)
    else:
        yield from _ties(wrong.truth, got, values)


def _overflow(wrong: Wrong, got: Array, values: TensorMap, runs: Runs) -> Iterator[Explained]:
    """Values beyond float16 are made infinite, or its largest number, and the rest of the model computed with them."""
    beyond = {
        name: value
        for name, value in values.items()
        if value.dtype.kind == "f" and value.size and np.abs(value).max() > _LARGEST_HALF
    }
    if not beyond:
        return
    first, largest = next((name, float(np.abs(value).max())) for name, value in beyond.items())
    sentence = f"the value {first} reaches {largest:.3g}, and float16 ends at {_LARGEST_HALF:g}"
    inputs = {name: values[name] for name in runs.bench.inputs}
    for limit in (np.inf, _LARGEST_HALF):
        limited = {name: _limited(value, limit) for name, value in {**beyond, **inputs}.items()}
        computed = computed_from(runs, limited, anew=False)
        if isinstance(computed, Computed) and wrong.output in computed.values:
            fits = _alike(computed.values[wrong.output], got)
            if fits is not None:
                yield Explained("fp16 overflow", sentence, fits)
                return
    if not np.isfinite(got).all():
        yield Explained("fp16 overflow", f"{sentence}; the answer is not finite", 0.0)


def _limited(value: Array, limit: float) -> Array:
    if value.dtype.kind != "f":
        return value
    limited: Array = np.where(np.abs(value) > _LARGEST_HALF, np.copysign(limit, value), value).astype(value.dtype)
    return limited


def _alike(computed: Array, got: Array) -> float | None:
    """How well an answer with numbers that are not finite is what was computed so; None where it is not."""
    if computed.shape != got.shape or got.dtype.kind != "f":
        return None
    finite = np.isfinite(computed) & np.isfinite(got)
    if float(np.mean(np.isfinite(computed) == np.isfinite(got))) < _AGREE:
        return None
    if not finite.any():
        return NEAR
    fits = score(computed[finite].astype("float64"), got[finite])
    return fits if fits >= NEAR else None


def _ties(truth: Array, got: Array, values: TensorMap) -> Iterator[Explained]:
    """Scores inside whose argmax the labels are: where a label differs, both have the same score."""
    differ = truth != got
    for name, scores in values.items():
        if scores.dtype.kind != "f" or scores.ndim < 1 or not differ.any():
            continue
        for axis in range(scores.ndim):
            chosen = scores.argmax(axis)
            if scores.shape[axis] < 2 or chosen.size != truth.size or (chosen.reshape(truth.shape) != truth).any():
                continue
            along = np.moveaxis(scores, axis, -1).reshape(truth.size, -1)
            labels, own = got.ravel(), truth.ravel()
            if ((labels < 0) | (labels >= along.shape[1])).any():
                continue
            places = np.arange(truth.size)
            gap = along[places, own.astype("int64")] - along[places, labels.astype("int64")]
            if (gap <= _TIE * np.abs(along).max()).all():
                count = int(differ.sum())
                yield Explained(
                    "argmax of ties", f"{count} labels differ where two scores of {name} are as good as equal", NEAR
                )
                return

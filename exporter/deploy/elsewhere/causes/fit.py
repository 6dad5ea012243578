"""A factor and an offset of an input that nobody can guess: fitted by runs of our own, so that they give what came.

Least squares by Gauss and Newton; slopes are differences of runs. Several cases are fitted together, since one may
have fewer numbers than there are factors and offsets.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from exporter.base.tensors import Array, TensorMap, recorded_inputs
from exporter.deploy.elsewhere.causes.inputs import Runs, fitting
from exporter.deploy.elsewhere.causes.near import NEAR, Explained, explains, score
from exporter.deploy.elsewhere.causes.outputs import Wrong

#: Rounds of a fit, the step of its differences, and from how many starts it is tried.
_ROUNDS, _STEP, _STARTS = 10, 1e-3, 2
#: Wrong answers that are fitted together, and how many numbers of theirs a factor or an offset needs.
_TOGETHER, _EACH = 4, 3
#: Channels of an input up to which each may have a factor and an offset of its own.
_MOST_CHANNELS = 4
#: Where a fit begins: the nearest of these.
_FACTORS, _OFFSETS = (1.0, 0.5, 2.0, 4.0, 0.25, 16.0, 1 / 16, 255.0, 1 / 255), (0.0, 1.0, -1.0, 0.5, -2.0, 8.0, -8.0)


@dataclass(frozen=True)
class _Fit:
    """One input of some cases, and the answers that came to them in one output."""

    runs: Runs
    name: str
    output: str
    cases: tuple[TensorMap, ...]
    got: Array

    def fed(self, numbers: Array) -> list[TensorMap]:
        """The inputs of all cases where the input is its factor times what it is, plus its offset."""
        factor, offset = np.split(numbers, 2)
        if factor.size > 1:
            factor, offset = (part.reshape(1, -1, 1, 1) for part in (factor, offset))
        return [{**case, self.name: fitting(case[self.name] * factor + offset, case[self.name])} for case in self.cases]

    def outputs(self, points: Sequence[Array]) -> list[Array | None]:
        """The output of all cases in one row, for each point; None where it is not finite or did not come."""
        results = self.runs.outputs([fed for point in points for fed in self.fed(point)])
        rows = []
        for at in range(len(points)):
            own = [result.get(self.output) for result in results[at * len(self.cases) : (at + 1) * len(self.cases)]]
            whole = [value.ravel().astype("float64") for value in own if value is not None and np.isfinite(value).all()]
            rows.append(np.concatenate(whole) if len(whole) == len(self.cases) else None)
        return rows

    def starts(self) -> list[Array]:
        """The numbers from which the fit begins, the nearest first."""
        points = [np.array(pair) for pair in itertools.product(_FACTORS, _OFFSETS)]
        rated = [
            (-score(value, self.got), number) for number, value in enumerate(self.outputs(points)) if value is not None
        ]
        return [points[number] for _, number in sorted(rated)[:_STARTS]]

    def solved(self, start: Array) -> tuple[Array, float]:
        """The numbers near a start that come nearest, and the score of what the model gives with them."""
        best, fits, step, damped = start, -np.inf, start * 0, 1.0
        for _ in range(_ROUNDS):
            numbers = best + damped * step
            scales = np.maximum(np.abs(numbers), 0.1) * _STEP
            values = self.outputs([numbers, *(numbers + scale for scale in np.diag(scales))])
            finite = [value for value in values if value is not None]
            if len(finite) < len(values) or (now := score(finite[0], self.got)) <= fits:
                damped /= 4  # too far: a shorter step from the best so far
                continue
            best, fits, damped = numbers, now, min(1.0, damped * 4)
            if fits > 2 * NEAR:
                break
            slopes = np.stack([(value - finite[0]) / scale for value, scale in zip(finite[1:], scales, strict=True)], 1)
            step = np.linalg.lstsq(slopes, self.got - finite[0], rcond=None)[0]
        return best, fits


def causes_by_fit(wrongs: Sequence[Wrong], runs: Runs) -> Iterator[tuple[Wrong, Explained]]:
    """Fit each float input of the first wrong answers that can be fitted; what explains each of them.

    Raises:
        ExporterError: our engine is not here, or its process ended badly.
    """
    able = [wrong for wrong in wrongs if _can_be_fitted(wrong)]
    own = [wrong for wrong in able if wrong.output == able[0].output][:_TOGETHER]
    if not own:
        return
    names = runs.bench.inputs
    cases = tuple(recorded_inputs(runs.bench.golden, wrong.case.recorded, names) for wrong in own)
    got = np.concatenate([np.asarray(wrong.got).ravel().astype("float64") for wrong in own])
    for name in names:
        if cases[0][name].dtype.kind != "f":
            continue
        numbers, fits = _fitted(_Fit(runs, name, own[0].output, cases, got), cases[0][name])
        truth = np.concatenate([wrong.truth.ravel() for wrong in own])
        if fits >= NEAR and not _is_as_it_was(numbers) and explains(truth, truth, score(truth, got)) is not None:
            factor, offset = (", ".join(f"{number:.4g}" for number in part) for part in np.split(numbers, 2))
            sentence = f"as if {name} were {factor} times what it is, plus {offset}"
            yield from ((wrong, Explained("mean or scale of inputs", sentence, fits)) for wrong in own)
            return


def _is_as_it_was(numbers: Array) -> bool:
    """Return whether factors of one and offsets of nothing were fitted: then the input was not another one."""
    factors, offsets = np.split(numbers, 2)
    return bool(np.abs(factors - 1).max() < _STEP and np.abs(offsets).max() < _STEP)


def _fitted(fit: _Fit, value: Array) -> tuple[Array, float]:
    """One factor and offset for all; where that is not enough, and there are numbers enough, one for each channel."""
    best, fits = max(
        (fit.solved(start) for start in fit.starts()), key=lambda pair: pair[1], default=(np.ones(2), -np.inf)
    )
    channels = value.shape[1] if value.ndim == 4 else 1
    if fits >= NEAR or not 1 < channels <= _MOST_CHANNELS or fit.got.size < _EACH * 2 * channels:
        return best, fits
    by_channel = fit.solved(np.repeat(best, channels))
    return by_channel if by_channel[1] > fits else (best, fits)


def _can_be_fitted(wrong: Wrong) -> bool:
    got = wrong.got
    if not isinstance(got, np.ndarray) or got.shape != wrong.truth.shape or wrong.truth.dtype.kind != "f":
        return False
    return got.dtype.kind == "f" and bool(np.isfinite(got).all())

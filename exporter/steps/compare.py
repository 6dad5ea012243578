"""How far two chains agree, step by step.

Values after any step of one chain are compared with those after any step of the other, since they need not be cut into
the same steps: a chain agrees up to the last step whose values the other has, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from exporter.steps.base import CLASSES, VALUE, State
from exporter.steps.replay import Replayed

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: What floats may differ by, as a share of their largest: two ways to round a few operations.
_ROUNDING = {"float16": 2.0**-9, "float32": 2.0**-18, "float64": 2.0**-18}
#: The steps of a range that `tolerance` counts in.
_LEVELS = 255


@dataclass(frozen=True)
class Measure:
    """By what states are compared: these names of them, and the tolerance in 255ths of the range of the values."""

    names: tuple[str, ...] = (VALUE,)
    tolerance: float = 0.0

    def unlike(self, wanted: State, actual: State, *, dtypes: bool = False) -> str:
        """In what a state differs from the one that is wanted; empty where it does not.

        Equal numbers of another dtype are a difference only where `dtypes` count.
        """
        for name in self.names:
            if name == CLASSES:  # what not both tell is no difference
                if name in wanted and name in actual and wanted[name] != actual[name]:
                    return f"{int(actual[name])} classes, not {int(wanted[name])}"
                continue
            prefix = "" if name == VALUE else f"'{name}': "
            if (name in wanted) != (name in actual):
                return f"{prefix}{'missing' if name in wanted else 'too much'}"
            if name in wanted and (difference := self._array(wanted[name], actual[name], dtypes)):
                return prefix + difference
        return ""

    def _array(self, wanted: Array, actual: Array, dtypes: bool) -> str:
        if wanted.shape != actual.shape:
            return f"shape {list(actual.shape)}, not {list(wanted.shape)}"
        if dtypes and wanted.dtype != actual.dtype:
            return f"dtype {actual.dtype.name}, not {wanted.dtype.name}"
        return _numbers(wanted, actual, self.tolerance)


def _numbers(wanted: Array, actual: Array, tolerance: float) -> str:
    """Arrays of one shape; not-a-number equals itself."""
    if np.array_equal(wanted, actual):
        return ""
    distance = distances(wanted, actual)
    far = distance > allowed(wanted, actual, tolerance)
    if not far.any():
        return ""
    finite = np.abs(wanted[np.isfinite(wanted) & np.isfinite(actual)].astype("float64"))
    return (
        f"by up to {float(distance.max()):.4g} in {far.mean():.1%} of {wanted.size} numbers, "
        f"the largest of which is {float(finite.max(initial=0.0)):.4g}"
    )


def distances(wanted: Array, actual: Array) -> Array:
    """How far each number is from the one that is wanted, as float64; not-a-number equals itself."""
    plain, other = wanted.astype("float64"), actual.astype("float64")
    same = (wanted == actual) | (np.isnan(plain) & np.isnan(other))
    whole = "f" not in (wanted.dtype.kind, actual.dtype.kind)
    with np.errstate(invalid="ignore"):  # one infinity less another
        apart = np.maximum(np.abs(plain - other), float(whole))  # float64 rounds whole numbers above 2**53
    return np.where(same, 0.0, np.where(np.isfinite(plain) & np.isfinite(other), apart, np.inf))


def allowed(wanted: Array, actual: Array, tolerance: float = 0.0) -> float:
    """The greatest distance of two numbers that count as equal. Labels, tokens and texts have to be just the same."""
    floats = [_ROUNDING[array.dtype.name] for array in (wanted, actual) if array.dtype.name in _ROUNDING]
    values = wanted[np.isfinite(wanted) & np.isfinite(actual)].astype("float64")
    if values.size == 0 or (wanted.ndim < 2 and not floats):
        return 0.0
    rounding = max(floats, default=0.0) * float(np.abs(values).max())
    pixels = bool(floats) or wanted.dtype == np.uint8
    return max(rounding, tolerance / _LEVELS * float(np.ptp(values)) if pixels else 0.0)


@dataclass(frozen=True)
class Agreement:
    """How far two chains agree: after so many steps of `deployment` and of `training` their values are the same."""

    deployment: int
    training: int
    whole: bool


def agreement(training: Sequence[Sequence[State]], deployment: Sequence[Replayed], by: Measure) -> Agreement:
    """How far the chains agree on all samples.

    Each sample of training has its states: the raw one, then one after each step; those of a step that was not recorded
    for it are empty. Chains do not agree as a whole where one of deployment could not run to its end.
    """
    failed = any(sample.error for sample in deployment)
    ends, last = len(training[0]) - 1, min(len(sample.states) for sample in deployment) - 1
    if not failed and all(
        not by.unlike(wanted[-1], replayed.states[-1], dtypes=True)
        for wanted, replayed in zip(training, deployment, strict=True)
    ):
        return Agreement(last, ends, whole=True)
    reached = _furthest(training, deployment, by, last, dtypes=False)
    if reached == (last, ends) and not failed:  # only the dtype differs: the dtypes tell where
        reached = _furthest(training, deployment, by, last, dtypes=True)
    return Agreement(*reached, whole=False)


def _furthest(
    training: Sequence[Sequence[State]], deployment: Sequence[Replayed], by: Measure, last: int, *, dtypes: bool
) -> tuple[int, int]:
    for at in range(last, 0, -1):
        for beside in range(len(training[0]) - 1, 0, -1):
            pairs = [
                (wanted[beside], replayed.states[at]) for wanted, replayed in zip(training, deployment, strict=True)
            ]
            recorded = [(wanted, actual) for wanted, actual in pairs if wanted]
            if recorded and all(not by.unlike(wanted, actual, dtypes=dtypes) for wanted, actual in recorded):
                return at, beside
    return 0, 0

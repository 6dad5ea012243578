"""Any other scaling of the channels: the one that turns the values into those that training had."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from exporter.steps.causes.base import Cause, Situation, Trial, channels_of

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: How much of its deviation a channel may keep beside the straight line.
_RESIDUE = 1e-5


class FittedScaling(Cause):
    """Fits factor and offset of each channel by least squares, and tries them in a `normalize`."""

    rank = 4

    def trials(self, situation: Situation) -> Iterator[Trial]:
        targets = list(situation.targets())
        for at, value in situation.places():
            for target in targets:
                fitted = scaling(value, target)
                if fitted is None:
                    continue
                mean, std = fitted
                options: dict[str, Any] = {"mean": mean, "std": std, "axis": channels_of(value) or "last"}
                if at < len(situation.chain):  # these options fit a `normalize` alone
                    yield from situation.changed(at, scale=1.0, **options)
                yield from situation.inserted(at, "normalize", **options)


def scaling(value: Array, target: Array) -> tuple[tuple[float, ...], tuple[float, ...]] | None:
    """Mean and deviation of each channel that make `target` of `value`; None where no straight line does."""
    import numpy as np

    if value.shape != target.shape or not value.ndim or not value.size:
        return None
    axis = 0 if channels_of(value) == "first" else -1
    before, after = (
        np.moveaxis(one, axis, 0).reshape(one.shape[axis], -1).astype("float64") for one in (value, target)
    )
    if len(before) > 16 or not (np.isfinite(before).all() and np.isfinite(after).all()):
        return None
    centre, goal = before.mean(1, keepdims=True), after.mean(1, keepdims=True)
    spread = np.square(before - centre).sum(1)
    if (spread == 0).any():
        return None
    factor = ((before - centre) * after).sum(1) / spread
    line = factor[:, None] * (before - centre) + goal
    rest, whole = np.square(after - line).sum(1), np.square(after - goal).sum(1)
    if (factor <= 0).any() or (rest > _RESIDUE**2 * whole).any():
        return None
    std = 1 / factor
    mean = centre[:, 0] - goal[:, 0] * std
    return tuple(float(f"{one:.7g}") for one in mean), tuple(float(f"{one:.7g}") for one in std)


plugin: Cause = FittedScaling()

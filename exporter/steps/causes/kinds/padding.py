"""Another border: its value, its place, its size."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from exporter.steps.causes.base import Cause, Situation, Trial, channels_of

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: What borders are commonly filled with, in pixels and in scaled values.
_VALUES: tuple[float, ...] = (0.0, 114.0, 127.5, 127.0, 128.0, 255.0, 1.0, -1.0, 0.5)


class Padding(Cause):
    """Tries common values and those at the corners of training's pictures, both places, and multiples."""

    rank = 2

    def trials(self, situation: Situation) -> Iterator[Trial]:
        corners = [corner for target in situation.targets() for corner in _corners(target)]
        values: list[Any] = list(dict.fromkeys([*_VALUES, *corners]))
        for at, link in situation.steps("pad"):
            now = link.step.options()
            other = {"centre": "top_left", "top_left": "centre"}[now.get("place", "top_left")]
            for value in values:
                yield from situation.changed(at, value=value)
            yield from situation.changed(at, place=other)
            for value in values:
                yield from situation.changed(at, place=other, value=value)
            for step in (32, 64, 128, 16):  # none beside a height and a width
                yield from situation.changed(at, multiple_of=step)
            yield from situation.removed(at)
        yield from self._borders(situation, values)

    def _borders(self, situation: Situation, values: list[Any]) -> Iterator[Trial]:
        """A border where there is none."""
        for at, value in situation.places():
            axis = channels_of(value)
            for target in situation.targets():
                if axis and channels_of(target) == axis and _wider(value, target, axis):
                    height, width = target.shape[1:] if axis == "first" else target.shape[:2]
                    for fill in values:
                        for place in ("top_left", "centre"):
                            size: dict[str, Any] = {"height": height, "width": width, "axis": axis}
                            yield from situation.inserted(at, "pad", value=fill, place=place, **size)


def _wider(value: Array, target: Array, axis: str) -> bool:
    start = 1 if axis == "first" else 0
    old, new = value.shape[start : start + 2], target.shape[start : start + 2]
    return old != new and all(a <= b for a, b in zip(old, new, strict=True))


def _corners(target: Array) -> Iterator[Any]:
    """The values at the last and the first corner of a picture, one for each channel."""
    axis = channels_of(target)
    if axis:
        for at in (-1, 0):
            pixel = target[:, at, at] if axis == "first" else target[at, at]
            yield tuple(float(one) for one in pixel)


plugin: Cause = Padding()

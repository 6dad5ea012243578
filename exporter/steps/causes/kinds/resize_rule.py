"""A picture that is resized to another size, or by another rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from exporter.steps.base import VALUE
from exporter.steps.causes.base import Cause, Situation, Trial, channels_of

_ONE = ("short", "long", "at_least", "at_most")
_TWO = ("exact", "fit", "within", "line")
#: Sizes beside those that training's values show: what is cropped or padded was of another size before.
_COMMON = (256, 224, 320, 640)
#: What part of a side is commonly cropped: 224 of 256, 32 of 36, 224 of 280.
_CROPPED = (8 / 7, 9 / 8, 5 / 4)


class ResizeRule(Cause):
    """Tries every rule with the sizes that the chain and training's values have, and turns height and width round."""

    rank = 3

    def trials(self, situation: Situation) -> Iterator[Trial]:
        sizes = list(dict.fromkeys(_sizes(situation)))
        sides = list(dict.fromkeys([side for size in sizes for side in size] + list(_COMMON)))
        sides += [round(side * factor) for side in sides[: len(sides) - len(_COMMON)] for factor in _CROPPED]
        for at, link in situation.steps("resize"):
            now = link.step.options()
            own = [now[key] for key in ("size", "height", "width") if now.get(key)]
            if "height" in now:
                yield from situation.changed(at, height=now.get("width"), width=now["height"])
            for multiple in (32, 1):
                yield from situation.changed(at, multiple_of=multiple)
            yield from situation.changed(at, tracks=not now.get("tracks", False))
            for rounding in ("down", "nearest"):
                yield from situation.changed(at, rounding=rounding)
            if not _takes_a_picture(situation, at):
                continue
            for options in _rules(sizes, dict.fromkeys([*own, *sides])):
                yield from situation.instead(at, "resize", **{**_kept(now), **options})
        for at, value in situation.places():
            if channels_of(value) == "last":
                for height, width in sizes:
                    yield from situation.inserted(at, "resize", height=height, width=width)


def _takes_a_picture(situation: Situation, at: int) -> bool:
    """Whether a step gets height and width first: of [3, 20, 30] a shorter side of 640 numbers makes a gigabyte."""
    states = situation.states
    return at >= len(states) or channels_of(states[at][VALUE]) != "first"


def _rules(sizes: list[tuple[int, int]], sides: dict[int, None]) -> Iterator[dict[str, Any]]:
    for height, width in [*sizes, *((side, side) for side in sides)]:
        yield from ({"rule": rule, "height": height, "width": width} for rule in _TWO)
    for side in sides:
        yield from ({"rule": rule, "size": side} for rule in _ONE)


def _kept(now: dict[str, Any]) -> dict[str, Any]:
    """What has nothing to do with the size."""
    return {key: now[key] for key in ("interpolation", "library", "tracks") if key in now}


def _sizes(situation: Situation) -> Iterator[tuple[int, int]]:
    """Height and width of the pictures that training had."""
    for target in situation.targets():
        axis = channels_of(target)
        if axis:
            yield target.shape[1:] if axis == "first" else target.shape[:2]


plugin: Cause = ResizeRule()

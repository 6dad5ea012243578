"""A division by 255 that is missing, or done twice."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.steps.causes.base import Cause, Situation, Trial, channels_of


class Scale(Cause):
    """Divides or multiplies by 255 in a `normalize`, or in a step of its own."""

    rank = 1

    def trials(self, situation: Situation) -> Iterator[Trial]:
        for at, link in situation.steps("normalize"):
            now = float(link.step.options().get("scale", 1.0))
            for factor in (1 / 255, 255.0, 1.0 / now):
                yield from situation.changed(at, scale=now * factor)
        for at, value in situation.places():
            if value.ndim >= 2:
                axis = channels_of(value) or "last"
                yield from situation.inserted(at, "normalize", scale=1 / 255, axis=axis)
                yield from situation.inserted(at, "normalize", scale=255.0, axis=axis)


plugin: Cause = Scale()

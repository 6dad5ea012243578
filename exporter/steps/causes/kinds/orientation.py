"""Pictures that are turned as their EXIF data say, on one side only."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.steps.causes.base import Cause, Situation, Trial


class Orientation(Cause):
    """Decodes with and without regard to EXIF."""

    rank = 1

    def trials(self, situation: Situation) -> Iterator[Trial]:
        for at, link in situation.steps("decode"):
            yield from situation.changed(at, exif=not link.step.options().get("exif", True))


plugin: Cause = Orientation()

"""Another interpolation, or another library's."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.steps.causes.base import Cause, Situation, Trial


class Interpolation(Cause):
    """Resizes by each interpolation of OpenCV and of Pillow."""

    rank = 1

    def trials(self, situation: Situation) -> Iterator[Trial]:
        for at, link in situation.steps("resize"):
            now = link.step.options().get("library", "opencv")
            for library in dict.fromkeys((now, "opencv", "pillow", "pillow13")):
                for way in ("linear", "cubic", "area", "nearest", "lanczos"):
                    yield from situation.changed(at, interpolation=way, library=library)


plugin: Cause = Interpolation()

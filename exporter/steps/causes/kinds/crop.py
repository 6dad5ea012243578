"""Another part of the picture."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.steps.causes.base import Cause, Situation, Trial, channels_of


class Crop(Cause):
    """Cuts out the other part, another size, nothing; or cuts where nothing was cut."""

    rank = 2

    def trials(self, situation: Situation) -> Iterator[Trial]:
        sizes = {target.shape[:2] for target in situation.targets() if channels_of(target) == "last"}
        sizes |= {target.shape[1:] for target in situation.targets() if channels_of(target) == "first"}
        for at, link in situation.steps("crop"):
            other = {"centre": "top_left", "top_left": "centre"}
            yield from situation.changed(at, place=other[link.step.options().get("place", "centre")])
            for height, width in sorted(sizes):
                yield from situation.changed(at, height=height, width=width)
            yield from situation.removed(at)
        for at, value in situation.places():
            if channels_of(value) == "last":
                for height, width in sorted(sizes):
                    if (height, width) != value.shape[:2] and height <= value.shape[0] and width <= value.shape[1]:
                        for place in ("centre", "top_left"):
                            yield from situation.inserted(at, "crop", height=height, width=width, place=place)


plugin: Cause = Crop()

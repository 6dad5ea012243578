"""Gray pictures where training had colours, or the other way round."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.steps.causes.base import Cause, Situation, Trial, channels_of


class Colours(Cause):
    """Decodes to gray or to colours, and repeats or takes a channel."""

    def trials(self, situation: Situation) -> Iterator[Trial]:
        for at, _ in situation.steps("decode"):
            for order in ("gray", "rgb", "bgr"):
                yield from situation.changed(at, order=order)
        for at, value in situation.places():
            axis = channels_of(value)
            if axis and value.shape[0 if axis == "first" else 2] == 1:
                yield from situation.inserted(at, "channels", order=(0, 0, 0), axis=axis)


plugin: Cause = Colours()

"""Channels in another order: RGB where training had BGR."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.steps.causes.base import Cause, Situation, Trial, channels_of


class Channels(Cause):
    """Exchanges the first and the last channel: where they are decoded, or anywhere behind."""

    rank = 1

    def trials(self, situation: Situation) -> Iterator[Trial]:
        for at, link in situation.steps("decode"):
            other = {"rgb": "bgr", "bgr": "rgb", "gray": "gray"}
            yield from situation.changed(at, order=other[link.step.options().get("order", "rgb")])
        for at, _ in situation.steps("channels"):
            yield from situation.removed(at)
        for at, value in situation.places():
            axis = channels_of(value)
            if axis and value.shape[0 if axis == "first" else 2] == 3:
                yield from situation.inserted(at, "channels", order=(2, 1, 0), axis=axis)


plugin: Cause = Channels()

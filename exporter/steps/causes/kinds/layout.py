"""Channels first where training had them last, or axes that were reshaped and not turned."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.steps.causes.base import Cause, Situation, Trial


class Layout(Cause):
    """Turns the axes, leaves the turning out, or turns where the chain reshapes."""

    rank = 1

    def trials(self, situation: Situation) -> Iterator[Trial]:
        for at, _ in situation.steps("layout"):
            for order in ("chw", "hwc"):
                yield from situation.changed(at, to=order)
            yield from situation.removed(at)
        for at, _ in situation.steps("reshape"):
            for order in ("chw", "hwc"):
                yield from situation.instead(at, "layout", to=order)
        for at, value in situation.places():
            if value.ndim == 3:
                for order in ("chw", "hwc"):
                    yield from situation.inserted(at, "layout", to=order)


plugin: Cause = Layout()

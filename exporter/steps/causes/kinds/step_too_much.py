"""A step that training did not take."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.steps.causes.base import Cause, Situation, Trial


class StepTooMuch(Cause):
    """Leaves each step out."""

    rank = 3

    def trials(self, situation: Situation) -> Iterator[Trial]:
        for at in range(situation.agreed, len(situation.chain)):
            yield from situation.removed(at)


plugin: Cause = StepTooMuch()

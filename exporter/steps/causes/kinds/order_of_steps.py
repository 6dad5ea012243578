"""Two steps in the other order, such as padding before scaling."""

from __future__ import annotations

from collections.abc import Iterator

from exporter.steps.causes.base import Cause, Situation, Trial


class OrderOfSteps(Cause):
    """Exchanges each two neighbours."""

    rank = 2

    def trials(self, situation: Situation) -> Iterator[Trial]:
        for at in range(situation.agreed, len(situation.chain)):
            yield from situation.moved(at)


plugin: Cause = OrderOfSteps()

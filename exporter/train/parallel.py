"""Data-parallel training, seen from the main process: a child for each rank, begun again where one is lost."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial

from exporter.base.errors import ChildCrashed, RankLost
from exporter.process.pool import together
from exporter.process.workers import Json

#: How often the ranks are begun again where one was lost, from the last checkpoint or, before the first, anew.
AGAIN = 3


def train_on(ranks: int, job: Json, child: Callable[[Json], Json], again: Callable[[], Json]) -> Json:
    """Have a child train as each rank; what the first answers.

    `again` gives what the job says otherwise when all go on after one was lost.

    Raises:
        ExporterError: what the rank raised that failed by itself; one was killed each time.
        KeyboardInterrupt: interrupted; the state is saved.
    """
    left = AGAIN
    while True:
        endpoints = _endpoints(ranks)
        asked = [{**job, "rank": rank, "endpoints": endpoints} for rank in range(ranks)]
        found = together([partial(child, one) for one in asked])
        raised = [one for one in found if isinstance(one, BaseException)]
        if not raised:
            return next(one for one in found if not isinstance(one, BaseException))
        cause = min(raised, key=_how_far_from_the_cause)
        if not left or not isinstance(cause, (ChildCrashed, RankLost)):
            raise cause
        job, left = {**job, **again()}, left - 1


def _how_far_from_the_cause(raised: BaseException) -> int:
    """Of what the ranks raise, the others follow from one: an error of its own, or the end of its process."""
    kinds = (KeyboardInterrupt, RankLost, ChildCrashed)
    return next((place for place, kind in enumerate(reversed(kinds), 1) if isinstance(raised, kind)), 0)


def _endpoints(ranks: int) -> list[str]:
    """Free ports of this machine, one for each rank."""
    with ExitStack() as held:
        places = [held.enter_context(socket.socket()) for _ in range(ranks)]
        for place in places:
            place.bind(("127.0.0.1", 0))
        return [f"127.0.0.1:{place.getsockname()[1]}" for place in places]

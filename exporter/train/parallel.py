"""Data-parallel training, seen from the main process: a child for each rank, begun again where one is lost."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from exporter.base.errors import ChildCrashed, RankLost
from exporter.process.pool import together

if TYPE_CHECKING:
    from exporter.train.child import RunAnswer, RunRequest

#: How often the ranks are begun again where one was lost, from the last checkpoint or, before the first, anew.
AGAIN = 3


def train_on(
    ranks: int,
    request: RunRequest,
    child: Callable[[RunRequest], RunAnswer],
    again: Callable[[RunRequest], RunRequest],
) -> RunAnswer:
    """Have a child train as each rank; what the first answers.

    `again` gives the request with which all go on after one was lost.

    Raises:
        ExporterError: what the rank raised that failed by itself; one was killed each time.
        KeyboardInterrupt: interrupted; the state is saved.
    """
    left = AGAIN
    while True:
        endpoints = _endpoints(ranks)
        of_ranks = [replace(request, rank=rank, endpoints=endpoints) for rank in range(ranks)]
        answers = together([partial(child, of_rank) for of_rank in of_ranks])
        raised = [answer for answer in answers if isinstance(answer, BaseException)]
        if not raised:
            return next(answer for answer in answers if not isinstance(answer, BaseException))
        cause = min(raised, key=_how_far_from_the_cause)
        if not left or not isinstance(cause, (ChildCrashed, RankLost)):
            raise cause
        request, left = again(request), left - 1


def _how_far_from_the_cause(raised: BaseException) -> int:
    """Of what the ranks raise, the others follow from one: an error of its own, or the end of its process."""
    kinds = (KeyboardInterrupt, RankLost, ChildCrashed)
    return next((place for place, kind in enumerate(reversed(kinds), 1) if isinstance(raised, kind)), 0)


def _endpoints(ranks: int) -> tuple[str, ...]:
    """Free ports of this machine, one for each rank."""
    with ExitStack() as held:
        places = [held.enter_context(socket.socket()) for _ in range(ranks)]
        for place in places:
            place.bind(("127.0.0.1", 0))
        return tuple(f"127.0.0.1:{place.getsockname()[1]}" for place in places)

"""Run the declared steps of a chain on one sample, with what functions of the user's gave taken from a record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from exporter.base.errors import UsageError
from exporter.steps.base import State
from exporter.steps.chain import Chain, Function


@dataclass(frozen=True)
class Replayed:
    """The states of one sample, as far as the chain ran, and why it went no further: `error`.

    `stopped` says that a function of the user's stood there, of which nothing was recorded.
    """

    states: tuple[State, ...]
    error: str = ""
    stopped: bool = False


def replay(chain: Chain, state: State, recorded: Sequence[State] = (), since: int = 0) -> Replayed:
    """Run a chain from the state before its step `since`.

    `recorded` are the states of the whole chain, those before `since` among what comes out; of a function the one
    behind it counts, an empty one is none.
    """
    states: list[State] = [*recorded[:since], state]
    for at in range(since, len(chain)):
        link = chain[at]
        if isinstance(link, Function):
            known = recorded[at + 1] if at + 1 < len(recorded) else {}
            if not known:
                return Replayed(tuple(states), f"nothing was recorded of {link.name}", stopped=True)
            states.append(known)
            continue
        try:
            states.append(link.apply(states[-1]))
        except UsageError as error:
            return Replayed(tuple(states), f"{error.what}")
    return Replayed(tuple(states))

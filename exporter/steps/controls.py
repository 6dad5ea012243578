"""The controls of an agreement: changes of the deployment chain that the comparison has to notice."""

from __future__ import annotations

from collections.abc import Sequence

from exporter.steps.base import State
from exporter.steps.causes.base import Situation, Trial
from exporter.steps.chain import Chain
from exporter.steps.compare import Measure
from exporter.steps.replay import Replayed
from exporter.steps.search import again, size, trials

#: Changes of one step that are tried.
MOST_CONTROLS = 40


def controlled(
    deployment: Chain, recorded: Sequence[Sequence[State]], replayed: Sequence[Replayed], by: Measure
) -> tuple[str, tuple[str, ...]]:
    """A step no change of which would be noticed on any sample; and, as notes, the causes that would not be.

    The changes are those that the causes would try of a chain that differs from its first step on; a step left out is
    one as well. Of a chain that passes the first is empty.
    """
    order = sorted(range(len(recorded)), key=lambda at: size(recorded[at]))
    evidence = [(recorded[at], replayed[at]) for at in order]
    noticed: dict[str, bool] = {}
    for at, changes in enumerate(_changes(deployment, evidence[0])):
        seen = False
        for name, trial in changes[:MOST_CONTROLS]:
            if seen and noticed.get(name, not name):
                continue
            shown = any(_shows(trial, deployment, one, by) for one in evidence)
            seen |= shown
            if name:
                noticed[name] = noticed.get(name, False) or shown
        if not seen:
            return f"step {at + 1} ({deployment[at]})", ()
    blind = [name.replace("_", " ") for name, shown in sorted(noticed.items()) if not shown]
    return "", (f"the samples would not show a mistake of: {', '.join(blind)}",) if blind else ()


def _changes(deployment: Chain, one: tuple[Sequence[State], Replayed]) -> list[list[tuple[str, Trial]]]:
    """For each step the changes of it, each with its cause; first the one that leaves it out."""
    recorded, replayed = one
    situation = Situation(deployment, 0, replayed.states, recorded[1:], ())
    changes: list[list[tuple[str, Trial]]] = [
        [("", trial) for trial in situation.removed(at)] for at in range(len(deployment))
    ]
    for name, trial in trials(situation):
        if trial.at < len(changes) and len(trial.chain) <= len(deployment):
            changes[trial.at].append((name, trial))
    return changes


def _shows(trial: Trial, chain: Chain, one: tuple[Sequence[State], Replayed], by: Measure) -> bool:
    """Whether a changed chain gives something else, or nothing."""
    recorded, replayed = one
    changed = again(trial, replayed)
    if changed.stopped:  # in front of a function: what it gets differs
        at = len(changed.states) - 1 + len(chain) - len(trial.chain)
        return bool(by.unlike(replayed.states[at], changed.states[-1], dtypes=True))
    return bool(changed.error) or bool(by.unlike(recorded[-1], changed.states[-1], dtypes=True))

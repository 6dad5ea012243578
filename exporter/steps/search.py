"""Try the causes of a difference: the changes of the deployment chain after which it gives what training gave."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from exporter.base.errors import ExporterError
from exporter.base.registry import Registry
from exporter.steps.base import State
from exporter.steps.causes.base import Cause, Situation, Trial
from exporter.steps.chain import Chain
from exporter.steps.compare import Agreement, Measure, agreement
from exporter.steps.replay import Replayed, replay

CAUSES: Registry[Cause] = Registry("exporter.steps.causes", "cause")
#: Causes that are named one after the other where several mistakes were made.
MOST_CAUSES = 4
#: Seconds of processor time that the search may take: large pictures take long, and a limit ends the child.
MOST_SECONDS = 90.0


@dataclass(frozen=True)
class Evidence:
    """Both chains on the samples, the smallest first: on it a change is tried before it is on the others."""

    training: Chain
    recorded: Sequence[Sequence[State]]
    by: Measure

    def reached(self, samples: Sequence[Replayed]) -> Agreement:
        """How far a deployment chain agrees, of which these are the states."""
        return agreement(self.recorded[: len(samples)], samples, self.by)


@dataclass(frozen=True)
class Causes:
    """The changes that make two chains agree, one after the other: the cause of each by name, and what was changed.

    `whole` says that they then agree to the end; `at` is then the first step that they change.
    """

    told: tuple[tuple[str, str], ...] = ()
    whole: bool = False
    at: int = 0
    stopped: bool = False

    def __str__(self) -> str:
        said = " and ".join(f"{name.replace('_', ' ')} (with {change})" for name, change in self.told)
        if self.whole:
            return f"likely cause: {said}: then deployment gives what training gave"
        if self.told:
            return f"likely cause, in part: {said}; another difference remains behind it"
        if self.stopped:
            return "the search for a cause took too long and was stopped: name smaller samples"
        return "no known cause explains it: none of the changes that were tried makes the chains agree"


def likely_causes(
    training: Chain,
    deployment: Chain,
    recorded: Sequence[Sequence[State]],
    replayed: Sequence[Replayed],
    by: Measure,
) -> Causes:
    """What makes the chains differ: changes that make them agree to the end on all samples, or else further."""
    order = sorted(range(len(recorded)), key=lambda at: (not _whole(recorded[at]), size(recorded[at])))
    evidence = Evidence(training, [recorded[at] for at in order], by)
    now, chain = [replayed[at] for at in order], deployment
    end = time.process_time() + MOST_SECONDS
    told: list[tuple[str, str]] = []
    first: list[int] = []
    for _ in range(MOST_CAUSES):
        before = evidence.reached(now)
        step = _best(evidence, chain, (now, before), end)
        if step is None:
            break
        name, trial, now, after = step
        chain = trial.chain
        told.append((name, trial.said))
        first.append(trial.at)
        if after.whole:
            return Causes(tuple(told), whole=True, at=min(first))
    return Causes(tuple(told), stopped=time.process_time() > end)


def _whole(states: Sequence[State]) -> bool:
    return all(states)


def size(states: Sequence[State]) -> int:
    """How many numbers the states of a sample hold: the time that a trial takes grows with it."""
    return sum(value.size for state in states for value in state.values())


def _best(
    evidence: Evidence, chain: Chain, since: tuple[Sequence[Replayed], Agreement], end: float
) -> tuple[str, Trial, list[Replayed], Agreement] | None:
    """The change after which the chains agree furthest; of several that agree to the end the first."""
    now, before = since
    states, wanted = now[0].states, evidence.recorded[0][before.training + 1 :]
    situation = Situation(chain, before.deployment, states, wanted, evidence.training[before.training :])
    best: tuple[str, Trial, list[Replayed], Agreement] | None = None
    for name, trial in trials(situation):
        if time.process_time() > end:
            break
        first = again(trial, now[0])
        reached = evidence.reached([first])
        if not _further(reached, best[3] if best else before):
            continue
        every = [first, *(again(trial, one) for one in now[1:])]
        reached = evidence.reached(every)
        if _further(reached, best[3] if best else before):
            best = name, trial, every, reached
        if best and best[3].whole:
            return best
    return best


def _further(reached: Agreement, before: Agreement) -> bool:
    return (reached.whole, reached.training) > (before.whole, before.training)


def trials(situation: Situation) -> Iterator[tuple[str, Trial]]:
    """The changes of all causes by rank; within one other options before other steps, and the first steps first."""
    for rank in sorted({cause.rank for _, cause in CAUSES.all()}):
        found = [
            (name, trial) for name, cause in CAUSES.all() if cause.rank == rank for trial in cause.trials(situation)
        ]
        yield from sorted(found, key=lambda pair: (pair[1].edit, pair[1].at))


def again(trial: Trial, one: Replayed) -> Replayed:
    """One sample by a changed chain; what lies before the change is as it was.

    A function of the user's behind the change stops it: of what it would get now nothing was recorded.
    """
    if trial.at >= len(one.states):
        return one
    try:
        return replay(trial.chain, one.states[trial.at], one.states[: trial.at], trial.at)
    except ExporterError as error:  # a package that is not here
        return replace(one, states=one.states[: trial.at + 1], error=error.what)

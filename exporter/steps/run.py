"""Run a chain on samples, in children: functions of the user's in one that may import their code, all else in another.

A child only stores what each step gave. Who compares the values has imported none of the user's code.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import JsonValue

from exporter.base import tensors
from exporter.process.job import job
from exporter.process.scratch import scratch
from exporter.process.workers import SINGLE_THREAD, Setting, call, doing
from exporter.steps.base import State
from exporter.steps.chain import Chain, Function, data_of, read_chain, steps_of
from exporter.steps.material import below

if TYPE_CHECKING:
    from exporter.base.tensors import Array


@dataclass(frozen=True)
class RunRequest:
    """Run a part of a chain on `samples` samples, whose states lie in the file `given`; the new ones go to `into`.

    `chain` is the plain data of the part, `name` what the whole chain is called, and `start` how many of its steps come
    before the part.
    """

    chain: tuple[JsonValue, ...]
    given: Path
    into: Path
    name: str
    start: int
    samples: int


def run_chain(chain: Chain, states: Sequence[State], name: str, setting: Setting) -> list[list[State]]:
    """The states of each sample: the given one, then one after each step.

    Raises:
        UsageError: a step cannot take what it gets, or a function of the user's fails; the error names the step.
        EnvironmentLacks: a step needs a package that is not installed.
        ChildFailed, ChildCrashed, ChildTimedOut, ChildOutOfMemory: as :func:`exporter.process.workers.call`.
    """
    made: list[list[State]] = [[dict(state)] for state in states]
    for start, part in _parts(chain):
        setting.say(f"running the steps of {name}")
        last = [steps[-1] for steps in made]
        for steps, more in zip(made, _in_child(part, last, (name, start), setting), strict=True):
            steps += more
    return made


def _parts(chain: Chain) -> Iterator[tuple[int, Chain]]:
    """The chain cut where functions begin and end, each part with the place of its first step."""
    start = 0
    for _, links in itertools.groupby(chain, key=lambda link: isinstance(link, Function)):
        part = tuple(links)
        yield start, part
        start += len(part)


def _in_child(part: Chain, states: Sequence[State], named: tuple[str, int], setting: Setting) -> Iterator[list[State]]:
    with scratch() as place:
        given, into = place / "given.safetensors", place / "made.safetensors"
        save_states(given, states)
        request = RunRequest(tuple(data_of(part)), given, into, *named, samples=len(states))
        foreign = any(isinstance(link, Function) for link in part)
        limits = setting.limits if foreign else replace(setting.limits, code=None)
        call(child, request, limits, environment=SINGLE_THREAD, on_event=setting.on_event)
        made = tensors.load(into)
    for number in range(len(states)):
        yield [below(made, f"{number}/{step}") for step in range(len(part))]


@job
def child(request: RunRequest) -> None:
    """In a child: run the steps on each sample, and store the state after each under `<sample>/<step>/<name>`."""
    given = tensors.load(request.given)
    chain = read_chain(request.chain)
    made: dict[str, Array] = {}
    for number in range(request.samples):
        doing(f"running the steps of {request.name} on sample {number + 1}")
        states = steps_of(chain, below(given, str(number)), request.name, request.start)
        for step, state in enumerate(states):
            made |= {f"{number}/{step}/{name}": value for name, value in state.items()}
    tensors.save_scratch(request.into, made)


def save_states(path: Path, states: Sequence[State]) -> None:
    """Write states under `<number>/<name>`."""
    tensors.save_scratch(
        path, {f"{at}/{name}": value for at, state in enumerate(states) for name, value in state.items()}
    )


def load_states(path: Path) -> list[State]:
    """Read what :func:`save_states` wrote; raises as :func:`exporter.base.tensors.load`."""
    held = tensors.load(path)
    return [below(held, str(at)) for at in range(len({name.partition("/")[0] for name in held}))]

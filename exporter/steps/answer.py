"""Compare the answers that deployment makes of an artifact's outputs with those that training made of eager's.

An artifact's outputs differ from eager's by rounding, and a threshold or a largest score may lie just there. So where
an answer differs, the steps are also run on eager's outputs moved by as much as the outputs may differ: a number of the
answer that these moves change is on the edge, and shows nothing. All other numbers of that answer are compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from exporter.process.job import job
from exporter.process.workers import doing
from exporter.steps.base import VALUE, State
from exporter.steps.chain import Chain, read_chain
from exporter.steps.compare import Measure, allowed, distances
from exporter.steps.judge import Finding, Judged
from exporter.steps.material import Material, behind_model
from exporter.steps.replay import replay
from exporter.steps.run import load_states

#: How often eager's outputs are moved in each direction (:func:`_signs`).
_ROUNDS = 8


@dataclass(frozen=True)
class AnswerRequest:
    """Both chains after the model, as the spec has them, the file of the samples, and that of a run's outputs (`made`).

    `moves` says how far each output may be from eager's: a share of its largest value in a sample, and the least that
    is allowed.
    """

    training: tuple[Any, ...]
    deployment: tuple[Any, ...]
    material: Path
    made: Path
    moves: Mapping[str, tuple[float, float]]


@job
def judge(request: AnswerRequest) -> Judged:
    """Judge the answers of one run.

    Raises:
        BundleError, UsageError: a file is damaged, or a chain cannot be read.
    """
    chains = (read_chain(request.training), read_chain(request.deployment))
    finding = judged(chains, Material.read(request.material), load_states(request.made), request.moves)
    return Judged.of(finding)


def judged(
    chains: tuple[Chain, Chain], material: Material, outputs: Sequence[State], moves: Mapping[str, Sequence[float]]
) -> Finding:
    """The finding on a run's outputs: each number of an answer is training's, or lies on the edge."""
    training, deployment = chains
    compared: list[_Compared] = []
    for number in material.numbers:
        doing(f"judging the answer to sample {number + 1}")
        wanted = material.states("after", "training", number, len(training))[-1]
        given = replay(deployment, behind_model(outputs[number], material.outputs))
        if given.error:
            return Finding("mismatch", f"the steps cannot run on sample {number + 1}: {given.error}")
        edge = np.zeros(wanted[VALUE].shape, bool)
        if difference := Measure().unlike(wanted, given.states[-1], dtypes=True):
            moved = _moved(deployment, material.start("after", number), moves)
            edge = _explained(wanted[VALUE], given.states[-1][VALUE], moved)
            if edge is None:
                said = f"the answer to sample {number + 1} is another than training's: {difference}"
                return Finding("mismatch", said)
        compared.append(_Compared(number + 1, wanted[VALUE], edge))
    return _weighed(compared)


@dataclass(frozen=True)
class _Compared:
    """Training's answer to a sample, and which of its numbers lie on an edge."""

    number: int
    answer: Any
    edge: Any

    def shows_the_same_as(self, other: _Compared) -> bool:
        """Whether no number tells the answers apart that was compared in both."""
        if self.answer.shape != other.answer.shape:
            return False
        answer = np.where(self.edge | other.edge, other.answer, self.answer)
        return not Measure().unlike({VALUE: other.answer}, {VALUE: answer})

    def __str__(self) -> str:
        on_edge = int(self.edge.sum())
        part = f" ({on_edge} of {self.edge.size} numbers)" if on_edge < self.edge.size else ""
        return f"{self.number}{part}"


def _weighed(compared: Sequence[_Compared]) -> Finding:
    """A match where an answer was compared, and another one would have been noticed."""
    edges = [one for one in compared if one.edge.any()]
    elements = sum(int((~one.edge).sum()) for one in compared)
    if not elements:
        said = "no answer was compared" if not edges else "every answer lies on an edge, where rounding decides"
        return Finding("inconclusive", f"{said}: give other samples")
    shown = [one for one in compared if not one.edge.all()]
    if len(shown) > 1 and all(one.shows_the_same_as(shown[0]) for one in shown[1:]):
        return Finding("vacuous", "every sample has the same answer, so any other model may pass: give other samples")
    listed = ", ".join(map(str, edges))
    notes = [f"the answers to samples {listed} lie on an edge, where rounding decides"] if edges else []
    return Finding("match", elements=elements, notes=notes)


def _explained(wanted: Any, given: Any, moved: Iterable[State]) -> Any:
    """Which numbers of an answer that differs lie on an edge; None where moves do not explain each difference.

    A float may differ twice as far as that number does when eager's outputs are moved; it lies on no edge. A whole
    number lies on one where it differs and a move changes it; all of an answer where a move changes how many it holds.
    """
    floats = wanted.dtype.kind == "f"
    if given.dtype != wanted.dtype or (floats and given.shape != wanted.shape):
        return None
    if given.shape != wanted.shape:
        return np.ones(wanted.shape, bool) if any(state[VALUE].shape != wanted.shape for state in moved) else None
    distance, least, reach = distances(wanted, given), allowed(wanted, given), np.zeros(wanted.shape)
    for state in moved:
        if state[VALUE].shape == wanted.shape:
            reach = np.maximum(reach, distances(wanted, state[VALUE]))
            limit = np.maximum(2 * reach, least) if floats else np.where(reach > 0, np.inf, 0.0)
            if (distance <= limit).all():
                return np.zeros(wanted.shape, bool) if floats else distance > 0
    return None


def _moved(chain: Chain, outputs: State, moves: Mapping[str, Sequence[float]]) -> Iterator[State]:
    """What the steps make of eager's outputs, each number moved by its move, up or down."""
    floats = {name: value for name, value in outputs.items() if name in moves and value.dtype.kind == "f"}
    most = {name: _move(value, *moves[name]) for name, value in floats.items()}
    rng = np.random.default_rng(0)
    for direction in range(_ROUNDS * (2 + max((value.ndim for value in floats.values()), default=0))):
        state = {
            name: value + most[name] * _signs(rng, value, direction) if name in most else value
            for name, value in outputs.items()
            if name != VALUE
        }
        first = next(name for name, value in outputs.items() if name != VALUE and value is outputs[VALUE])
        again = replay(chain, {VALUE: state[first], **state})
        if not again.error:
            yield again.states[-1]


def _signs(rng: np.random.Generator, value: Any, direction: int) -> Any:
    """Which numbers go up and which down: each by itself, or together along all axes but one, or all together.

    A step that averages undoes moves that are each by themselves; one that compares neighbours those that are not.
    """
    kind = direction % (value.ndim + 2)
    own = [size if kind in (0, axis) else 1 for axis, size in enumerate(value.shape, 1)]
    return np.broadcast_to(rng.choice([-1.0, 1.0], own).astype(value.dtype), value.shape)


def _move(value: Any, share: float, least: float) -> float:
    """A share of the largest finite number, at least `least`."""
    return max(least, share * float(np.abs(value[np.isfinite(value)]).max(initial=0.0)))

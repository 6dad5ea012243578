"""Compare the answers that deployment makes of an artifact's outputs with those that training made of eager's.

An artifact's outputs differ from eager's by rounding, and a threshold or a largest score may lie just there. So the
steps are also run on eager's outputs moved by as much as the outputs may differ: an answer that these moves change is
on the edge, and shows nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from exporter.steps.base import VALUE, State
from exporter.steps.chain import Chain, read_chain
from exporter.steps.compare import Measure
from exporter.steps.judge import Finding
from exporter.steps.material import Material, behind_model
from exporter.steps.replay import replay
from exporter.steps.run import load_states
from exporter.workers import Json, doing

#: How often eager's outputs are moved.
_MOVES = 8


def judge(request: Json) -> Json:
    """In a child: judge the answers of one run; `made` holds its outputs, `moves` how far each may be from eager's.

    A move is a share of the output's largest value in a sample, and the least that is allowed.
    """
    material = Material.read(Path(request["material"]))
    outputs = load_states(Path(request["made"]))
    chains = (read_chain(request["training"]), read_chain(request["deployment"]))
    finding = judged(chains, material, outputs, request["moves"])
    return {"outcome": finding.outcome, "reason": finding.reason, "elements": finding.elements, "notes": finding.notes}


def judged(
    chains: tuple[Chain, Chain], material: Material, outputs: Sequence[State], moves: Mapping[str, Sequence[float]]
) -> Finding:
    """The finding on a run's outputs: each answer is training's, or lies on the edge."""
    training, deployment = chains
    elements, edges, answers = 0, [], []
    for number in material.numbers:
        doing(f"judging the answer to sample {number + 1}")
        wanted = material.states("after", "training", number, len(training))[-1]
        given = replay(deployment, behind_model(outputs[number], material.outputs))
        if given.error:
            return Finding("mismatch", f"the steps cannot run on sample {number + 1}: {given.error}")
        moved = list(_moved(deployment, material.start("after", number), moves))
        difference = _unlike(wanted, given.states[-1], moved)
        if not difference:
            answers.append(wanted[VALUE])
            elements += wanted[VALUE].size
        elif any(Measure().unlike(wanted, state) for state in moved) and wanted[VALUE].dtype.kind != "f":
            edges.append(number + 1)
        else:
            return Finding("mismatch", f"the answer to sample {number + 1} is another than training's: {difference}")
    return _weighed(elements, edges, answers)


def _weighed(elements: int, edges: Sequence[int], answers: Sequence[Any]) -> Finding:
    """A match where an answer was compared, and another one would have been noticed."""
    if not elements:
        said = "no answer was compared" if not edges else "every answer lies on an edge, where rounding decides"
        return Finding("inconclusive", f"{said}: give other samples")
    notes = (
        [f"the answers to samples {', '.join(map(str, edges))} lie on an edge, where rounding decides"] if edges else []
    )
    if len(answers) > 1 and all(not Measure().unlike({VALUE: answers[0]}, {VALUE: one}) for one in answers[1:]):
        return Finding("vacuous", "every sample has the same answer, so any other model may pass: give other samples")
    return Finding("match", elements=elements, notes=notes)


def _moved(chain: Chain, outputs: State, moves: Mapping[str, Sequence[float]]) -> Iterator[State]:
    """What the steps make of eager's outputs, each number moved at random by at most its move."""
    floats = {name: value for name, value in outputs.items() if name in moves and value.dtype.kind == "f"}
    most = {name: _move(value, *moves[name]) for name, value in floats.items()}
    rng = np.random.default_rng(0)
    for _ in range(_MOVES):
        state = {
            name: value + rng.uniform(-1, 1, value.shape).astype(value.dtype) * most[name] if name in most else value
            for name, value in outputs.items()
            if name != VALUE
        }
        first = next(name for name, value in outputs.items() if name != VALUE and value is outputs[VALUE])
        again = replay(chain, {VALUE: state[first], **state})
        if not again.error:
            yield again.states[-1]


def _move(value: Any, share: float, least: float) -> float:
    """A share of the largest finite number, at least `least`."""
    return max(least, share * float(np.abs(value[np.isfinite(value)]).max(initial=0.0)))


def _unlike(wanted: State, given: State, moved: Sequence[State]) -> str:
    """In what an answer differs; numbers may differ twice as far as eager's own do when its outputs are moved."""
    difference = Measure().unlike(wanted, given, dtypes=True)
    value, other = wanted[VALUE], given[VALUE]
    if not difference or value.dtype.kind != "f" or value.shape != other.shape or value.dtype != other.dtype:
        return difference
    spread = [np.abs(state[VALUE] - value).max() for state in moved if state[VALUE].shape == value.shape]
    distance = np.abs(other - value).max()
    return "" if spread and distance <= 2 * max(spread) else difference

"""Own error and inherited error: which operator went wrong elsewhere by itself, and which hands on what came in wrong.

Each node of our file computes once more from the values that came from elsewhere. What it then gives differs from what
came as its value by its *own* error there; and from what it gives here by what it has *inherited*. With the source at
hand the sublayer and the line of the user's code are named as for any engine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from exporter.base.errors import ExporterError, UsageError
from exporter.base.numbers.golden import GoldenCase
from exporter.base.numbers.norms import FLOOR
from exporter.base.tensors import Array, TensorMap
from exporter.base.words import plain
from exporter.deploy.elsewhere.answers import Due, Fault, read_answer
from exporter.deploy.elsewhere.causes.inputs import Runs
from exporter.deploy.elsewhere.inside import Computed, computed_from, values_inside
from exporter.process.scratch import scratch
from exporter.prove.compare.apart import relative_error
from exporter.prove.root_cause.find import describe
from exporter.prove.root_cause.locate import SLACK, distances, locate_by
from exporter.prove.root_cause.own.given import NodeFacts
from exporter.prove.root_cause.program import tap_of
from exporter.prove.root_cause.witness import Witnesses
from exporter.prove.verdict.blame import Blame
from exporter.prove.verdict.claim import Claim

#: The folder of the values within that of the answers.
FOLDER = "layers"
#: What one operator may err by itself, relative to its output: float32's floor as in the rule, half a unit of float16
#: through a sum of some hundreds, a step of int8.
ALLOWED = {"fp32": 16 * SLACK * FLOOR, "fp16": 2.0**-7}
ALLOWED_OTHERWISE = 2.0**-3
#: Operators that a report lists.
_LISTED = 8


@dataclass(frozen=True)
class LayerError:
    """A value inside the model: the node behind it, and its own and its inherited error, relative to its size."""

    value: str
    node: NodeFacts
    own: float
    inherited: float

    def __str__(self) -> str:
        where = f" of {self.node.sublayer}" if self.node.sublayer else ""
        number = f", operator {self.node.operator}" if self.node.operator else ""
        return plain(
            f"{self.node.kind} {self.value}{where}{number}: own error {self.own:.2g}, inherited {self.inherited:.2g}"
        )


@dataclass(frozen=True)
class Layers:
    """What came of the values inside: every value that could be judged, in the order of the graph, and the blame.

    `notes` are sentences for the report.
    """

    errors: tuple[LayerError, ...]
    notes: tuple[str, ...]
    blame: Blame | None = None


def smallest(
    selected: Sequence[tuple[int, GoldenCase]], inputs: Mapping[str, tuple[int, ...]]
) -> tuple[int, GoldenCase]:
    """The case whose layers a kit asks for: the first that the spec promises, of the smallest inputs.

    `inputs` holds the shape of each recorded input by its key, `batch=1/input/image`.
    """

    def amount(pair: tuple[int, GoldenCase]) -> int:
        own = f"{pair[1].recorded}/input/"
        return sum(int(np.prod(shape)) for key, shape in inputs.items() if key.startswith(own))

    return min(selected, key=lambda pair: (":" in pair[1].name, amount(pair), pair[0]))


def answered(folder: Path, selected: Sequence[tuple[int, GoldenCase]], first: str) -> tuple[int, GoldenCase] | None:
    """The case whose values lie in the folder's layers, told by the number that their names begin with.

    Of several the one called `first`, else the first that was asked for; None where there is none.
    """
    place = folder / FOLDER
    names = [path.name for path in place.iterdir()] if place.is_dir() and not place.is_symlink() else []
    numbers = {name.partition(".")[0] for name in names}
    answered = [case for case in selected if str(case[0]) in numbers]
    return min(answered, key=lambda case: (case[1].name != first, case[0]), default=None)


def judge_layers(
    folder: Path, case: tuple[int, GoldenCase], runs: Runs, claim: Claim, witnesses: Witnesses | None
) -> Layers:
    """Judge the values in `folder`/layers of one case; `claim` is the one to blame for, `witnesses` the source.

    Raises:
        UsageError: no value came at all.
        ExporterError: our own engine does not show its intermediate values.
    """
    ours = values_inside(runs, case[1].name)
    theirs, faults = _read(folder / FOLDER, case[0], _names(runs), ours)
    if not theirs:
        hint = "exporter kit BUNDLE --layers, and run its programs with the argument layers"
        raise UsageError("no intermediate value came", where=str(folder / FOLDER), hint=faults[0] if faults else hint)
    fixed = {**{name: ours[name] for name in runs.bench.inputs}, **theirs}
    with np.errstate(all="ignore"):
        computed = computed_from(runs, fixed, anew=True)
        errors = () if isinstance(computed, str) else tuple(_errors(computed, theirs, ours))
    notes = [f"layers: {len(theirs)} of {len(_names(runs))} values came, {len(errors)} of them were computed anew"]
    notes += [f"layers: {fault}" for fault in faults[:_LISTED]]
    if isinstance(computed, str):
        return Layers((), (*notes, f"layers: no node could be computed anew: {computed}"))
    listed = sorted(errors, key=lambda layer: -layer.own)[:_LISTED]
    notes += [f"layers: {layer}" for layer in listed]
    wrong = _first_wrong(errors, claim.precision)
    blame = _blame(wrong, claim) if wrong else None
    if blame is not None and witnesses is not None:
        blame = _with_line(blame, case[1], {**ours, **theirs}, (runs, witnesses))
    if blame is None:
        notes.append("layers: no operator errs by itself beyond what its precision explains")
    return Layers(errors, tuple(notes), blame)


def _names(runs: Runs) -> tuple[str, ...]:
    """The outputs of a kit's layers, in the order of their numbers."""
    artifact = runs.bench.artifacts[runs.variant]
    with scratch() as place:
        return tap_of(artifact.format)((runs.bench.folder / artifact.main).parent, place)


def _read(folder: Path, number: int, names: Sequence[str], ours: TensorMap) -> tuple[dict[str, Array], list[str]]:
    """The values that came and fit, by name, and why others do not."""
    theirs: dict[str, Array] = {}
    faults = []
    for place, name in enumerate(names):
        if name not in ours:
            continue
        due = Due(number, place, ours[name].dtype.name, ours[name].shape)
        value, _ = read_answer(folder, due)
        if isinstance(value, Fault):
            faults += [] if value.missing else [value.reason]
        elif (value.dtype, value.shape) != (ours[name].dtype, ours[name].shape):
            faults.append(
                f"{due.stem} is {value.dtype.name}{list(value.shape)}, and {name} {due.dtype}{list(due.shape)}"
            )
        else:
            theirs[name] = value
    return theirs, faults


def _errors(computed: Computed, theirs: TensorMap, ours: TensorMap) -> list[LayerError]:
    errors = []
    for name, node in computed.nodes.items():
        if name in computed.values and name in theirs:
            anew = computed.values[name]
            errors.append(LayerError(name, node, relative_error(anew, theirs[name]), relative_error(ours[name], anew)))
    return errors


def _first_wrong(errors: Sequence[LayerError], precision: str) -> LayerError | None:
    """The first operator that errs by itself more than its precision explains, and not far less than the worst."""
    allowed = ALLOWED.get(precision, ALLOWED_OTHERWISE)
    worst = max((layer.own for layer in errors), default=0.0)
    least = max(allowed, worst / 10 if np.isfinite(worst) else allowed)
    return next((layer for layer in errors if layer.own > least), None)


def _blame(wrong: LayerError, claim: Claim) -> Blame:
    return Blame(
        claim=claim,
        stage="engine",
        reason=f"its own error; {wrong}",
        path=plain(wrong.node.sublayer.replace("/", ".")) or ".",
        kind=plain(wrong.node.kind),
        error_ratio=wrong.own / FLOOR if np.isfinite(wrong.own) else None,
        inputs_ratio=wrong.inherited / FLOOR if np.isfinite(wrong.inherited) else None,
    )


def _with_line(blame: Blame, case: GoldenCase, values: TensorMap, at_hand: tuple[Runs, Witnesses]) -> Blame:
    """The blame with the sublayer and the line of the user's code, where the source shows where values part."""
    runs, witnesses = at_hand
    try:
        witness = witnesses.of(case.name)
        if isinstance(witness, str):
            return blame
        allowed = ALLOWED.get(blame.claim.precision, ALLOWED_OTHERWISE) / FLOOR / SLACK
        budget = max(runs.bench.budget, allowed)
        distance = distances(witness, values, budget)
        place, _ = locate_by(witness.observed, distance, budget, folded=runs.bench.folds(runs.variant))
    except ExporterError:
        return blame
    return blame if place is None else describe(blame.claim, (blame.stage, blame.reason), place, witness.observed)

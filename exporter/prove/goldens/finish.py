"""What was recorded of a model is measured and judged here, in a process that has not imported it.

The child that runs the model (:mod:`exporter.prove.goldens.child`) hands over arrays: inputs, eager's outputs, the
float64 truth, and the float32 runs with moved weights. Scales, errors, gates and which cases tell anything follow from
them, and the code of a model can do nothing to that.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from exporter.base.numbers.golden import SPREAD, ZERO, GoldenCase, is_argmax, may_be_partial, read_cases
from exporter.base.numbers.norms import FLOOR, SMALLEST_SCALE, WORST_E_REF, error, norms
from exporter.base.numbers.partial import counting
from exporter.base.numbers.sample import SAMPLE, places_of, sampled, sampled_steps
from exporter.base.tensors import Array, TensorMap, load, save
from exporter.prove.compare.informative import AMONG_EQUALS
from exporter.prove.compare.outputs import compare_case
from exporter.prove.goldens.cases import Case, plan_cases
from exporter.prove.goldens.telling import in_order, untelling
from exporter.prove.goldens.truth import UNTOLD, Truth, measured, measured_in_part
from exporter.prove.verdict.claim import Outcome
from exporter.spec.model import Spec

if TYPE_CHECKING:
    from exporter.prove.goldens.record import RecordAnswer, RecordedCase

#: How the keys of what eager gives by another choice among equal elements begin, behind their case.
OTHERWISE = "otherwise"
#: How a note ends that forbids to compute the rows of several requests in one run.
DEPENDENT_ROWS = "a row's result depends on the other rows of its batch"


@dataclass(frozen=True)
class Scores:
    """The output and the axis whose argmax an integer output is."""

    output: str
    axis: int


@dataclass(frozen=True)
class OutputFacts:
    """What the manifest says of one output of a case, in its order and by its names."""

    dtype: str
    shape: tuple[int, ...]
    exact: bool
    scale_max: float
    scale_l2: float
    e_ref_max: float
    e_ref_l2: float
    allowance: float
    method: str
    gate: str
    scores: Scores | None = None
    constant: bool = False
    sized: bool = False
    settled: bool = False


@dataclass(frozen=True)
class CaseFacts:
    """What the manifest says of one case, in its order and by its names."""

    name: str
    dims: Mapping[str, int]
    seed: int
    outputs: Mapping[str, OutputFacts]

    def with_output(self, name: str, output: OutputFacts) -> CaseFacts:
        """The same with other facts of one output."""
        return replace(self, outputs={**self.outputs, name: output})


@dataclass(frozen=True)
class Finished:
    """What the manifest says: of each case, of those that tell nothing, of all that were left out, and of the model."""

    cases: tuple[CaseFacts, ...]
    untelling: tuple[CaseFacts, ...]
    left_out: Mapping[str, str]
    notes: Sequence[str]


@dataclass
class Recorded:
    """One case: what the manifest says of it, its tensors by their keys in the goldens, and why eager is not stable.

    `tied` names the operators that chose between equal elements, and `otherwise` holds what eager gives if they choose
    others of these. `settled` are outputs that every draw at its sizes gives alike.
    """

    case: Case
    facts: CaseFacts
    tensors: dict[str, Array]
    unstable: str = ""
    tied: str = ""
    otherwise: Sequence[TensorMap] = field(default_factory=list)
    settled: tuple[str, ...] = ()

    def inputs(self) -> dict[str, Array]:
        """Its inputs by their own names."""
        start = f"{self.case.name}/input/"
        return {key.removeprefix(start): value for key, value in self.tensors.items() if key.startswith(start)}


def finish(
    spec: Spec,
    answer: RecordAnswer,
    scratch: Path,
    into: Path,
    constants: Sequence[str] = (),
    sized: Sequence[str] = (),
) -> Finished:
    """Measure what the child has left in the folder `scratch`, and write the goldens to the file `into`.

    `constants` are outputs that no input decides, `sized` those that nothing but sizes decides.
    """
    kinds = {case.name: case for case in plan_cases(spec)}
    recorded = []
    for number, left in enumerate(answer.cases):
        case = kinds.get(left.name) or Case(left.name, left.dims, left.seed, "search")
        path, unstable = scratch / f"{number}.safetensors", answer.unstable.get(case.name, "")
        record = measured_again(case, left, unstable, path)
        record.tied = answer.tied.get(case.name, "")
        record.settled = left.settled
        recorded.append(record)
    note_valueless(recorded, constants, sized)
    note_borne_out(recorded)
    note_scores(recorded)
    note_ties(recorded, spec.budget)
    whole = {key: value for record in recorded for key, value in record.tensors.items()}
    kept = bounded(whole, spec.golden_mb, spec.seed)
    goldens = in_order(read_cases(kept, [asdict(record.facts) for record in recorded]), spec)
    silent = untelling(goldens, spec.budget)
    save(into, kept)
    return Finished(
        tuple(record.facts for record in recorded if record.case.name not in silent),
        tuple(record.facts for record in recorded if record.case.name in silent),
        {**answer.left_out, **silent},
        batch_note(recorded) if answer.whole else [],
    )


def measured_again(case: Case, left: RecordedCase, unstable: str, path: Path) -> Recorded:
    """One case from its arrays: nothing that the child has said of their numbers is taken over."""
    arrays = load(path)
    golden = tuple(f"{case.name}/{kind}/" for kind in ("input", "eager", "truth"))
    tensors = {key: value for key, value in arrays.items() if key.startswith(golden)}
    otherwise: dict[str, dict[str, Array]] = {}
    for key, value in arrays.items():
        if key.startswith(f"{case.name}/{OTHERWISE}"):
            number, _, name = key.removeprefix(f"{case.name}/").partition("/")
            otherwise.setdefault(number, {})[name] = value
    outputs = {}
    for name, method in left.methods.items():
        eager = tensors[f"{case.name}/eager/{name}"]
        outputs[name] = describe(eager, _truth(case.name, name, arrays, method), unstable, may_be_partial(case.name))
    facts = CaseFacts(left.name, left.dims, left.seed, outputs)
    return Recorded(case, facts, tensors, unstable, otherwise=list(otherwise.values()))


def _truth(case: str, name: str, arrays: Mapping[str, Array], method: str) -> Truth:
    eager = arrays[f"{case}/eager/{name}"]
    if eager.dtype.kind != "f":
        return Truth(eager, 0.0, 0.0, "exact")
    if method == UNTOLD:
        return Truth(arrays[f"{case}/truth/{name}"], math.inf, math.inf, method)
    runs = [
        value for key, value in sorted(arrays.items()) if key.startswith(f"{case}/run") and key.endswith(f"/{name}")
    ]
    exact = None if method.startswith(SPREAD) else arrays[f"{case}/truth/{name}"]
    if may_be_partial(case):
        return measured_in_part([eager, *runs], exact, method, method)
    return measured([eager, *runs], exact, method)


def goldens_of(recorded: Sequence[Recorded]) -> tuple[GoldenCase, ...]:
    """The recorded cases as they will be read from the bundle."""
    return read_cases(
        {key: value for record in recorded for key, value in record.tensors.items()},
        [asdict(record.facts) for record in recorded],
    )


def note_valueless(recorded: list[Recorded], constants: Sequence[str], sized: Sequence[str]) -> None:
    """Say of each output that no input decides it, or sizes alone, or those of its case; then zero is an answer."""
    for record in recorded:
        for name, about in record.facts.outputs.items():
            by_sizes, settled = name in sized, name in record.settled
            held = (record.tensors.get(f"{record.case.name}/{kind}/{name}") for kind in ("eager", "truth"))
            zero = not any(value.any() for value in held if value is not None)
            gate = "" if zero and (by_sizes or settled) and about.gate == ZERO.format(0.0) else about.gate
            noted = replace(about, constant=name in constants, sized=by_sizes, settled=settled, gate=gate)
            record.facts = record.facts.with_output(name, noted)


def note_borne_out(recorded: list[Recorded]) -> None:
    """Take back what the numbers do not bear out of what sizes are said to decide; then zero is no answer."""
    for record, golden in zip(recorded, goldens_of(recorded), strict=True):
        for name, about in record.facts.outputs.items():
            output = golden.outputs[name]
            if (about.sized, about.settled) != (output.sized, output.settled):
                gate = about.gate or (output.gate if output.gate == ZERO.format(0.0) else "")
                shown = replace(about, sized=output.sized, settled=output.settled, gate=gate)
                record.facts = record.facts.with_output(name, shown)


def note_scores(recorded: list[Recorded]) -> None:
    """Say of each integer output whose argmax it is, where it is one in every case."""
    eagers = [
        {name: record.tensors[f"{record.case.name}/eager/{name}"] for name in record.facts.outputs}
        for record in recorded
    ]
    for name, (score, axis) in find_scores(eagers).items():
        for record in recorded:
            scored = replace(record.facts.outputs[name], scores=Scores(score, axis))
            record.facts = record.facts.with_output(name, scored)


def note_ties(recorded: Sequence[Recorded], budget: float) -> None:
    """Close the gate of each output that would not pass if another of equal elements were chosen."""
    for record in recorded:
        if record.otherwise:
            (golden,) = goldens_of([record])
            alone = {name: [output] for name, output in golden.outputs.items()}
            judged = [compare_case(golden, answer, budget, alone) for answer in record.otherwise]
            gate = f"{AMONG_EQUALS} {record.tied} takes, and Paddle promises no order"
            for name, about in record.facts.outputs.items():
                if any(evidence[name].outcome is Outcome.MISMATCH for evidence in judged):
                    record.facts = record.facts.with_output(name, replace(about, gate=gate))


def find_scores(cases: Sequence[TensorMap]) -> dict[str, tuple[str, int]]:
    """For each integer output, the float output and axis whose argmax it is in every case; others are left out."""
    scores: dict[str, tuple[str, int]] = {}
    first = cases[0]
    integers = [name for name, value in first.items() if value.dtype.kind in "iu"]
    for name in integers:
        for score in first:
            for axis in range(first[score].ndim):
                telling = [case for case in cases if np.isfinite(case[score]).all()]
                if telling and all(is_argmax(case[name], case[score], axis) for case in telling):
                    scores.setdefault(name, (score, axis))
    return scores


def batch_note(recorded: list[Recorded]) -> list[str]:
    """Whether a row's result depends on the other rows of its batch: a property of the model, worth knowing."""
    alone = next((record for record in recorded if record.case.kind == "one_row"), None)
    batch = recorded[0]
    exact = all(about.method.startswith(("float64", "exact")) for about in batch.facts.outputs.values())
    if alone is None or not exact:
        return []
    dependent = []
    for name, about in alone.facts.outputs.items():
        key = "eager" if about.exact else "truth"
        row, rows = (record.tensors[f"{record.case.name}/{key}/{name}"] for record in (alone, batch))
        if row.shape[:1] == (1,) and rows.shape[1:] == row.shape[1:] and not _close(rows[:1], row):
            dependent.append(name)
    return [f"in {', '.join(dependent)} {DEPENDENT_ROWS}"] if dependent else []


def _close(value: Array, other: Array) -> bool:
    """Equal but for float64's rounding, which may differ between batches (3e-13 measured on 88 networks)."""
    return bool(error(value, other)[0] <= 1e-9)


def describe(eager: Array, truth: Truth, unstable: str, partial: bool = False) -> OutputFacts:
    """What the manifest says of one output; `unstable` is why eager cannot be trusted, empty where it can.

    Of a `partial` case the rows count that have an answer.
    """
    exact = eager.dtype.kind != "f"
    counts = counting(eager, truth.value) if partial and not exact else np.ones(eager.shape, bool)
    held = truth.value[counts]
    scale = (0.0, 0.0) if exact else norms(held)
    gate = unstable or ("" if exact else _gate(eager[counts], held, truth, scale))
    sound = [np.isfinite(number) for number in (*scale, truth.e_ref_max, truth.e_ref_l2)]
    finite = all(sound)  # JSON has no infinity; where the gate is shut the numbers serve nothing
    return OutputFacts(
        dtype=eager.dtype.name,
        shape=tuple(eager.shape),
        exact=exact,
        scale_max=scale[0] if finite else 0.0,
        scale_l2=scale[1] if finite else 0.0,
        e_ref_max=truth.e_ref_max if finite else 0.0,
        e_ref_l2=truth.e_ref_l2 if finite else 0.0,
        allowance=truth.allowance,
        method=truth.method,
        gate=gate,
    )


def _gate(eager: Array, held: Array, truth: Truth, scale: tuple[float, float]) -> str:
    """Why this output of this case cannot prove anything; empty where it can. Comes before bit equality."""
    if not np.isfinite(eager).all():
        return "eager is not finite"
    if not np.isfinite(held).all():
        return "float64 is not finite"
    if eager.size and scale[0] < SMALLEST_SCALE:
        return ZERO.format(scale[0])
    if not 4 * max(truth.e_ref_max, truth.e_ref_l2, FLOOR) <= WORST_E_REF:
        return f"rounding alone moves it by {truth.e_ref_max:.1e} of its size"
    return ""


def bounded(tensors: Mapping[str, Array], megabytes: float, seed: int, *, steps: bool = False) -> dict[str, Array]:
    """Keep a seeded sample of the largest outputs until all fit, of a decoder's steps one of all; inputs stay whole.

    With each sample goes the place where eager errs most, which its recorded error is held against.
    """
    kept = dict(tensors)
    sizes = {key: (value.size, value.nbytes) for key, value in tensors.items()}
    keys, most = sampled_steps(sizes, megabytes) if steps else (sampled(sizes, megabytes), SAMPLE)
    for key in keys:
        eager, truth = tensors[key], key.replace("/eager/", "/truth/")
        answered = None
        if may_be_partial(key.partition("/")[0]) and eager.dtype.kind == "f":
            answered = np.flatnonzero(counting(eager, tensors[truth]))
        index = places_of(eager.size, seed, answered, most)
        if truth in tensors:
            errors = np.abs(eager - tensors[truth]).ravel()
            judged = np.arange(errors.size) if answered is None else answered
            index = np.union1d(index, judged[[np.nan_to_num(errors[judged], nan=-1.0).argmax()]])
        kept[key.replace("/eager/", "/index/")] = index
        for tensor in (key, truth):
            if tensor in tensors:
                kept[tensor] = tensors[tensor].ravel()[index]
    return kept

"""The child's side of the goldens: draw the cases, run eager and the oracle, write what a bundle keeps."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from exporter.engines.base import EngineRefused
from exporter.errors import ModelError
from exporter.parity.cases import Case, plan_cases
from exporter.parity.controls import amplified
from exporter.parity.coverage import Coverage, TooLong
from exporter.parity.domain import OutOfRange
from exporter.parity.explore import PATIENCE, RECORDING, TRYING, Allowance, attempts
from exporter.parity.golden import read_case
from exporter.parity.informative import doubts, eager_judged, runs_of, still_open
from exporter.parity.margin import find_scores
from exporter.parity.norms import FLOOR, SMALLEST_SCALE, WORST_E_REF, error, norms
from exporter.parity.oracle import Oracle, Truth, make_oracle
from exporter.parity.values import Rows, content, draw, real_rows
from exporter.parity.verdict import Outcome
from exporter.references import short
from exporter.spec.model import Spec
from exporter.tensors import Array, save
from exporter.trace.layer import load_layer
from exporter.trace.traced import bind_inputs
from exporter.workers import doing

#: After so many cases it is asked whether they tell anything: the typical one and its second draw.
FIRST = 2
_GIVEN_UP = "the search for inputs that reach other lines was given up"
#: Elements kept of an output that is too large to keep whole.
SAMPLE = 65_536


@dataclass
class _Recorded:
    """One case: what the manifest says of it, and its tensors by their keys in the goldens."""

    case: Case
    facts: dict[str, Any]
    tensors: dict[str, Array]

    def inputs(self) -> dict[str, Array]:
        """Its inputs by their own names."""
        start = f"{self.case.name}/input/"
        return {key.removeprefix(start): value for key, value in self.tensors.items() if key.startswith(start)}


def record(request: dict[str, Any]) -> dict[str, Any]:
    """Write `golden.safetensors`; answer with what the manifest says of each case, and of those left out.

    With `first` only so many cases are recorded, and nothing is searched for. It ends early where the promised cases
    tell nothing; `whole` says whether it did not.

    Raises:
        UsageError: an input of such a case holds what is no place of the table or the sequence that it is used for.
        ModelError: the eager layer does not run on a case that the spec promises.
    """
    doing("importing paddle")
    import paddle

    paddle.set_device("cpu")
    spec = Spec.model_validate(request["spec"])
    doing("building the layer")
    layer = load_layer(spec.model, request["checkpoint"], spec.seed)
    order = tuple(one.name for one in bind_inputs(layer, spec.input_specs()))
    coverage = Coverage(layer, order)
    oracle = make_oracle(layer, order, tuple(request["outputs"]), spec.seed)
    oracle.watch = coverage.watching
    rows, cases = real_rows(spec), plan_cases(spec)
    planned = _Planned()
    whole = planned.record(oracle, spec, cases[: request.get("first") or len(cases)], rows)
    recorded, left_out = planned.recorded, planned.left_out
    found: list[_Recorded] = []
    notes: list[str] = []
    if whole and not request.get("first"):
        notes += _batch_note(recorded)
        if request.get("search", True):
            found, ended = _search(oracle, coverage, spec, recorded, rows)
            notes += ended
            recorded += found
        notes += [f"{short(Path(left.path))}:{left.line}: {left.what}" for left in coverage.unreached()]
    _note_scores(recorded)
    left_out.update(_untelling(recorded, spec.budget))
    telling = [one for one in recorded if one.case.name not in left_out]
    doing("writing goldens")
    kept = {key: value for one in telling for key, value in one.tensors.items()}
    save(Path(request["into"]), _bounded(kept, spec.golden_mb, spec.seed))
    return {
        "cases": [one.facts for one in telling],
        "left_out": left_out,
        "notes": notes,
        "found": [one.case.name for one in found],
        "whole": whole,
    }


@dataclass
class _Planned:
    """The planned cases as they are recorded, and those that are left out with the reason."""

    recorded: list[_Recorded] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    drawn: dict[str, str] = field(default_factory=dict)

    def record(self, oracle: Oracle, spec: Spec, cases: Sequence[Case], rows: Rows | None) -> bool:
        """Record one after the other; False where it was given up, since the promised ones tell nothing."""
        promised = sum(not case.kind for case in cases)
        for number, case in enumerate(cases, start=1):
            doing(f"recording case {case.name}", case=case.name, number=number, of=len(cases))
            inputs = draw(spec, case, rows)
            same = self.drawn.setdefault(content(inputs), case.name)
            if case.kind and same != case.name:
                self.left_out[case.name] = f"its inputs are those of {same}"
                continue
            try:
                self.recorded.append(_record_case(oracle, case, inputs))
            except EngineRefused as refusal:
                if not case.kind and isinstance(refusal, OutOfRange):
                    raise refusal.for_user(spec, case) from refusal
                if not case.kind:
                    raise ModelError(
                        f"the eager layer does not run on this case: {refusal}",
                        where=f"case {case.name}",
                        hint="the dims or values of the spec promise what forward cannot take",
                    ) from refusal
                self.left_out[case.name] = f"eager refuses it: {refusal}"
            if number in (FIRST, promised) and _hopeless(self.recorded, spec):
                return False
        return True


def _hopeless(recorded: list[_Recorded], spec: Spec) -> bool:
    goldens = [read_case(one.tensors, one.facts) for one in recorded]
    return bool(still_open(doubts(goldens, spec.budget, more_to_come=True), runs_of(spec), spec.waivers))


def _record_case(oracle: Oracle, case: Case, inputs: dict[str, Array]) -> _Recorded:
    eager, truths, gate = oracle.ask(inputs)
    outputs = {name: _describe(value, truths[name], gate) for name, value in eager.items()}
    tensors = {f"{case.name}/input/{name}": value for name, value in inputs.items()}
    tensors.update({f"{case.name}/eager/{name}": value for name, value in eager.items()})
    tensors.update({f"{case.name}/truth/{name}": truths[name].value for name in eager if not outputs[name]["exact"]})
    facts = {"name": case.name, "dims": dict(case.dims), "seed": case.seed, "outputs": outputs}
    return _Recorded(case, facts, tensors)


def _search(
    oracle: Oracle, coverage: Coverage, spec: Spec, recorded: list[_Recorded], rows: Rows | None
) -> tuple[list[_Recorded], list[str]]:
    """Look for inputs that reach what no case has; each that does becomes a case. A note, if it had to end before."""
    found: list[_Recorded] = []
    missing = coverage.unreached()
    inputs = [one.inputs() for one in recorded]
    allowance, patience = Allowance.of(inputs), PATIENCE * coverage.longest
    for case, varied, by in attempts(spec, recorded[0].case, inputs[0], rows, missing):
        if not any(left.by == by for left in missing):
            if not missing:
                break
            continue
        if not allowance.take(varied, TRYING):
            return found, [f"{_GIVEN_UP}: it took as many forwards as recording the cases"]
        doing(f"searching for unreached lines: {case.name}")
        with contextlib.suppress(EngineRefused):  # the trial is outside what forward takes
            try:
                with coverage.watching(patience):
                    oracle.try_out(varied)
            except TooLong:
                return found, [f"{_GIVEN_UP}: a forward ran {PATIENCE} times as many lines as in any case"]
            if len(coverage.unreached()) < len(missing):
                allowance.take(varied, RECORDING)
                found.append(_record_case(oracle, case, varied))
        missing = coverage.unreached()
    return found, []


def _note_scores(recorded: list[_Recorded]) -> None:
    """Say of each integer output whose argmax it is, where it is one in every case."""
    eagers = [{name: one.tensors[f"{one.case.name}/eager/{name}"] for name in one.facts["outputs"]} for one in recorded]
    for name, (score, axis) in find_scores(eagers).items():
        for one in recorded:
            one.facts["outputs"][name]["scores"] = {"output": score, "axis": axis}


def _untelling(recorded: list[_Recorded], budget: float) -> dict[str, str]:
    """The probing cases in which eager's own answer would not pass, so that no engine's could; and why."""
    goldens = [read_case(one.tensors, one.facts) for one in recorded]
    plain = [golden for one, golden in zip(recorded, goldens, strict=True) if not one.case.kind]
    others = {name: [golden.outputs[name] for golden in goldens] for name in goldens[0].outputs}
    reasons = {}
    for one, golden in zip(recorded, goldens, strict=True):
        if one.case.kind:
            judged = eager_judged(golden, budget, others).values()
            unproven = [evidence.reason for evidence in judged if evidence.outcome is not Outcome.MATCH]
            if unproven := unproven or amplified(golden, plain):
                reasons[one.case.name] = unproven[0]
    return reasons


def _batch_note(recorded: list[_Recorded]) -> list[str]:
    """Whether a row's result depends on the other rows of its batch: a property of the model, worth knowing."""
    alone = next((one for one in recorded if one.case.kind == "one_row"), None)
    batch = recorded[0]
    exact = all(about["method"].startswith(("float64", "exact")) for about in batch.facts["outputs"].values())
    if alone is None or not exact:
        return []
    dependent = []
    for name, about in alone.facts["outputs"].items():
        key = "eager" if about["exact"] else "truth"
        row, rows = (one.tensors[f"{one.case.name}/{key}/{name}"] for one in (alone, batch))
        if row.shape[:1] == (1,) and rows.shape[1:] == row.shape[1:] and not _close(rows[:1], row):
            dependent.append(name)
    return [f"in {', '.join(dependent)} a row's result depends on the other rows of its batch"] if dependent else []


def _close(one: Array, other: Array) -> bool:
    """Equal but for float64's rounding, which may differ between batches (3e-13 measured on 88 networks)."""
    return bool(error(one, other)[0] <= 1e-9)


def _describe(eager: Array, truth: Truth, unstable: str) -> dict[str, Any]:
    exact = eager.dtype.kind != "f"
    scale = (0.0, 0.0) if exact else norms(truth.value)
    gate = unstable or ("" if exact else _gate(eager, truth, scale))
    sound = [np.isfinite(number) for number in (*scale, truth.e_ref_max, truth.e_ref_l2)]
    return {
        "dtype": eager.dtype.name,
        "shape": list(eager.shape),
        "exact": exact,
        # JSON has no infinity; where the gate is shut the numbers serve nothing.
        "scale_max": scale[0] if all(sound) else 0.0,
        "scale_l2": scale[1] if all(sound) else 0.0,
        "e_ref_max": truth.e_ref_max if all(sound) else 0.0,
        "e_ref_l2": truth.e_ref_l2 if all(sound) else 0.0,
        "allowance": truth.allowance,
        "method": truth.method,
        "gate": gate,
        "scores": None,
    }


def _gate(eager: Array, truth: Truth, scale: tuple[float, float]) -> str:
    """Why this output of this case cannot prove anything; empty where it can. Comes before bit equality."""
    if not np.isfinite(eager).all():
        return "eager is not finite"
    if not np.isfinite(truth.value).all():
        return "float64 is not finite"
    if eager.size and scale[0] < SMALLEST_SCALE:
        return f"the largest value ({scale[0]:.1e}) is zero or near the denormals"
    if not 4 * max(truth.e_ref_max, truth.e_ref_l2, FLOOR) <= WORST_E_REF:
        return f"rounding alone moves it by {truth.e_ref_max:.1e} of its size"
    return ""


def _bounded(tensors: dict[str, Array], megabytes: float, seed: int) -> dict[str, Array]:
    """Keep a seeded sample of the largest outputs until all fit; inputs are always whole."""
    size = sum(value.nbytes for value in tensors.values())
    result = dict(tensors)
    eagers = sorted((key for key in tensors if "/eager/" in key), key=lambda key: -tensors[key].nbytes)
    for key in eagers:
        if size <= megabytes * 1e6 or tensors[key].size <= SAMPLE:
            break
        generator = np.random.default_rng(seed)
        index = np.sort(generator.choice(tensors[key].size, SAMPLE, replace=False))
        result[key.replace("/eager/", "/index/")] = index.astype("int64")
        for one in (key, key.replace("/eager/", "/truth/")):
            if one in result:
                result[one] = tensors[one].ravel()[index]
                size -= tensors[one].nbytes - result[one].nbytes
    return result

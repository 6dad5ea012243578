"""The child's side of the goldens: draw the cases, run eager and the oracle, write what a bundle keeps."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from exporter.base.diagnostics import short
from exporter.base.errors import ModelError
from exporter.base.numbers.golden import ROWS_OF, may_be_partial
from exporter.base.tensors import Array, save_scratch
from exporter.engines.base import EngineRefused
from exporter.export.trace.layer import digests, load_layer
from exporter.export.trace.traced import bind_inputs
from exporter.process.job import job
from exporter.process.workers import doing
from exporter.prove.compare.informative import doubts, runs_of, still_open
from exporter.prove.goldens.again import Again, Steps
from exporter.prove.goldens.cases import WHOLE, Case, plan_cases, promised
from exporter.prove.goldens.coverage import Coverage, TooLong
from exporter.prove.goldens.decoding_child import record_decoding
from exporter.prove.goldens.domain import OutOfRange
from exporter.prove.goldens.explore import PATIENCE, RECORDING, TRYING, Allowance, attempts
from exporter.prove.goldens.finish import (
    OTHERWISE,
    CaseFacts,
    Recorded,
    describe,
    goldens_of,
    note_scores,
    note_ties,
    note_valueless,
)
from exporter.prove.goldens.oracle import Oracle, make_oracle
from exporter.prove.goldens.record import NARROW, RecordAnswer, RecordedCase, RecordRequest
from exporter.prove.goldens.values import Rows, content, real_rows
from exporter.spec.model import Spec

#: After so many cases it is asked whether they tell anything: the typical one and its second draw.
FIRST = 2
_GIVEN_UP = "the search for inputs that reach other lines was given up"


@job(reuse="the goldens")
def record(request: RecordRequest) -> RecordAnswer:
    """Write the arrays of each case to `<number>.safetensors` in a folder; answer with what is said of them.

    It ends early where the promised cases tell nothing; `whole` says whether it did not.

    Raises:
        UsageError: an input of such a case holds what is no place of the table or the sequence that it is used for.
        ModelError: the eager layer does not run on a case that the spec promises.
    """
    doing("importing paddle")
    import paddle  # noqa: F401  # here, so that a failure of the import is told as one

    spec = request.beside.put_into(request.spec) if request.beside else request.spec
    doing("building the layer")
    layer = load_layer(spec.factory, request.checkpoint, spec.seed)
    _same_parameters(layer, request.parameters, spec.factory)
    order = tuple(bound.name for bound in bind_inputs(layer, spec.input_specs()))
    coverage = Coverage(layer, order, [promised(dim) for dim in spec.dims.values()])
    oracle = make_oracle(layer, order, request.outputs, spec.seed)
    oracle.watch = coverage.watching
    rows, cases = real_rows(spec), plan_cases(spec)
    again = Again(oracle, spec, rows)
    planned = _Planned(request.into, request.constants, request.sized, again, left_out=dict(request.fatal))
    whole = planned.record(oracle, spec, cases, rows)
    recorded, left_out = planned.recorded, planned.left_out
    searched: list[Recorded] = []
    notes: list[str] = []
    further = request.further() if whole else []
    if whole:
        planned.record(oracle, spec, further, rows)
        if request.search:
            searched, ended = _search(oracle, coverage, spec, planned, rows)
            notes += ended
            recorded += searched
        notes += [f"{short(Path(left.path))}:{left.line}: {left.what}" for left in coverage.unreached()]
    steps = record_decoding(oracle, spec, rows, request.into) if whole else ()
    return RecordAnswer(
        cases=tuple(_described(case) for case in recorded),
        unstable={case.case.name: case.unstable for case in recorded if case.unstable},
        tied={case.case.name: case.tied for case in recorded if case.tied},
        left_out=left_out,
        notes=tuple(notes),
        found=(*(case.name for case in further), *(case.case.name for case in searched)),
        whole=whole,
        decoding=steps,
    )


def _described(recorded: Recorded) -> RecordedCase:
    facts = recorded.facts
    methods = {name: about.method for name, about in facts.outputs.items()}
    return RecordedCase(facts.name, facts.dims, facts.seed, methods, recorded.settled)


def _same_parameters(layer: Any, exported: Mapping[str, str], factory: str) -> None:
    """Compare the layer's tensors with those that were exported, where both have them.

    Raises:
        ModelError: one is another.
    """
    own = digests(layer) if exported else {}
    if any(exported.get(name, content) != content for name, content in own.items()):
        raise ModelError(
            "the factory gave other weights than when it was exported",
            where=factory,
            hint="give the weights as a checkpoint, or seed the factory's own random generators",
        )


@dataclass
class _Planned:
    """The planned cases as they are recorded into a folder, and those that are left out with the reason.

    `constants` are outputs that no input decides, `sized` those that nothing but sizes decides.
    """

    into: Path
    constants: tuple[str, ...]
    sized: tuple[str, ...]
    again: Again
    recorded: list[Recorded] = field(default_factory=list)
    left_out: dict[str, str] = field(default_factory=dict)
    drawn: dict[str, str] = field(default_factory=dict)

    def record(self, oracle: Oracle, spec: Spec, cases: Sequence[Case], rows: Rows | None) -> bool:
        """Record one after the other; False where it was given up, since the promised ones tell nothing."""
        promised = sum(not case.kind for case in cases)
        doing("running the copies of the layer")
        oracle.ahead(self.again.inputs(case) for case in cases if case.name not in self.left_out)
        for number, case in enumerate(cases, start=1):
            if case.name in self.left_out:
                continue
            doing(f"recording case {case.name}", case=case.name, number=number, of=len(cases))
            inputs = self.again.inputs(case)
            same = self.drawn.setdefault(content(inputs), case.name)
            if case.kind and same != case.name:
                self.left_out[case.name] = f"its inputs are those of {same}"
                continue
            try:
                self.recorded.append(_record_case(oracle, case, inputs, self._place()))
            except EngineRefused as refusal:
                if isinstance(refusal, OutOfRange) and _is_promised(case, refusal, spec):
                    raise refusal.for_user(spec, case) from refusal
                if not case.kind:
                    raise ModelError(
                        f"the eager layer does not run on this case: {refusal}",
                        where=f"case {case.name}",
                        hint=NARROW,
                    ) from refusal
                self.left_out[case.name] = f"eager refuses it: {refusal}"
            if number in (FIRST, promised):
                steps = Steps(partial(self._record_again, oracle), partial(self._note, spec))
                self.again.improve(self.recorded, steps, more_to_come=number < promised)
                if self._hopeless(spec):
                    return False
        return True

    def _record_again(self, oracle: Oracle, at: int, case: Case, inputs: dict[str, Array]) -> Recorded:
        doing(f"recording case {case.name} again, with inputs that tell more", case=case.name)
        settled = self.recorded[at].settled
        record = _record_case(oracle, case, inputs, self.into / f"{at}.safetensors")
        record.settled = settled
        self.drawn[content(inputs)] = case.name
        return record

    def _note(self, spec: Spec) -> None:
        note_valueless(self.recorded, self.constants, self.sized)
        note_scores(self.recorded)
        note_ties(self.recorded, spec.budget)

    def _hopeless(self, spec: Spec) -> bool:
        self._note(spec)
        raised = doubts(goldens_of(self.recorded), spec.budget, more_to_come=True)
        return bool(still_open(raised, runs_of(spec), spec.waivers))

    def _place(self) -> Path:
        return self.into / f"{len(self.recorded)}.safetensors"


def _is_promised(case: Case, refusal: OutOfRange, spec: Spec) -> bool:
    """Whether the spec says that such a value may be sent: in a promised case, or since its range holds it."""
    declared = [name for name in refusal.names if spec.inputs[name].values.startswith("integers")]
    return not case.kind or (bool(declared) and (case.kind in WHOLE or case.kind.startswith(ROWS_OF)))


def _record_case(oracle: Oracle, case: Case, inputs: dict[str, Array], into: Path) -> Recorded:
    """Run one case; its arrays, and the runs that it is measured by, go to the file `into` at once."""
    eager, truths, gate = oracle.ask(inputs, may_be_partial(case.name))
    outputs = {name: describe(value, truths[name], gate, may_be_partial(case.name)) for name, value in eager.items()}
    tensors = {f"{case.name}/input/{name}": value for name, value in inputs.items()}
    tensors.update({f"{case.name}/eager/{name}": value for name, value in eager.items()})
    tensors.update({f"{case.name}/truth/{name}": truths[name].value for name in eager if not outputs[name].exact})
    runs = {
        f"{case.name}/run{number:03}/{name}": value
        for name, truth in truths.items()
        for number, value in enumerate(truth.runs)
    }
    otherwise = oracle.otherwise(inputs)
    for number, answer in enumerate(otherwise):
        runs.update({f"{case.name}/{OTHERWISE}{number}/{name}": value for name, value in answer.items()})
    save_scratch(into, {**tensors, **runs})
    facts = CaseFacts(case.name, dict(case.dims), case.seed, outputs)
    return Recorded(case, facts, tensors, gate, ", ".join(sorted(oracle.tied)), otherwise)


def _search(
    oracle: Oracle, coverage: Coverage, spec: Spec, planned: _Planned, rows: Rows | None
) -> tuple[list[Recorded], list[str]]:
    """Look for inputs that reach what no case has; each that does becomes a case. A note, if it had to end before."""
    searched: list[Recorded] = []
    missing = coverage.unreached()
    recorded = planned.recorded
    inputs = [record.inputs() for record in recorded]
    allowance, patience = Allowance.of(inputs), PATIENCE * coverage.longest
    for case, varied, by in attempts(spec, recorded[0].case, inputs[0], rows, missing):
        if not any(left.by == by for left in missing):
            if not missing:
                break
            continue
        if not allowance.take(varied, TRYING):
            return searched, [f"{_GIVEN_UP}: it took as many forwards as recording the cases"]
        doing(f"searching for unreached lines: {case.name}")
        with contextlib.suppress(EngineRefused):  # the trial is outside what forward takes
            try:
                with coverage.watching(patience):
                    oracle.try_out(varied)
            except TooLong:
                return searched, [f"{_GIVEN_UP}: a forward ran {PATIENCE} times as many lines as in any case"]
            if len(coverage.unreached()) < len(missing):
                allowance.take(varied, RECORDING)
                place = planned.into / f"{len(recorded) + len(searched)}.safetensors"
                searched.append(_record_case(oracle, case, varied, place))
        missing = coverage.unreached()
    return searched, []

"""The child's side of a decoder's goldens: eager, its moved forms and float64 each run all steps on their own cache.

Eager goes first and decides what is no cache: the tokens that it chooses, and what is drawn or counted. The others run
the same steps, so what parts them is rounding that has gone through the cache, and the error of a step holds what all
steps before it have added.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from exporter.base.errors import ModelError, UsageError
from exporter.base.numbers.allowance import ENOUGH
from exporter.base.tensors import Array, TensorMap, save_scratch
from exporter.engines.base import EngineRefused
from exporter.process.workers import doing
from exporter.prove.goldens.cases import Case
from exporter.prove.goldens.decoding import EMPTIED, chosen, counted_from, grown, kept_outputs, plan_steps
from exporter.prove.goldens.domain import OutOfRange
from exporter.prove.goldens.oracle import Oracle, Run
from exporter.prove.goldens.record import NARROW, RecordedCase
from exporter.prove.goldens.truth import Truth, measured
from exporter.prove.goldens.values import Rows, draw
from exporter.spec.decoding import Decoding
from exporter.spec.model import Spec

#: Runs of which an error is known at all: eager's, and two with moved weights, as of any case.
_LEAST_RUNS = 3
#: What one form gives: for each step the outputs that are kept.
_Answers = list[dict[str, Array]]


def record_decoding(oracle: Oracle, spec: Spec, rows: Rows | None, into: Path) -> tuple[RecordedCase, ...]:
    """Write the arrays of step N to `decoding-<N>.safetensors`, as those of a case; nothing where nothing is decoded.

    Raises:
        UsageError: what the spec says of decoding does not fit what the model takes and gives.
        ModelError: eager does not run on a step.
    """
    if spec.decoding is None:
        return ()
    try:
        spec.decoding.fit_outputs(oracle.outputs)
    except ValueError as error:
        raise UsageError(str(error), where="decoding", hint="name what forward returns, by `outputs`") from error
    return _Decoder(oracle, spec, spec.decoding, rows, into).record()


@dataclass
class _Decoder:
    """One recording: the inputs of each step but the cache, and all those of the last."""

    oracle: Oracle
    spec: Spec
    decoding: Decoding
    rows: Rows | None
    into: Path
    inputs: list[dict[str, Array]] = field(default_factory=list)
    last: dict[str, Array] = field(default_factory=dict)

    def record(self) -> tuple[RecordedCase, ...]:
        """Run and measure all steps, and the last one once more with a cache of zeros."""
        cases = plan_steps(self.spec, self.decoding, self._growing())
        answers = [self._eager(cases)]
        exact, method = self.oracle.exactly(self._follow)
        truths: list[dict[str, Truth]] = []
        with contextlib.closing(self.oracle.moved_runs()) as runs:
            for run in runs:
                answers.append(self._follow(run))
                del run  # the next copy of a large layer may find no room beside it
                if len(answers) >= _LEAST_RUNS:
                    truths = _measured(answers, exact, method)
                    if all(truth.allowance <= ENOUGH for step in truths for truth in step.values()):
                        break
        steps = [self._write(at, case, (self.inputs[at], answers[0][at], truths[at])) for at, case in enumerate(cases)]
        return (*steps, self._emptied(cases[-1]))

    def _growing(self) -> dict[str, int]:
        typical = {name: dim.typical for name, dim in self.spec.dims.items()}
        case = Case("decoding", typical, self.spec.seed)
        outputs = self._answer(case, draw(self.spec, case, self.rows))
        return grown(self.spec, self.decoding, {name: value.shape for name, value in outputs.items()}, typical)

    def _eager(self, cases: Sequence[Case]) -> _Answers:
        """Run eager, step by step, and note what each step is run on."""
        answers, before = [], dict[str, Array]()
        for at, case in enumerate(cases):
            doing(f"recording decoding step {at + 1} of {len(cases)}")
            drawn = draw(self.spec, case, self.rows)
            drawn |= {name: self._counted(name, case, at, drawn[name]) for name in self.decoding.counts}
            if at:
                drawn |= {name: self.inputs[0][name] for name in self.decoding.held}
                drawn |= {name: chosen(name, before[of], drawn[name]) for name, of in self.decoding.tokens.items()}
                drawn |= {name: before[of] for name, of in self.decoding.cache.items()}
            fed = self.decoding.cache if at else ()
            self.inputs.append({name: value for name, value in drawn.items() if name not in fed})
            self.last, before = drawn, self._answer(case, drawn)
            answers.append(self._kept(before, at == len(cases) - 1))
        return answers

    def _follow(self, run: Run) -> _Answers:
        """Run another form on what eager was run on, with its own cache."""
        answers, before = [], dict[str, Array]()
        for at, inputs in enumerate(self.inputs):
            fed = {name: before[of] for name, of in self.decoding.cache.items()} if at else {}
            before = run({**inputs, **fed})
            answers.append(self._kept(before, at == len(self.inputs) - 1))
        return answers

    def _kept(self, outputs: TensorMap, last: bool) -> dict[str, Array]:
        return {name: outputs[name] for name in kept_outputs(self.decoding, self.oracle.outputs, last=last)}

    def _answer(self, case: Case, inputs: TensorMap) -> dict[str, Array]:
        try:
            return self.oracle.answer(inputs)
        except OutOfRange as refusal:
            raise refusal.for_user(self.spec, case) from refusal
        except EngineRefused as refusal:
            what = f"the eager layer does not run on this step: {refusal}"
            raise ModelError(what, where=f"decoding, {case.name}", hint=NARROW) from refusal

    def _counted(self, name: str, case: Case, at: int, drawn: Array) -> Array:
        return np.full_like(drawn, counted_from(self.spec, name, case.dims) + at)

    def _emptied(self, case: Case) -> RecordedCase:
        """Run the last step with a cache of zeros: what an artifact gives that takes no notice of its cache."""
        empty = {name: np.zeros_like(self.last[name]) for name in self.decoding.cache}
        inputs = {**self.last, **empty}
        self._answer(case, inputs)  # so that what it refuses is told
        eager, truths, _ = self.oracle.ask(inputs)
        own = {name: value for name, value in inputs.items() if name not in empty}
        return self._write(len(self.inputs), Case(case.name + EMPTIED, case.dims, case.seed), (own, eager, truths))

    def _write(self, at: int, case: Case, held: tuple[TensorMap, TensorMap, dict[str, Truth]]) -> RecordedCase:
        inputs, eager, truths = held
        tensors = {f"{case.name}/input/{name}": value for name, value in inputs.items()}
        for name, truth in truths.items():
            tensors[f"{case.name}/eager/{name}"] = eager[name]
            if eager[name].dtype.kind == "f":
                tensors[f"{case.name}/truth/{name}"] = truth.value
            tensors |= {f"{case.name}/run{number:03}/{name}": value for number, value in enumerate(truth.runs)}
        save_scratch(self.into / f"decoding-{at}.safetensors", tensors)
        return RecordedCase(
            case.name, dict(case.dims), case.seed, {name: truth.method for name, truth in truths.items()}
        )


def _measured(answers: Sequence[_Answers], exact: _Answers | None, method: str) -> list[dict[str, Truth]]:
    """The truth of each step by all forms that ran, eager first.

    Raises:
        ModelError: rounding alone changes a shape.
    """
    truths = []
    for at, eager in enumerate(answers[0]):
        held = {} if exact is None else exact[at]
        for name, value in eager.items():
            if any(run[at][name].shape != value.shape for run in (*answers, *([exact] if exact else []))):
                what = f"rounding alone changes the shape of '{name}' in step {at}"
                raise ModelError(what, where="decoding", hint="leave it out of what forward returns")
        truths.append({name: measured([run[at][name] for run in answers], held.get(name), method) for name in eager})
    return truths

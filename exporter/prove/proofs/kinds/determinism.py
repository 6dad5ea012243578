"""The proof of `determinism: bits`: an artifact gives the same bits in both runs of each pair, in each of its engines.

Without the key nothing is planned. Where two runs part, both are run once more with every value inside put out, and the
first operator that gives other bits is named.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from exporter.base.errors import ChildTimedOut, EnvironmentLacks, ExporterError, ModelError
from exporter.base.tensors import Array, TensorMap, load, recorded_inputs, save_scratch
from exporter.engines.job import REFUSED, EngineCase, EngineJob
from exporter.process.scratch import scratch
from exporter.process.workers import Setting
from exporter.prove.compare.apart import relative_error
from exporter.prove.goldens.truth import same_bits
from exporter.prove.proofs.base import Harness, Proof
from exporter.prove.proofs.determinism.pairs import PROCESSES, Pair, Runs, kinds, runs_of
from exporter.prove.root_cause.makers import makers
from exporter.prove.root_cause.program import every_value
from exporter.prove.verdict.claim import Claim, Evidence, Outcome
from exporter.prove.verdict.plan import Run

#: How many times what the recorded cases take the runs of all pairs may take.
_COST = 3
_ALIKE = "two inputs that were drawn apart give the same bits as well, so that this proves nothing"


class Determinism(Proof):
    """One claim for each run of an engine on a variant and each kind of pair, where the spec has the key."""

    kind = "determinism"

    def plan(self, harness: Harness) -> frozenset[Claim]:
        if harness.spec.determinism is None or harness.subject.only:
            return frozenset()
        return frozenset(
            Claim(run.format, run.precision, run.engine, output=pair, kind=self.kind)
            for run in harness.runs
            if run.format != "source"
            for pair in kinds(harness.spec, harness.subject.outputs, harness.subject.recorded)
        )

    def prove(self, claims: Sequence[Claim], harness: Harness) -> Mapping[Claim, Evidence]:
        proven: dict[Claim, Evidence] = {}
        for run in dict.fromkeys(harness.run_of(claim) for claim in claims):
            own = [claim for claim in claims if harness.run_of(claim) == run]
            harness.setting.say(f"running {run.variant} by {run.engine} in every way that has to give the same bits")
            with scratch() as place:
                proven |= _prove(own, harness, run, place)
        return proven


def _prove(claims: Sequence[Claim], harness: Harness, run: Run, place: Path) -> dict[Claim, Evidence]:
    """The evidence on every pair of one run, or how its process ended for all of them."""
    subject = harness.subject
    recorded = {
        case.recorded: recorded_inputs(subject.golden, case.recorded, subject.spec.inputs) for case in subject.recorded
    }
    runs = runs_of(subject.spec, subject.recorded, recorded, [claim.output for claim in claims])
    golden = place / "inputs.safetensors"
    fed = {f"{name}/input/{key}": value for name, own in runs.inputs.items() for key, value in own.items()}
    save_scratch(golden, {name: np.ascontiguousarray(value) for name, value in fed.items()})
    comparison = _Comparison(harness, run, replace(harness.bench.job(run), golden=golden), runs)
    try:
        results = comparison.results(place)
    except EnvironmentLacks as error:
        return dict.fromkeys(claims, Evidence(Outcome.MISSING, f"{error.what}; {error.hint}", stage="environment"))
    except ExporterError as error:
        outcome = Outcome.TIMED_OUT if isinstance(error, ChildTimedOut) else Outcome.CRASHED
        return dict.fromkeys(claims, Evidence(outcome, str(error), stage="run"))
    return {claim: comparison.judge(claim.output, results) for claim in claims}


@dataclass(frozen=True)
class _Results:
    """What was put out: in one process by the name of the run and its threads, and in another one."""

    first: Mapping[tuple[str, int], TensorMap]
    second: Mapping[tuple[str, int], TensorMap]

    def of(self, pair: Pair) -> tuple[TensorMap, TensorMap]:
        """Both sides of a pair."""
        right = self.second if pair.kind == PROCESSES else self.first
        return self.first[pair.first, 1], right[pair.second, pair.threads]


@dataclass(frozen=True)
class _Comparison:
    """One run of the proof: an engine on a variant, and what it is asked."""

    harness: Harness
    run: Run
    job: EngineJob
    runs: Runs

    def results(self, place: Path) -> _Results:
        """Run everything: all in one process, and what another process has to give as well.

        Raises:
            ExporterError: the engine refuses a run, or its process ended badly.
        """
        wanted = [(name, 1) for name in self.runs.inputs]
        wanted += [(pair.second, pair.threads) for pair in self.runs.pairs if pair.threads > 1]
        anew = [(pair.second, 1) for pair in self.runs.pairs if pair.kind == PROCESSES]
        return _Results(self._ran(wanted, place / "first"), self._ran(anew, place / "second") if anew else {})

    def _ran(self, wanted: Sequence[tuple[str, int]], into: Path) -> dict[tuple[str, int], TensorMap]:
        into.mkdir()
        answer = replace(self.job, cases=_cases(wanted)).run(into, self._setting())
        if answer.refusal:
            raise ModelError(f"{self.run.engine} refuses it: {answer.refusal}", hint=REFUSED)
        return {key: load(into / f"{number}.safetensors") for number, key in enumerate(wanted)}

    def _setting(self) -> Setting:
        return self.harness.bench.bounded(self.run, self.harness.setting, _COST)

    def judge(self, kind: str, results: _Results) -> Evidence:
        """The evidence on one kind of pair."""
        pairs, elements = [pair for pair in self.runs.pairs if pair.kind == kind], 0
        for pair in pairs:
            left, right = results.of(pair)
            for name, value in left.items():
                both = pair.both(value, right[name]) if name in right else None
                if both is None:  # its size hangs on what the inputs hold; the outputs' own claims judge its shape
                    continue
                if not same_bits(*both):
                    return self._broken(pair, name, *both)
                elements += both[0].size
        if not elements:
            return Evidence(Outcome.MISSING, "no recorded case has the sizes that such a pair needs", stage="plan")
        if self._alike(results):
            return Evidence(Outcome.VACUOUS, _ALIKE, elements=elements)
        return Evidence(Outcome.MATCH, elements=elements, bit_equal=True)

    def _alike(self, results: _Results) -> bool:
        """Return whether other inputs give the same bits in every output."""
        if self.runs.strangers is None:
            return False
        left, right = (results.first[name, 1] for name in self.runs.strangers)
        return all(same_bits(value, right[name]) for name, value in left.items())

    def _broken(self, pair: Pair, name: str, left: Array, right: Array) -> Evidence:
        """The evidence on a pair that parts in an output: by how much, and in which operator first."""
        differing = int((left != right).sum()) if left.shape == right.shape else left.size
        far = relative_error(left, right)
        reason = (
            f"{_sides(pair)}: output {self._ours(name)} differs in {differing} of {left.size} numbers, by {far:.2g} of "
            f"its size; {self._where(pair)}"
        )
        return Evidence(Outcome.MISMATCH, reason, elements=left.size, metrics={"max_rel": far})

    def _ours(self, native: str) -> str:
        artifact = self.harness.bench.artifacts[self.run.variant]
        return dict(zip(artifact.outputs, self.harness.bench.outputs, strict=True)).get(native, native)

    def _where(self, pair: Pair) -> str:
        """The operator in which a pair parts first, or why it is not known.

        Where this engine does not show its values (Paddle's predictor of some `.json`, 3.3.1), another one that runs
        the file and parts as well does.
        """
        try:
            return self._first(pair, self.job)
        except ExporterError as error:
            why = f"its values inside cannot be compared: {error}"
        for another in self.harness.runs:
            if another.variant == self.run.variant and another.engine != self.run.engine:
                with suppress(ExporterError):
                    return f"by {another.engine} {self._first(pair, replace(self.job, engine=another.engine))}"
        return why

    def _first(self, pair: Pair, job: EngineJob) -> str:
        """The first operator that parts in an engine, in words; raises ExporterError where it shows no values."""
        maker_of = makers(job.artifact.path)
        left, right = self._values(pair, job)
        shown = sorted(
            (name for name in left if name in right and name in maker_of),
            key=lambda name: maker_of[name].place,
        )
        for name in shown:
            both = pair.both(left[name], right[name])
            if both is not None and not same_bits(*both):
                maker = maker_of[name]
                where = f" of {maker.layer}" if maker.layer else ""
                return f"first in {maker.kind} {name}{where}, operator {maker.place}"
        return f"with all {len(shown)} values inside put out it does not part: how the engine joins operators does"

    def _values(self, pair: Pair, job: EngineJob) -> tuple[TensorMap, TensorMap]:
        first, second = (pair.first, 1), (pair.second, pair.threads)
        if pair.kind == PROCESSES:
            (left,), (right,) = self._inside([first], job), self._inside([second], job)
        else:
            left, right = self._inside([first, second], job)
        return left, right

    def _inside(self, wanted: Sequence[tuple[str, int]], job: EngineJob) -> list[TensorMap]:
        return every_value(job, _cases(wanted), self._setting())


def _cases(wanted: Sequence[tuple[str, int]]) -> tuple[EngineCase, ...]:
    return tuple(EngineCase(f"{name}, {threads} threads", name, threads) for name, threads in wanted)


def _sides(pair: Pair) -> str:
    if pair.kind == PROCESSES:
        return f"{pair.first} in two processes"
    return f"{pair.first} in 1 and {pair.threads} threads" if pair.threads > 1 else f"{pair.first} and {pair.second}"


plugin: Proof = Determinism()

"""Gather the evidence: one child per engine and variant, whatever becomes of it; then judge."""

from __future__ import annotations

import contextlib
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import TypeAlias

from exporter.base.errors import (
    BundleError,
    ChildCrashed,
    ChildFailed,
    ChildOutOfMemory,
    ChildTimedOut,
    EnvironmentLacks,
)
from exporter.base.files import remove, total_size
from exporter.base.numbers.golden import GoldenCase, GoldenOutput
from exporter.base.numbers.pooled import Draws, Pooled, draws
from exporter.base.tensors import TensorMap, load
from exporter.engines.base import Runnable, SourceModel
from exporter.engines.cost import beyond
from exporter.engines.job import EngineAnswer, EngineCase, EngineJob, runnable
from exporter.export.lower.base import Artifact
from exporter.export.lower.convert import folds
from exporter.process.answers import Event
from exporter.process.pool import in_order
from exporter.process.scratch import scratch
from exporter.process.workers import Setting
from exporter.prove.compare.outputs import compare_case, evidence_of
from exporter.prove.verdict.claim import Claim, Evidence, Outcome
from exporter.prove.verdict.plan import Run

#: Megabytes that a child of an engine takes, and how often it may hold its artifact.
_ENGINE, _COPIES = 1000, 6
#: How many times what other engines took at the release one may take that did not run there.
_UNRECORDED = 4
#: Bytes that the outputs of a case may have beyond four times what is due: of another shape they are read, and fail.
_MOST_OUTPUT = 64 << 20


@dataclass(frozen=True)
class Bench:
    """Where the evidence comes from: a bundle's folder and goldens, its artifacts, the source if at hand, a device.

    `controls` are the cases whose goldens serve as impostors, where those that run are not all that were recorded.
    `costs` is what the release recorded that a run took, by its variant and engine. With `feeds` the cases are steps:
    these inputs of each but the first are outputs of the one before, and what they cost is `times` that of a run.
    """

    folder: Path
    golden: Path
    cases: tuple[GoldenCase, ...]
    artifacts: Mapping[str, Artifact]
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    source: SourceModel | None
    device: str
    budget: float
    controls: tuple[GoldenCase, ...] = ()
    costs: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    feeds: Mapping[str, str] = field(default_factory=dict)
    times: int = 1

    @cached_property
    def draws(self) -> dict[str, Draws]:
        """What can be taken together, worked out once for all runs; of steps nothing, each follows from the last."""
        return {} if self.feeds else draws(self.cases)

    def job(self, run: Run) -> EngineJob:
        """What the child of a run is asked: to run the source, or the files of a variant, on all cases."""
        if run.format == "source":
            artifact = Runnable("source", None, "", self.inputs, self.outputs, self.source)
        else:
            artifact = runnable(self.artifacts[run.variant], self.folder)
        return EngineJob(run.engine, artifact, self.golden, self._to_run(), self.device)

    def _to_run(self) -> tuple[EngineCase, ...]:
        if not self.feeds:
            return tuple(EngineCase(case.name, case.recorded, case.threads) for case in self.cases)
        first, *later = [EngineCase(case.name, case.recorded, keeps=tuple(case.outputs)) for case in self.cases]
        return (first, *(replace(case, feeds=self.feeds) for case in later))

    def bounded(self, run: Run, setting: Setting, times: int = 1) -> Setting:
        """The same for a run, or for what takes some times as much; raises no limit that somebody has set.

        An engine that the release did not run may take some times what the others took. Where nothing is
        recorded, as at the release itself, nothing is bounded; on a GPU other things count.
        """
        if not self.costs or not setting.follows_costs or self.device != "cpu":
            return setting
        own = self.costs.get(f"{run.variant}/{run.engine}")
        most = own or {key: max(cost[key] for cost in self.costs.values()) for key in ("seconds", "megabytes")}
        allowed = beyond(most, times if own else _UNRECORDED * times)
        return replace(setting, limits=replace(setting.limits, beyond=allowed))

    def megabytes(self) -> int:
        """The size of the largest artifact, and of the goldens."""
        files = [[self.folder / name for name in artifact.files] for artifact in self.artifacts.values()]
        largest = max(map(total_size, files), default=0)
        return (largest + total_size([self.golden])) >> 20

    def folds(self, variant: str) -> bool:
        """Whether layers of this variant were folded into each other, so that not all they put out is in it.

        Only where the writer of its format folds, whatever the manifest says.
        """
        artifact = self.artifacts.get(variant)
        return artifact is not None and folds(artifact.format) and bool(artifact.details.get("folded"))


def run_engine(bench: Bench, run: Run, setting: Setting) -> dict[Claim, Evidence]:
    """Run one child: see :func:`run_engines`."""
    return run_engines(bench, [run], setting)[0]


def run_engines(bench: Bench, runs: Sequence[Run], setting: Setting) -> list[dict[Claim, Evidence]]:
    """Run one child for each run on all cases, several at once where the machine has room.

    For each run, in their order: the evidence on each output, on the pooled errors, and on the process itself.
    """
    # What else is in a GPU's memory is not known here.
    at_once = 1 if bench.device.startswith("gpu") else setting.at_once(_ENGINE + _COPIES * bench.megabytes())
    with scratch() as folder:
        tasks = [partial(_run_engine, bench, run, folder / str(at), setting) for at, run in enumerate(runs)]
        with contextlib.closing(in_order(tasks, at_once)) as answers:
            return [_judge_run(bench, run, *answer) for run, answer in zip(runs, answers, strict=True)]


_Answer: TypeAlias = tuple[Path, EngineAnswer, Evidence | None]


def _run_engine(bench: Bench, run: Run, into: Path, setting: Setting) -> _Answer:
    """Run one child: the folder of its outputs, its answer, and what stands for results that did not come.

    Whoever follows the events hears at its end how many seconds of the clock it took.
    """
    what = f"decoding {len(bench.cases)} steps with" if bench.feeds else "verifying"
    setting.say(f"{what} {run.variant} by {run.engine}")
    began = time.monotonic()
    into.mkdir()
    seen = {"stage": "load"}

    def follow(event: Event) -> None:
        seen["stage"] = event.get("stage", seen["stage"])
        if setting.on_event:
            setting.on_event(event)

    answer, fate = EngineAnswer(), None
    try:
        answer = bench.job(run).run(into, replace(bench.bounded(run, setting, bench.times), on_event=follow))
    except EnvironmentLacks as error:
        fate = Evidence(Outcome.MISSING, f"{error.what}; {error.hint}", stage="environment")
    except ChildTimedOut as error:
        fate = Evidence(Outcome.TIMED_OUT, f"{error.what} {error.where}", stage=seen["stage"])
    except (ChildCrashed, ChildOutOfMemory, ChildFailed) as error:
        fate = Evidence(Outcome.CRASHED, f"{error.what} {error.where}", stage=seen["stage"])
    if setting.on_event and not bench.feeds:
        doing, ran = f"verified {run.variant} by {run.engine}", f"{run.variant}/{run.engine}"
        setting.on_event({"doing": doing, "ran": ran, "seconds": time.monotonic() - began})
    if answer.load:
        fate = Evidence(Outcome.CRASHED, f"does not load: {answer.load}", stage="load")
    return into, answer, fate


def _judge_run(
    bench: Bench, run: Run, into: Path, answer: EngineAnswer, fate: Evidence | None
) -> dict[Claim, Evidence]:
    judged = _judge_all(bench, run, into, answer, fate)
    remove(into)
    process = Claim(run.format, run.precision, run.engine, kind="process")
    return judged | {process: _under(bench, answer, _process(bench, answer, fate))}


def _process(bench: Bench, answer: EngineAnswer, fate: Evidence | None) -> Evidence:
    """Whether the child ended in order and told, for each number of threads, under which settings it computed."""
    if fate is not None:
        return fate
    if silent := sorted({case.threads for case in bench.cases} - set(answer.sessions)):
        reason = f"the engine left no record of how it computed in {silent[0]} threads"
        return Evidence(Outcome.MISSING, reason, stage="run")
    for threads, session in sorted(answer.sessions.items()):
        if unmet := session.settings.unmet():
            return Evidence(Outcome.MISMATCH, f"in {threads} threads {unmet[0]}", stage="load")
    cost = {f"cost_{name}": value for name, value in answer.cost.coarse().items()}
    return Evidence(Outcome.MATCH, elements=len(answer.sessions), stage="run", metrics=cost)


def _judge_all(
    bench: Bench, run: Run, into: Path, answer: EngineAnswer, fate: Evidence | None
) -> dict[Claim, Evidence]:
    """Judge each case, then all together; `fate` is what stands for results that did not come."""
    results = (
        (case, _loaded(into / f"{index}.safetensors", case), (answer.refused.get(case.name, ""), fate))
        for index, case in enumerate(bench.cases)
    )
    threads = {case.name: case.threads for case in bench.cases}
    return {
        claim: _under(bench, answer, evidence, threads.get(claim.case, 1))
        for claim, evidence in judge_results(bench, run, results, fate).items()
    }


#: A case, what was put out, and why nothing was: the engine's own refusal, or what stands for a result.
Result: TypeAlias = "tuple[GoldenCase, TensorMap | None, tuple[str, Evidence | None]]"


def judge_results(
    bench: Bench, run: Run, results: Iterable[Result], fate: Evidence | None = None
) -> dict[Claim, Evidence]:
    """Judge what a run put out in each case, then all cases together, wherever it was computed.

    `fate` stands for the cases together where too few gave values.
    """
    judged: dict[Claim, Evidence] = {}
    together = Pooled(bench.draws if run.precision == "fp32" else {})
    for case, got, end in results:
        together.add(case.name, got if got and set(got) == set(case.outputs) else {})
        for output, evidence in _judge(bench, run, case, got, end).items():
            judged[Claim(run.format, run.precision, run.engine, case.name, output)] = evidence
    of_cases = dict(judged)
    for output, pooled in together.judge(bench.budget).items():
        evidence = evidence_of(pooled)
        if evidence.outcome is Outcome.MISSING:  # then what became of a case of it says more
            crashes = [found for case, found in of_cases.items() if case.output == output]
            evidence = next((found for found in crashes if found.outcome is Outcome.CRASHED), fate or evidence)
        judged[Claim(run.format, run.precision, run.engine, output=output, kind="pooled_bias")] = evidence
    return judged


def _loaded(path: Path, case: GoldenCase) -> TensorMap | None:
    """What the child left of a case; None where that is nothing whole, or far more than the case has."""
    due = sum(8 * math.prod(output.shape) for output in case.outputs.values())
    try:
        return load(path) if path.is_file() and path.stat().st_size <= _MOST_OUTPUT + 4 * due else None
    except BundleError:  # the child died while it wrote this one
        return None


def _under(bench: Bench, answer: EngineAnswer, evidence: Evidence, threads: int = 1) -> Evidence:
    """With what computed it, and under which settings; without, where the engine did not come so far."""
    session = answer.sessions.get(threads)
    if session is None:
        return replace(evidence, device=bench.device)
    return replace(evidence, device=bench.device, provider=session.provider, under=session.settings)


def _judge(
    bench: Bench, run: Run, case: GoldenCase, got: TensorMap | None, end: tuple[str, Evidence | None]
) -> dict[str, Evidence]:
    refused, fate = end
    if got is not None:
        budget = bench.budget if run.precision == "fp32" else None
        return compare_case(case, got, budget, _by_output(bench.controls or bench.cases))
    if refused:
        fate = Evidence(Outcome.CRASHED, f"the engine refused it: {refused}", stage="run")
    return {name: fate or Evidence(Outcome.MISSING, "the engine left no result", stage="run") for name in case.outputs}


def _by_output(cases: Sequence[GoldenCase]) -> dict[str, list[GoldenOutput]]:
    names = dict.fromkeys(name for case in cases for name in case.outputs)
    return {name: [case.outputs[name] for case in cases if name in case.outputs] for name in names}

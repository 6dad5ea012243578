"""Gather the evidence: one child per engine and variant, whatever becomes of it; then judge."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from exporter.compare.golden import GoldenCase, GoldenOutput
from exporter.compare.lossy import compare_lossy
from exporter.compare.outputs import compare_case
from exporter.compare.pooled import Draws, Together, draws
from exporter.engines.base import Settings
from exporter.errors import BundleError, ChildCrashed, ChildFailed, ChildOutOfMemory, ChildTimedOut, EnvironmentLacks
from exporter.lower.base import Artifact
from exporter.tensors import TensorMap, load
from exporter.verdict.claim import Claim, Evidence, Outcome
from exporter.verdict.plan import ENGINES, Run
from exporter.workers import SINGLE_THREAD, Json, Setting, call


@dataclass(frozen=True)
class Bench:
    """Where the evidence comes from: a bundle's folder and goldens, its artifacts, the source if at hand, a device.

    `controls` are the cases whose goldens serve as impostors, where those that run are not all that were recorded.
    """

    folder: Path
    golden: Path
    cases: tuple[GoldenCase, ...]
    artifacts: Mapping[str, Artifact]
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    source: Mapping[str, Any] | None
    device: str
    budget: float
    controls: tuple[GoldenCase, ...] = ()

    @cached_property
    def draws(self) -> dict[str, Draws]:
        """What can be taken together, worked out once for all runs."""
        return draws(self.cases)

    def folds(self, variant: str) -> bool:
        """Whether layers of this variant were folded into each other, so that not all they put out is in it."""
        return variant in self.artifacts and bool(self.artifacts[variant].details.get("folded"))


def gather(bench: Bench, runs: Sequence[Run], setting: Setting) -> dict[Claim, Evidence]:
    """Run every planned child and judge what it left; what did not come is evidence too."""
    evidence: dict[Claim, Evidence] = {}
    for run in runs:
        setting.say(f"verifying {run.variant} by {run.engine}")
        evidence.update(run_engine(bench, run, setting))
    return evidence


def run_engine(bench: Bench, run: Run, setting: Setting) -> dict[Claim, Evidence]:
    """Run one child on all cases: the evidence on each output, on the pooled errors, and on the process itself."""
    seen: dict[str, str] = {"stage": "load", "case": ""}

    def follow(event: dict[str, Any]) -> None:
        seen.update({key: event[key] for key in ("stage", "case") if key in event})
        if setting.on_event:
            setting.on_event(event)

    with tempfile.TemporaryDirectory(prefix="exporter-") as folder:
        into = Path(folder)
        answer: dict[str, Any] = {"sessions": {}, "refused": {}, "load": ""}
        fate: Evidence | None = None
        try:
            answer = run_request(bench, run, into, replace(setting, on_event=follow))
        except EnvironmentLacks as error:
            fate = Evidence(Outcome.MISSING, f"{error.what}; {error.hint}", stage="environment")
        except ChildTimedOut as error:
            fate = Evidence(Outcome.TIMED_OUT, f"{error.what} {error.where}", stage=seen["stage"])
        except (ChildCrashed, ChildOutOfMemory, ChildFailed) as error:
            fate = Evidence(Outcome.CRASHED, f"{error.what} {error.where}", stage=seen["stage"])
        if answer["load"]:
            fate = Evidence(Outcome.CRASHED, f"does not load: {answer['load']}", stage="load")
        judged = _judge_all(bench, run, into, answer, fate)
    process = Claim(run.format, run.precision, run.engine, kind="process")
    judged[process] = replace(
        _process(bench, answer, fate), device=bench.device, **_session(answer["sessions"].get("1"))
    )
    return judged


def _process(bench: Bench, answer: Json, fate: Evidence | None) -> Evidence:
    """Whether the child ended in order and told, for each number of threads, under which settings it computed."""
    if fate is not None:
        return fate
    sessions = answer["sessions"]
    if silent := sorted({case.threads for case in bench.cases if str(case.threads) not in sessions}):
        reason = f"the engine left no record of how it computed in {silent[0]} threads"
        return Evidence(Outcome.MISSING, reason, stage="run")
    for threads, session in sorted(sessions.items()):
        if unmet := Settings(session["asked"], session["effective"]).unmet():
            return Evidence(Outcome.MISMATCH, f"in {threads} threads {unmet[0]}", stage="load")
    return Evidence(Outcome.MATCH, elements=len(sessions), stage="run")


def _judge_all(bench: Bench, run: Run, into: Path, answer: Json, fate: Evidence | None) -> dict[Claim, Evidence]:
    """Judge each case, then all together; `fate` is what stands for results that did not come."""
    judged: dict[Claim, Evidence] = {}
    together = Together(bench.draws if run.precision == "fp32" else {})
    for index, case in enumerate(bench.cases):
        got = _loaded(into / f"{index}.safetensors")
        together.add(case.name, got if got and set(got) == set(case.outputs) else {})
        found = _judge(bench, run, case, got, (answer["refused"].get(case.name, ""), fate))
        for output, one in found.items():
            claim = Claim(run.format, run.precision, run.engine, case.name, output)
            judged[claim] = replace(one, device=bench.device, **_session(answer["sessions"].get(str(case.threads))))
    of_cases = dict(judged)
    for output, one in together.judge(bench.budget):
        claim = Claim(run.format, run.precision, run.engine, output=output, kind="pooled_bias")
        if one.outcome is Outcome.MISSING:  # then what became of a case of it says more
            crashes = [found for case, found in of_cases.items() if case.output == output]
            one = next((found for found in crashes if found.outcome is Outcome.CRASHED), fate or one)
        judged[claim] = replace(one, device=bench.device, **_session(answer["sessions"].get("1")))
    return judged


def _loaded(path: Path) -> TensorMap | None:
    try:
        return load(path) if path.is_file() else None
    except BundleError:  # the child died while it wrote this one
        return None


def _session(found: Mapping[str, Any] | None) -> dict[str, Any]:
    """What computed, and under which settings; nothing, where the engine did not come so far."""
    if found is None:
        return {}
    return {"provider": found["provider"], "under": Settings(found["asked"], found["effective"])}


def run_request(
    bench: Bench,
    run: Run,
    into: Path,
    setting: Setting,
    *,
    golden: Path | None = None,
    cases: Sequence[Sequence[str | int]] | None = None,
) -> Json:
    """Run one child on the bench's cases, or on other `cases` of another file; its answer.

    Raises:
        ExporterError: as :func:`exporter.workers.call`.
    """
    request = _request(bench, run, into)
    if golden is not None and cases is not None:
        request |= {"golden": str(golden), "cases": list(cases)}
    return call(
        "exporter.engines._child:run",
        request,
        setting.limits,
        environment={**SINGLE_THREAD, **ENGINES[run.engine].environment(run.format)},
        imports=ENGINES[run.engine].imports,
        on_event=setting.on_event,
    )


def _judge(
    bench: Bench, run: Run, case: GoldenCase, got: TensorMap | None, end: tuple[str, Evidence | None]
) -> dict[str, Evidence]:
    refused, fate = end
    if got is not None and run.precision != "fp32":
        return compare_lossy(case, got, _by_output(bench.controls or bench.cases))
    if got is not None:
        return compare_case(case, got, bench.budget, _by_output(bench.controls or bench.cases))
    if refused:
        fate = Evidence(Outcome.CRASHED, f"the engine refused it: {refused}", stage="run")
    return {name: fate or Evidence(Outcome.MISSING, "the engine left no result", stage="run") for name in case.outputs}


def _by_output(cases: Sequence[GoldenCase]) -> dict[str, list[GoldenOutput]]:
    names = cases[0].outputs
    return {name: [case.outputs[name] for case in cases] for name in names}


def _request(bench: Bench, run: Run, into: Path) -> dict[str, Any]:
    request: dict[str, Any] = {
        "engine": run.engine,
        "device": bench.device,
        "golden": str(bench.golden),
        "cases": [[case.name, case.recorded, case.threads] for case in bench.cases],
        "inputs": list(bench.inputs),
        "outputs": list(bench.outputs),
        "into": str(into),
        "format": run.format,
        "folder": None,
        "model": "",
        "source": None,
    }
    if run.format == "source":
        return {**request, "source": dict(bench.source or {})}
    artifact = bench.artifacts[run.variant]
    main = next(path for path in artifact.files if not path.endswith(".pdiparams"))
    return {
        **request,
        "folder": str((bench.folder / main).parent),
        "model": Path(main).name,
        "outputs": list(artifact.native_outputs),
    }

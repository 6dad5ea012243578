"""The budget of low precision on speed: a variant and fp32 take turns in one thread; the ratio of medians is judged.

Speeds are compared only on CPUs with the same instruction sets: they decide which kernels both sides run.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from exporter.base import machine
from exporter.base.errors import ExporterError
from exporter.base.tensors import recorded_inputs, save_scratch
from exporter.engines.job import TimingJob, runnable
from exporter.process.scratch import scratch
from exporter.process.workers import Setting
from exporter.prove.harness import Bench
from exporter.prove.proofs.base import ByClaim, Harness, Proof, per_run
from exporter.prove.proofs.promises import lower, nothing_to_measure_by
from exporter.prove.verdict.claim import Claim, Evidence, Outcome
from exporter.prove.verdict.plan import ENGINES, Run
from exporter.spec.model import Speedup

#: Rounds in which both sides run, one after the other, and the seconds of each.
ROUNDS, SECONDS = 5, 0.5
#: How many times what a run may take its timing may: more rows than any case has, and calls that are repeated.
_MORE = 4
#: How Paddle Inference runs fp32 when nobody asks for another engine: the way that operations have it.
DEFAULT_OF = {"paddle_inference_int8": "paddle_inference_default"}


class Speed(ByClaim):
    """One claim for each variant of low precision and the engine that its budget names.

    Where that engine is none of the spec's, or runs no such variant, the promise is planned all the same, and MISSING:
    a release refuses it, and a bundle may say anything.
    """

    kind = "speed"
    promise = True

    def plan(self, harness: Harness) -> frozenset[Claim]:
        planned: list[Run] = []
        for precision in dict.fromkeys(precision for _, precision in lower(harness.variants)):
            wish = harness.promised(precision).min_speedup
            if wish is None:
                continue
            runs = [run for run in harness.runs if (run.precision, run.engine) == (precision, wish.engine)]
            if not runs and not harness.narrowing.engines:
                runs = [Run(format, low, wish.engine) for format, low in harness.variants if low == precision]
            planned += runs
        return per_run(self.kind, planned)

    def prove_claim(self, claim: Claim, harness: Harness) -> Evidence:
        wish = harness.promised(claim.precision).min_speedup
        assert wish is not None  # noqa: S101  # the claim was planned because there is one
        if harness.run_of(claim) not in harness.runs:
            reason = f"a speed is promised of '{claim.engine}', and no engine of the spec that runs it is called so"
            return Evidence(Outcome.MISSING, reason, stage="plan")
        plain = _plain(claim, wish)
        if plain.variant not in harness.subject.artifacts:
            return nothing_to_measure_by(claim)
        speed = prove_speed((harness.run_of(claim), plain), wish, harness.bench, harness.setting)
        return on_the_like(speed, harness.subject.released_on)


def _plain(claim: Claim, wish: Speedup) -> Run:
    """The run of fp32 that a speed is measured over: of the same format, where its engine runs that."""
    over = wish.over or DEFAULT_OF.get(claim.engine, claim.engine)
    return Run(claim.format if ENGINES[over].runs(claim.format, "fp32") else "onnx", "fp32", over)


def prove_speed(runs: tuple[Run, Run], wish: Speedup, bench: Bench, setting: Setting) -> Evidence:
    """Measure both runs in turns; a ratio of medians, with the range of the rounds' own ratios."""
    fast, plain = runs
    setting.say(f"timing {fast.variant} by {fast.engine} beside fp32 by {plain.engine}")
    times: dict[Run, list[float]] = {fast: [], plain: []}
    with scratch() as folder:
        inputs = folder / "inputs.safetensors"
        rows = _write(bench, wish.batch, inputs)
        try:
            for _ in range(ROUNDS):
                for run, medians in times.items():
                    medians.append(_median(bench, run, inputs, setting))
        except ExporterError as error:
            return Evidence(Outcome.CRASHED, str(error), stage="run")
    ratios = [before / after for before, after in zip(times[plain], times[fast], strict=True)]
    ratio = statistics.median(ratios)
    said = (
        f"{ratio:.2f} times as fast as fp32 by {plain.engine} ({min(ratios):.2f} to {max(ratios):.2f} in {ROUNDS} "
        f"rounds, {rows} rows, one thread), at least {wish.ratio:g} promised"
    )
    outcome = Outcome.MATCH if ratio >= wish.ratio else Outcome.MISMATCH
    metrics = {"ratio": ratio, "low": min(ratios), "high": max(ratios)}
    return Evidence(outcome, said, elements=ROUNDS, metrics=metrics)


def _write(bench: Bench, batch: int | None, into: Path) -> int:
    """The first case's inputs, their rows repeated to make `batch` where that is asked for; how many rows that is."""
    inputs = recorded_inputs(bench.golden, bench.cases[0].recorded, bench.inputs)
    if batch is not None:
        inputs = {name: np.resize(value, (batch, *value.shape[1:])) for name, value in inputs.items()}
    save_scratch(into, {f"speed/input/{name}": value for name, value in inputs.items()})
    return max((len(value) for value in inputs.values() if value.ndim), default=1)


def _median(bench: Bench, run: Run, inputs: Path, setting: Setting) -> float:
    artifact = runnable(bench.artifacts[run.variant], bench.folder)
    bounded = bench.bounded(run, setting, times=_MORE)
    timing = TimingJob(run.engine, artifact, inputs, ("speed",), SECONDS, bench.device).measure(bounded)
    return float(statistics.median(timing.cases["speed"].times))


def on_the_like(evidence: Evidence, released_on: Sequence[str]) -> Evidence:
    """The evidence for a speed-up; a broken promise is inconclusive where the CPU has other instruction sets.

    `released_on` are the abilities that the manifest records (:data:`exporter.base.machine.ABILITIES`); empty in
    bundles that record none, which are judged as they are.
    """
    here = set(machine.cpu()["abilities"])
    lacking, more = sorted(set(released_on) - here), sorted(here - set(released_on))
    if evidence.outcome is not Outcome.MISMATCH or not released_on or not (lacking or more):
        return evidence
    differs = f"has no {', '.join(lacking)}" if lacking else f"has {', '.join(more)}"
    there = "had" if lacking else "had not"
    reason = f"{evidence.reason}; but this CPU {differs}, which the one that released it {there}"
    return replace(evidence, outcome=Outcome.INCONCLUSIVE, reason=reason)


plugin: Proof = Speed()

"""The proof of the steps around the model: on raw samples deployment's give what training's gave, to the answer.

`source/pipeline/preprocess` and `source/pipeline/postprocess` compare the chains, wherever the bundle is: training's
values were recorded, deployment's are computed anew. With the model's code at hand its functions run again, too. For
each engine on each fp32 variant `…/pipeline/answer` goes the whole way, from a raw sample to the answer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from exporter.base.errors import BundleError, EnvironmentLacks, ExporterError
from exporter.process.job import Job, Q
from exporter.process.scratch import scratch
from exporter.process.workers import SINGLE_THREAD, Setting, call
from exporter.prove.proofs.base import Harness, Proof
from exporter.prove.proofs.samples import SAMPLES, answered, fed, has_functions, moves, run_chains
from exporter.prove.verdict.claim import Claim, Evidence, Outcome
from exporter.spec.pipeline import Pipeline
from exporter.steps.answer import AnswerRequest
from exporter.steps.answer import judge as judge_answer
from exporter.steps.base import CLASSES, VALUE
from exporter.steps.chain import read_chain
from exporter.steps.compare import Measure
from exporter.steps.judge import Judged, SideRequest
from exporter.steps.judge import judge as judge_side
from exporter.steps.material import Material
from exporter.steps.run import load_states, save_states

_SIDES = {"preprocess": "before", "postprocess": "after"}


class AroundModel(Proof):
    """Claims of both sides of the model, and of the way through each fp32 artifact.

    An answer is planned where every step behind the model can run without the user's code.
    """

    kind = "pipeline"

    def plan(self, harness: Harness) -> frozenset[Claim]:
        pipeline = harness.spec.pipeline
        if pipeline is None:
            return frozenset()
        claims = {Claim("source", "fp32", output=side, kind=self.kind) for side in pipeline.compared}
        behind = pipeline.postprocess if "postprocess" in pipeline.compared else None
        if behind and not has_functions(read_chain(behind.deployment)):
            claims |= {
                Claim(run.format, run.precision, run.engine, output="answer", kind=self.kind)
                for run in harness.runs
                if run.format != "source" and run.precision == "fp32"
            }
        return frozenset(claims)

    def prove(self, claims: Sequence[Claim], harness: Harness) -> Mapping[Claim, Evidence]:
        pipeline = harness.spec.pipeline
        if pipeline is None or not claims:
            return {}
        path = harness.subject.golden.with_name(SAMPLES)
        if not path.is_file():
            reason = f"the bundle holds no {SAMPLES}: nothing was recorded of the pipeline that its spec names"
            return dict.fromkeys(claims, Evidence(Outcome.MISSING, reason, stage="plan"))
        with scratch() as place:
            return _Comparison(harness, pipeline, path, place).prove(claims)

    def notes(self, harness: Harness) -> Sequence[str]:
        pipeline = harness.spec.pipeline
        if pipeline is None:
            return ()
        own = sorted((claim, one) for claim, one in harness.evidence.items() if claim.kind == self.kind)
        said = [f"{claim}: {one.reason}" for claim, one in own if one.outcome is Outcome.MATCH and one.reason]
        return (*said, *self._not_run(pipeline, harness.subject.no_source))

    def _not_run(self, pipeline: Pipeline, no_source: str) -> Sequence[str]:
        """What is said of functions whose code is not at hand."""
        if not no_source:
            return ()
        chains = [chain for side in pipeline.compared for chain in _both(getattr(pipeline, side))]
        functions = sorted({str(link) for chain in chains for link in chain if has_functions((link,))})
        if not functions:
            return ()
        said = "which are not run without --source: what they gave at the release was taken"
        return (f"the pipeline has functions of the model's code ({', '.join(functions)}), {said}",)


def _both(side: Any) -> list[Any]:
    return [read_chain(side.training), read_chain(side.deployment)]


@dataclass
class _Comparison:
    """One run of the proof: the file of the samples, and a folder for what is made of them."""

    harness: Harness
    pipeline: Pipeline
    path: Path
    place: Path

    def prove(self, claims: Sequence[Claim]) -> dict[Claim, Evidence]:
        """Both sides first: an answer is none where the inputs differ already."""
        fresh, strange = self._fresh()
        proven: dict[Claim, Evidence] = {}
        for claim in claims:
            if claim.format == "source":
                proven[claim] = strange or self._side(claim.output, fresh)
        ends = self.place / "before.safetensors"
        for claim in claims:
            if claim.format != "source":
                self.harness.setting.say(f"answering the samples by {claim.variant} in {claim.engine}")
                proven[claim] = self._answer(claim, ends)
        return proven

    def _fresh(self) -> tuple[Path | None, Evidence | None]:
        """What the functions give now, where the code is at hand; or that they give something else every time."""
        sides = [getattr(self.pipeline, side) for side in self.pipeline.compared]
        if self.harness.subject.no_source or not has_functions(*(chain for side in sides for chain in _both(side))):
            return None, None
        try:
            old = Material.read(self.path)
            raw = {name: old.tensors[f"raw/{number}"] for number, name in enumerate(old.samples)}
            new = Material.of(raw)
            run_chains(new, self.harness.subject, self.pipeline, self.harness.setting)
        except ExporterError as error:
            return None, Evidence(Outcome.CRASHED, str(error), stage="run")
        if changed := _changed(old, new):
            reason = f"{changed} of training gives another value than was recorded: it draws at random, or was changed"
            return None, Evidence(Outcome.MISMATCH, reason)
        path = self.place / "fresh.safetensors"
        new.write(path)
        return path, None

    def _side(self, name: str, fresh: Path | None) -> Evidence:
        side, chains = _SIDES[name], getattr(self.pipeline, name)
        request = SideRequest(
            side,
            training=tuple(chains.training),
            deployment=tuple(chains.deployment),
            material=self.path,
            fresh=fresh,
            tolerance=self.pipeline.tolerance,
            names=fed(self.harness.spec) if side == "before" else (VALUE, CLASSES),
            into=self.place / f"{side}.safetensors",
        )
        return _judged(judge_side, request, self.harness.setting)

    def _answer(self, claim: Claim, ends: Path) -> Evidence:
        assert self.pipeline.postprocess is not None  # noqa: S101  # the claim was planned because there is one
        if not ends.is_file():
            return Evidence(Outcome.INCONCLUSIVE, "the steps before the model differ: see source/pipeline/preprocess")
        run, made = self.harness.run_of(claim), self.place / f"{claim.variant}-{claim.engine}.safetensors"
        try:
            save_states(made, answered(self.harness.subject, run, load_states(ends), self.harness.setting))
        except EnvironmentLacks as error:  # as an engine that is not here
            return Evidence(Outcome.MISSING, f"{error.what}; {error.hint}", stage="environment")
        except ExporterError as error:
            return Evidence(Outcome.CRASHED, str(error), stage="run")
        behind = self.pipeline.postprocess
        request = AnswerRequest(
            training=tuple(behind.training),
            deployment=tuple(behind.deployment),
            material=self.path,
            made=made,
            moves=moves(self.harness.subject),
        )
        return _judged(judge_answer, request, self.harness.setting)


def _judged(job: Job[Q, Judged], request: Q, setting: Setting) -> Evidence:
    """The evidence of a child that imports none of the user's code."""
    limits = replace(setting.limits, code=None)
    try:
        answer = call(job, request, limits, environment=SINGLE_THREAD, on_event=setting.on_event)
        said = answer.reason or "; ".join(answer.notes)
        return Evidence(Outcome(answer.outcome), said, elements=answer.elements, provider="by steps")
    except (ExporterError, ValueError) as error:
        stage = "load" if isinstance(error, BundleError) else "run"
        return Evidence(Outcome.CRASHED, str(error), stage=stage)


def _changed(old: Material, new: Material) -> str:
    """Which recorded value of training a new run does not give; empty where it gives all."""
    for name, value in sorted(old.tensors.items()):
        side, _, rest = name.partition("/")
        if side not in _SIDES.values() or not rest.startswith("training/"):
            continue
        step, number, key = rest.split("/")[1:4]
        again = new.tensors.get(name)
        if again is None or Measure((key,)).unlike({key: value}, {key: again}):
            return f"step {step} {side} the model, on sample {int(number) + 1},"
    return ""


plugin: Proof = AroundModel()

"""What to try where a report does not pass: one command or one edit of the spec, by its gravest claim."""

from __future__ import annotations

import shlex

from exporter.base.numbers.golden import NOT_FINITE_IN, ROWS_OF
from exporter.base.words import plain
from exporter.prove.judge.report import Report
from exporter.prove.proofs.quantisation.noise import FRONT
from exporter.prove.verdict.claim import OUTPUTS, Claim, Evidence, Outcome

#: Engines that compute as they come, and those of the same library that are asked for exact kernels.
_STRICT = {"paddle_inference_default": "paddle_inference", "openvino_default": "openvino"}
#: The kinds that a search for layers to keep in float32 can make hold.
_NOISE = ("snr_db", "top1", "metric")
_STEPS = {
    True: "correct the step that is named, in deployment or under `pipeline` in the spec; docs/pipeline.md",
    False: "name `samples` under `pipeline` that every step changes, or take the step out of it; docs/pipeline.md",
}
_VALUES = "give the spec inputs that the model was made for: `values: dataset`, or `values: FILE.npy`"


def advice(report: Report, bundle: str) -> str:
    """One command or edit; empty where it passed. `bundle` is the folder that was judged, as a user would name it."""
    if report.verdict.passed:
        return ""
    claim, evidence = report.rows()[0]
    if evidence.outcome in (Outcome.MATCH, Outcome.WAIVED):
        return _against(report, bundle)
    if claim.kind == "pipeline" and evidence.outcome is not Outcome.MISSING:
        return _STEPS[evidence.outcome is Outcome.MISMATCH]
    if evidence.outcome in (Outcome.VACUOUS, Outcome.INCONCLUSIVE):
        return _VALUES
    if evidence.outcome is Outcome.MISSING:
        return _missing(evidence)
    if evidence.outcome is Outcome.TIMED_OUT:
        return f"{_again(claim, bundle)} --timeout 3600, which gives it an hour"
    return _of_the_model(report, claim) or _again(claim, bundle)


def _against(report: Report, bundle: str) -> str:
    if report.verdict.objections:
        return "exporter release SPEC, and mend what it says: this bundle is of a release that did not pass"
    if report.verdict.narrowed:
        return f"exporter verify {shlex.quote(bundle)}, without narrowing it"
    return "take the waiver of the outputs out of the spec, and exporter release SPEC"


def _missing(evidence: Evidence) -> str:
    if evidence.stage == "environment":
        return "exporter doctor, which names the cure for each engine that is not here"
    return "exporter release SPEC: the bundle lacks what its spec promises"


def _of_the_model(report: Report, claim: Claim) -> str:
    """An edit of the spec that could make the claim hold, or the part that fails alone; empty where none is known."""
    if claim.kind in _NOISE and claim.precision == "int8":
        if any(note.startswith(f"{claim.variant}: {FRONT}") for note in report.notes):
            return (
                "calibrate with more of the real inputs, or leave int8 out of the spec: the search found nothing better"
            )
        return "`precisions: {int8: {search: true}}` in the spec, which lets the noisiest layers compute in float32"
    if claim.kind in ("size", "speed"):
        key = {"size": "max_size", "speed": "min_speedup"}[claim.kind]
        return f"change `precisions.{claim.precision}.budget.{key}` in the spec: the promise is not kept here"
    if claim.kind == "determinism":
        return "name engines that keep it under `engines`, or take `determinism` out of the spec; docs/determinism.md"
    if claim.kind in ("weights", "interface"):
        return "exporter release SPEC, which writes the files anew"
    if edge := _of_an_edge(claim):
        return edge
    if claim.engine in _STRICT:
        return f"`{_STRICT[claim.engine]}` in place of `{claim.engine}` under `engines` in the spec"
    own = [blame.repro for blame in report.blames if (blame.claim.variant, blame.claim.engine) == _run(claim)]
    return f"cat {shlex.quote(plain(own[0]))}/README.md, which has the command that shows it again" if any(own) else ""


def _of_an_edge(claim: Claim) -> str:
    """What to do where only a row fails that holds an end of its input's range, or what is not finite."""
    kind = claim.case.partition(":")[2].partition("-")[0]
    if kind.startswith(NOT_FINITE_IN):
        return f"take `inputs.{kind.removeprefix(NOT_FINITE_IN)}.finite: false` out of the spec; docs/not-finite.md"
    if not kind.startswith(ROWS_OF):
        return ""
    name = kind.removeprefix(ROWS_OF)
    return (
        f"mask with a large finite number, such as -1e9, in place of -inf; or promise that no such row is sent: "
        f"`inputs.{name}.empty_rows: false` in the spec, or narrower `inputs.{name}.values`; docs/not-finite.md"
    )


def _run(claim: Claim) -> tuple[str, str]:
    return claim.variant, claim.engine


def _again(claim: Claim, bundle: str) -> str:
    """The command that runs just this claim's part of the plan, and leaves its inputs behind."""
    narrowed = " --source ." if claim.format == "source" else f" --engines {claim.engine}" if claim.engine else ""
    case = f" --case {shlex.quote(plain(claim.case))}" if claim.kind == OUTPUTS and claim.case else ""
    return f"exporter verify {shlex.quote(plain(bundle))}{case}{narrowed} --repro repro"

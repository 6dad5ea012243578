"""Judge the answers of a kit: by the rule of every engine, over the cases that were asked, and say whose they are.

The plan comes from the bundle and from whoever judges, never from the answers: what did not come is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

from exporter.base.errors import UsageError, did_you_mean
from exporter.base.numbers.golden import GoldenCase
from exporter.base.numbers.norms import decibel, energies
from exporter.base.numbers.rule import promised_of
from exporter.base.tensors import Array
from exporter.base.words import plain
from exporter.bundle.open import Bundle, open_bundle, released_spec
from exporter.bundle.received import ANYBODY, Receiver, unvouched
from exporter.bundle.source import source_in
from exporter.bundle.subject import about, objections, subject_of
from exporter.deploy.elsewhere.answers import Answers, Fault, due_of, read_answers
from exporter.deploy.elsewhere.cases import Wanted, chosen
from exporter.deploy.elsewhere.causes.find import Cause, find_cause
from exporter.deploy.elsewhere.causes.inputs import Runs
from exporter.deploy.elsewhere.causes.outputs import Wrong
from exporter.deploy.elsewhere.kit import variant_of
from exporter.deploy.elsewhere.layers import answered, judge_layers, smallest
from exporter.export.lower.convert import PRECISIONS
from exporter.process.workers import Setting
from exporter.prove.compare.golden import input_shapes
from exporter.prove.harness import Result, judge_results
from exporter.prove.judge.judge import PROOFS
from exporter.prove.judge.report import Report, weights_note
from exporter.prove.proofs.base import Harness, Subject
from exporter.prove.proofs.promises import Promise, is_exact, over_cases
from exporter.prove.root_cause.witness import Witnesses
from exporter.prove.verdict.blame import Blame
from exporter.prove.verdict.claim import OUTPUTS, Claim, Evidence, Outcome, Verdict
from exporter.prove.verdict.plan import ENGINES, Run
from exporter.prove.verdict.waivers import expired, unaccepted, waived
from exporter.spec.model import PrecisionSettings, Spec

#: What the report names as the provider of numbers that nobody saw being computed.
ELSEWHERE = "measured elsewhere"
_KINDS = (OUTPUTS, "pooled_bias", "snr_db", "top1")
#: Beyond so many dB no value was rounded to float16 on the way (measured: 58 to 72 dB where they were).
_FAST = 80.0
#: Letters of an engine's name.
_MOST_ENGINE = 120


@dataclass(frozen=True)
class Wish:
    """What is judged, and how: the folder of answers, what the verifier calls the engine, and the precision.

    `wanted` narrows the cases as the kit was narrowed; `variant` is the one that the kit carries. With `layers` its
    intermediate values are judged too, and with the folder `source` of the model's code the line is named.
    """

    answers: Path
    engine: str
    wanted: Wanted
    precision: str = ""
    variant: str | None = None
    layers: bool = False
    source: Path | None = None


def judge_elsewhere(folder: Path, wish: Wish, setting: Setting, receiver: Receiver = ANYBODY) -> Report:
    """Judge numbers that somebody measured on a machine of their own: the answers to the kit of a bundle.

    Raises:
        UsageError: the answers cannot be read at all, or are of another bundle; a precision or variant is unknown.
        BundleError: the bundle is damaged.
    """
    setting.say("opening the bundle")
    bundle = open_bundle(folder)
    spec, refused = receiver.judged_by(released_spec(bundle))
    name = variant_of(bundle.manifest, wish.variant)
    run = _run(bundle, name, wish)
    source = source_in(wish.source, bundle.manifest.provenance, spec)
    setting = setting.importing(source.folder)
    subject = subject_of(bundle, _with_precision(spec, run.precision), "cpu", source.checkpoint, source.absent)
    selected = chosen(subject.recorded, wish.wanted)
    if str(wish.wanted):
        subject = replace(subject, missing=())
    bench = replace(subject.bench(), cases=tuple(case for _, case in selected), controls=subject.recorded)
    harness = Harness(subject, bench, (run,), setting)
    setting.say(f"judging the answers of {plain(wish.engine)}")
    answers = _of_this_bundle(read_answers(wish.answers, due_of(selected), bench.outputs), bundle, wish)
    with np.errstate(all="ignore"):  # a stranger's numbers may be of any size
        evidence = _evidence(harness, run, selected, answers)
    verdict = Verdict(_plan(harness), evidence, str(wish.wanted), objections(bundle))
    today = datetime.now(timezone.utc).date()
    report = _report(bundle, subject, waived(verdict, spec.waivers, today), (run, answers))
    later = (*expired(spec.waivers, today), *unaccepted(verdict, refused, today), *unvouched(bundle, receiver))
    report = replace(report, notes=(*report.notes, *later))
    runs = _runs(harness, name, setting)
    if not report.verdict.passed:
        wrongs = list(_wrongs(harness, verdict, selected, (run, answers)))
        report = _blamed(report, run, find_cause(wrongs, runs, _lower_precision(wrongs, run)))
    return _with_layers(report, harness, selected, (wish, runs)) if wish.layers else report


def _run(bundle: Bundle, name: str, wish: Wish) -> Run:
    """Return what the claims are about: the kit's variant, in the precision that the verifier names, on this engine."""
    variant = bundle.manifest.variants[name]
    precision = wish.precision or variant.precision
    if precision != "fp32" and precision not in PRECISIONS.names():
        hint = did_you_mean(precision, ("fp32", *PRECISIONS.names()))
        raise UsageError(f"'{precision}' is no precision", where="--precision", hint=hint)
    text = wish.engine.strip()
    if not text or not text.isprintable() or len(text) > _MOST_ENGINE:
        hint = 'give one, as in --engine "rknn 2.5 on RK3588"'
        raise UsageError(f"is no name of an engine of 1 to {_MOST_ENGINE} letters", where="--engine", hint=hint)
    return Run(variant.format, precision, text)


def _with_precision(spec: Spec, precision: str) -> Spec:
    """The spec with a budget for the precision: its own where it has one, else the precision's defaults."""
    if precision in spec.precisions:
        return spec
    return spec.model_copy(update={"precisions": {**spec.precisions, precision: PrecisionSettings()}})


def _of_this_bundle(answers: Answers, bundle: Bundle, wish: Wish) -> Answers:
    """Raises UsageError where answers say that they are another bundle's."""
    text = answers.about.bundle
    if text is not None and text.removeprefix("sha256:") != bundle.manifest.digest:
        raise UsageError(
            f"answers the kit of another bundle, {plain(text)[:80]}; this one is {bundle.manifest.digest}",
            where=str(wish.answers),
            hint="run the kit of this one, or give the bundle that they answer",
        )
    return answers


def _plan(harness: Harness) -> frozenset[Claim]:
    """The claims of every kind that numbers alone can answer, planned as for any engine."""
    return frozenset[Claim]().union(*(PROOFS[kind].plan(harness) for kind in _KINDS))


def _evidence(
    harness: Harness, run: Run, selected: Sequence[tuple[int, GoldenCase]], answers: Answers
) -> dict[Claim, Evidence]:
    results: list[Result] = []
    faults: dict[Claim, Fault] = {}
    for number, case in selected:
        answered = answers.cases[number]
        results.append(
            (case, {name: value for name, value in answered.items() if isinstance(value, np.ndarray)}, ("", None))
        )
        for name, value in answered.items():
            if isinstance(value, Fault):
                faults[Claim(run.format, run.precision, run.engine, case.name, name)] = value
    evidence = judge_results(harness.bench, run, results)
    for claim, fault in faults.items():
        if claim in evidence:
            evidence[claim] = Evidence(Outcome.MISSING, fault.reason, stage="load")
    evidence |= promises_of(harness, run, evidence)
    device = answers.about.device
    return {claim: replace(proof, provider=ELSEWHERE, device=device) for claim, proof in evidence.items()}


def promises_of(harness: Harness, run: Run, evidence: dict[Claim, Evidence]) -> Iterator[tuple[Claim, Evidence]]:
    """Judge what a budget of low precision says over all promised cases."""
    if run.precision == "fp32":
        return
    budget = harness.promised(run.precision)
    exact = {output.name: is_exact(output.dtype) for output in harness.subject.outputs}
    for kind in ("snr_db", "top1"):
        for claim in PROOFS[kind].plan(harness):
            wanted = promised_of(exact.get(claim.output, True), budget.min_snr_db, budget.min_top1).get(kind)
            if wanted is not None and claim.output:
                yield claim, over_cases(Promise(claim, wanted), harness.bench.cases, evidence)


def _report(bundle: Bundle, subject: Subject, verdict: Verdict, measured: tuple[Run, Answers]) -> Report:
    run, answers = measured
    facts, spec = about(bundle.manifest, digest=bundle.manifest.digest), subject.spec
    whose = answers.about
    narrowed = [f"partial: {verdict.narrowed}; a verdict on that is none on the rest"] if verdict.narrowed else []
    notes = [f"{run.variant}/{run.engine}: {ELSEWHERE}, {whose}; sha256 of the answers {answers.sha256}"]
    if whose.precision != run.precision:
        notes.append(
            f"the answers say that they were computed in {whose.precision}, and they were judged as {run.precision}: "
            f"--precision {whose.precision}"
        )
    if whose.inputs is not None and whose.inputs != tuple(spec.inputs):
        notes.append(f"the inputs were fed in the order {', '.join(map(plain, whose.inputs))}")
    untrained = [note] if (note := weights_note(spec, facts.notes)) else []
    return Report(
        name=facts.name,
        version=facts.version,
        verdict=verdict,
        budget=spec.budget,
        notes=(*narrowed, *notes, *answers.notes, *untrained, *facts.notes),
        waivers=tuple(waiver.model_dump(mode="json") for waiver in spec.waivers),
        digest=facts.digest,
        methods=facts.methods,
    )


def _runs(harness: Harness, name: str, setting: Setting) -> Runs | None:
    """Return what runs the kit's variant here, to try causes; None where no engine is known that does."""
    artifact = harness.subject.artifacts[name]
    known = [*harness.spec.engines, "onnxruntime"]
    able = [
        engine
        for engine in known
        if engine in ENGINES.names() and ENGINES[engine].runs(artifact.format, artifact.precision)
    ]
    return Runs(harness.bench, name, able[0], setting) if able else None


def _with_layers(
    report: Report, harness: Harness, selected: Sequence[tuple[int, GoldenCase]], measured: tuple[Wish, Runs | None]
) -> Report:
    """The report with own and inherited errors of what lies inside.

    Raises:
        UsageError: no intermediate value came, or nothing here runs the variant.
    """
    wish, runs = measured
    if runs is None:
        raise UsageError(
            "no engine here runs the kit's variant, so layers cannot be judged",
            where="--layers",
            hint="install onnxruntime",
        )
    setting = runs.setting
    setting.say("telling own errors from inherited ones")
    worst = _fails_most(report.verdict)
    case = answered(wish.answers, selected, worst) or smallest(selected, input_shapes(harness.bench.golden))
    run = harness.runs[0]
    claim = Claim(run.format, run.precision, run.engine, case[1].name, next(iter(case[1].outputs)))
    witnesses = Witnesses(harness.bench, setting) if wish.source is not None else None
    layers = judge_layers(wish.answers, case, runs, claim, witnesses)
    blames = (*report.blames, *([layers.blame] if layers.blame else []))
    other = worst and worst != case[1].name
    more = (
        (f"layers: of case {case[1].name}; {worst} fails most: exporter kit BUNDLE --layers-of {worst}",)
        if other
        else ()
    )
    return replace(report, notes=(*report.notes, *layers.notes, *more), blames=blames)


def _fails_most(verdict: Verdict) -> str:
    """The case with the largest error ratio among those that are wrong; empty where none is."""
    wrong = {
        claim.case: verdict.of(claim).metrics.get("error_ratio", 0.0)
        for claim in sorted(verdict.plan)
        if claim.kind == OUTPUTS and verdict.of(claim).outcome is Outcome.MISMATCH
    }
    return max(wrong, key=lambda name: wrong[name], default="")


def _wrongs(
    harness: Harness, verdict: Verdict, selected: Sequence[tuple[int, GoldenCase]], measured: tuple[Run, Answers]
) -> Iterator[Wrong]:
    """Every answer that is not right, in the order of the cases."""
    run, answers = measured
    places = tuple(output.name for output in harness.subject.outputs)
    names = answers.about.outputs or places
    cases = [case for _, case in selected]
    low = {
        claim.output
        for claim in verdict.plan
        if claim.kind in ("snr_db", "top1") and verdict.of(claim).outcome in (Outcome.MISMATCH, Outcome.MISSING)
    }
    for at, (number, case) in enumerate(selected):
        for name in case.outputs:
            proof = verdict.of(Claim(run.format, run.precision, run.engine, case.name, name))
            if proof.outcome in (Outcome.MISMATCH, Outcome.MISSING) or (name in low and proof.outcome is Outcome.MATCH):
                yield Wrong(case, name, answers.cases[number], places, names, tuple(cases[:at]), tuple(cases[at + 1 :]))


def _lower_precision(wrongs: Sequence[Wrong], run: Run) -> Cause | None:
    """Tell whether answers that float32's rule refuses would keep the budget of a lower precision."""
    if run.precision != "fp32":
        return None
    pairs = [(wrong.truth, wrong.got) for wrong in wrongs if wrong.truth.dtype.kind == "f" and _whole(wrong)]
    if not pairs:
        return None
    parts = [energies(truth, got) for truth, got in pairs if got is not None and not isinstance(got, Fault)]
    reached = decibel(sum(signal for signal, _ in parts), sum(noise for _, noise in parts))
    for precision in ("fp16", "int8"):
        wanted = PRECISIONS[precision].budget.min_snr_db
        if wanted is not None and reached >= wanted:
            text = f"it has {reached:.0f} dB, as of {precision}: --precision {precision} judges it by that budget"
            if reached >= _FAST:
                text = (
                    f"it has {reached:.0f} dB, nearer than {precision} comes: float32 by faster kernels (Winograd, "
                    f"approximate exponentials); ask for exact ones, or judge it by --precision {precision}"
                )
            return Cause("reduced precision", text, tuple(wrong.case.name for wrong in wrongs), len(wrongs))
    return None


def _whole(wrong: Wrong) -> bool:
    got: Array | Fault | None = wrong.got
    return isinstance(got, np.ndarray) and got.shape == wrong.truth.shape and bool(np.isfinite(got).all())


def _blamed(report: Report, run: Run, cause: Cause | None) -> Report:
    """The report with the cause in the place of a blame; the stage is the engine, since the file is ours."""
    failed = [claim for claim, proof in report.rows() if proof.outcome not in (Outcome.MATCH, Outcome.WAIVED)]
    claim = failed[0] if failed else Claim(run.format, run.precision, run.engine)
    reason = str(cause) if cause else "no cause that is known explains it"
    return replace(report, blames=(Blame(claim, "engine" if cause else "", reason),))

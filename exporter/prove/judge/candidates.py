"""Judge files that other tools wrote, each in the place of our own variants: by the same claims and controls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path

from exporter.base.errors import UsageError
from exporter.base.files import sha256_file
from exporter.export.sources.foreign import adopt, beside, format_of
from exporter.process.scratch import scratch
from exporter.process.workers import Setting
from exporter.prove.judge.judge import About, blame, harness_of, judge
from exporter.prove.judge.report import REFERENCE, Report
from exporter.prove.proofs.base import Subject
from exporter.prove.verdict.claim import Verdict
from exporter.prove.verdict.plan import ENGINES, Run
from exporter.prove.verdict.waivers import waived
from exporter.spec.model import PrecisionSettings, Spec

#: Who runs a file of a format where the spec names nobody who does.
_USUAL = {"onnx": "onnxruntime", "openvino": "openvino", "pir": "paddle_inference", "pdmodel": "paddle_inference"}
#: In the place of a source that only serves for comparison.
_EAGER = (Run("source", "fp32", "eager"),)


def runs_of(format: str, engines: Sequence[str]) -> tuple[Run, ...]:
    """Return the runs of a file by those of the engines that run its format; by the usual one where none does."""
    able = [name for name in engines if ENGINES[name].runs(format, "fp32")]
    return tuple(Run(format, "fp32", name) for name in able or [_USUAL[format]])


def judge_file(subject: Subject, file: Path, runs: Sequence[Run], about: About, setting: Setting) -> Report:
    """Judge a file in the place of the variants of `subject`, whose source, goldens and names it is held against.

    Raises:
        UsageError: the file takes or gives other tensors.
        BundleError: it is damaged.
    """
    format = format_of(file, "artifact")
    with scratch() as place:
        own = next(artifact for artifact in subject.artifacts.values() if artifact.precision == "fp32")
        adopted = adopt(file, (own, subject.folder), place, setting)
        untraced = () if adopted.traced else (format,)
        lost = [] if adopted.traced else [f"{file} stores no tensor of the model as it was: what it computes proves it"]
        only = {"formats": (format,), "precisions": {"fp32": PrecisionSettings()}, "candidates": ()}
        foreign = replace(
            subject,
            spec=subject.spec.model_copy(update=only),
            folder=place,
            artifacts={format: adopted.artifact},
            untraced=untraced,
        )
        harness = harness_of(foreign, runs, setting)
        report = judge(harness, replace(about, notes=(*about.notes, *lost)))
        return blame(harness, report, None)


def with_candidates(report: Report, subject: Subject, about: About, setting: Setting) -> Report:
    """Judge each candidate of the spec as well, and add what came of it under its name.

    A candidate that cannot be read or fits no input was refused before; what it computes wrong fails the whole.
    """
    spec = subject.spec
    for candidate in spec.candidates:
        file = Path(candidate.file)
        setting.say(f"judging {candidate.name}")
        format = format_of(file, "candidates")
        plain = replace(subject, spec=spec.model_copy(update={"waivers": ()}))
        own = judge_file(plain, file, (*_EAGER, *runs_of(format, spec.engines)), replace(about, notes=()), setting)
        report = _joined(report, own, (format, candidate.name), spec)
    return report


def _joined(report: Report, other: Report, names: tuple[str, str], spec: Spec) -> Report:
    """Add the claims on a candidate's file; `names` are its format and its own name, under which they then stand."""
    format, name = names
    renamed = {claim: replace(claim, format=name) for claim in other.verdict.plan if claim.format == format}
    evidence = {renamed[claim]: proof for claim, proof in other.verdict.evidence.items() if claim in renamed}
    today = datetime.now(timezone.utc).date()
    own, ours = waived(Verdict(frozenset(renamed.values()), evidence), spec.waivers, today), report.verdict
    merged = replace(ours, plan=ours.plan | own.plan, evidence={**ours.evidence, **own.evidence})
    blames = [replace(blame, claim=renamed[blame.claim]) for blame in other.blames if blame.claim in renamed]
    about = f"{format}/"
    new = [note for note in other.notes if note not in report.notes and not note.startswith(REFERENCE)]
    notes = [f"{name}/{note.removeprefix(about)}" if note.startswith(about) else f"{name}: {note}" for note in new]
    return replace(
        report,
        verdict=merged,
        notes=(*report.notes, *notes),
        blames=(*report.blames, *blames),
    )


def digests(file: Path) -> str:
    """Return the sha256 of a file, and of the one beside it that holds its numbers, in words."""
    numbers = beside(file)
    files = (file, numbers) if numbers is not None and numbers.is_file() else (file,)
    return " and ".join(sha256_file(path) for path in files)


def refuse_engines(format: str, engines: Sequence[str]) -> None:
    """Make sure that some of the engines that somebody asked for runs a file; raises UsageError."""
    if engines and not any(ENGINES[name].runs(format, "fp32") for name in engines):
        able = ", ".join(name for name, engine in ENGINES.all() if engine.runs(format, "fp32"))
        what = f"{' and '.join(engines)} run no file of the format '{format}'"
        raise UsageError(what, where="--engines", hint=f"name one of: {able}")

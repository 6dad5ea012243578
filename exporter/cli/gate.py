"""`exporter gate`: release every spec that a change touches; what a merge request runs."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from exporter.cli._options import Cache, Debug, Device, Folder, Json, NoCache, Out, Quiet, Settings, Timeout, Why
from exporter.cli._run import Ending, Verb
from exporter.errors import ExitCode, ExporterError, Refusal, UsageError, harmless
from exporter.pool import MOST
from exporter.spec.reserved import said_of

if TYPE_CHECKING:
    from exporter.cache.release import Releases
    from exporter.diagnostics import Diagnostic
    from exporter.gate.touched import Touched
    from exporter.report._gate import Gated
    from exporter.spec.model import Spec
    from exporter.workers import Setting

_Specs = Annotated[
    list[Path] | None, typer.Argument(help="Specs; all of specs/ if none is named.", metavar="[SPEC...]")
]
_Base = Annotated[str | None, typer.Option("--base", help="Only what differs from this commit; else every spec.")]
_List = Annotated[bool, typer.Option("--list", help="Say what the change touches and why, and release nothing.")]
_NoTrain = Annotated[bool, typer.Option("--no-train", help="Refuse a spec whose checkpoint is not there yet.")]
_Jobs = Annotated[
    int, typer.Option("--jobs", help="Specs that are released at once; 0: as there is room.", min=0, metavar="N")
]
_All = Annotated[bool, typer.Option("--all", help="Every spec, whatever changed.")]
_Junit = Annotated[Path | None, typer.Option("--junit", help="Also write JUnit XML.", metavar="FILE")]
_Markdown = Annotated[Path | None, typer.Option("--markdown", help="Also write Markdown.", metavar="FILE")]
_Quality = Annotated[
    Path | None, typer.Option("--code-quality", help="Also write what GitLab shows beside the code.", metavar="FILE")
]
_Annotations = Annotated[
    str | None,
    typer.Option("--annotations", help="github: also print what GitHub shows beside the code.", metavar="github"),
]


def gate(  # noqa: PLR0913 - an option is a parameter
    specs: _Specs = None,
    folder: Folder = None,
    base: _Base = None,
    every: _All = False,
    listed: _List = False,
    no_train: _NoTrain = False,
    settings: Settings = None,
    junit: _Junit = None,
    markdown: _Markdown = None,
    quality: _Quality = None,
    annotations: _Annotations = None,
    out: Out = None,
    cache: Cache = None,
    no_cache: NoCache = False,
    why: Why = False,
    device: Device = None,
    timeout: Timeout = None,
    jobs: _Jobs = 0,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> Ending:
    """Release every spec that a change touches; the worst of their exit codes is its own."""
    from exporter.cache.release import releases
    from exporter.cli._progress import setting, telling
    from exporter.gate.touched import find_specs, touched
    from exporter.git import Base

    results = []
    overrides = (*(settings or ()), *([f"device={device}"] if device else ()))
    since = Base(base, "--base") if base is not None and not every else None
    shown = _Shown(as_json, annotations, junit, markdown, quality)
    shown.check()
    known = releases(cache, telling(why=why, none=no_cache and cache is None), none=no_cache)
    with setting(quiet=quiet, timeout=timeout, jobs=jobs, live=False) as how:
        task = _Task(overrides, out or Path("artifacts"), not no_train, how, known, bool(junit or markdown))
        chosen = list(touched(find_specs(specs or ()), since, overrides, how))
        for result in map(_unreleased, chosen) if listed else task.release_all(chosen):
            results.append(result)
            shown.tell(result)
    shown.conclude(results)
    return ending(results)


def ending(results: Sequence[Gated]) -> Ending:
    """The worst of the exit codes; and what shows in full why the first spec that has it did not pass."""
    from exporter.report import _gate as forms

    if not (code := forms.worst(results)):
        return code
    spec = next(gated.spec for gated in results if gated.exit is code)
    return Refusal(code, f"exporter release {shlex.quote(spec)}, which tells in full why it does not pass")


@dataclass(frozen=True)
class _Shown:
    """In which forms it is shown what became of the specs."""

    as_json: bool
    annotations: str | None
    junit: Path | None
    markdown: Path | None
    quality: Path | None

    def check(self) -> None:
        """Fail now, and not after an hour of releases.

        Raises:
            UsageError: a file cannot be written, or there is no such form.
        """
        if self.annotations not in (None, "github"):
            hint = "github; what GitLab shows is written by --code-quality FILE"
            raise UsageError(f"unknown annotations '{self.annotations}'", where="--annotations", hint=hint)
        if self.annotations and self.as_json:
            hint = "leave out --json, or --annotations"
            raise UsageError("stdout holds one object or lines, not both", where="--annotations", hint=hint)
        for file in filter(None, (self.junit, self.markdown, self.quality)):
            _refuse_unwritable(file)

    def tell(self, result: Gated) -> None:
        """Say at once what became of a spec."""
        from exporter.report import _gate as forms

        if self.as_json:
            return
        sys.stdout.write(harmless(forms.line(result)) + "\n")
        if self.annotations and not result.passed and not result.unreleased:
            from exporter.report._annotations import as_github, repository

            sys.stdout.write(as_github(result, repository(Path.cwd())))
        sys.stdout.flush()

    def conclude(self, results: Sequence[Gated]) -> None:
        """Write the files, and say how many passed."""
        from exporter.report import _gate as forms

        for file, text in self._files(results):
            _write(file, text)
        told = json.dumps(forms.as_json(results)) if self.as_json else harmless(forms.headline(results))
        sys.stdout.write(told + "\n")

    def _files(self, results: Sequence[Gated]) -> Iterator[tuple[Path, str]]:
        if self.junit is not None:
            from exporter.report._gate_junit import as_junit

            yield self.junit, as_junit(results)
        if self.markdown is not None:
            from exporter.report._gate_markdown import as_markdown

            yield self.markdown, as_markdown(results)
        if self.quality is not None:
            from exporter.report._annotations import as_code_quality, repository

            yield self.quality, as_code_quality(results, repository(Path.cwd()))


def _write(file: Path, text: str) -> None:
    from exporter.files import write_bytes

    write_bytes(file, text.encode())


def _refuse_unwritable(file: Path) -> None:
    from exporter.files import sibling

    if file.is_dir():
        raise UsageError("is a folder", where=str(file), hint="give the path of a file")
    with sibling(file) as draft:
        draft.touch()


def _unreleased(spec: Touched) -> Gated:
    from exporter.report._gate import Gated

    if spec.deleted:
        return Gated(str(spec.path), "", said="nothing is gated by it any more", unreleased="deleted")
    return Gated(str(spec.path), spec.why, unreleased="touched" if spec.why else "untouched")


def _lost(spec: Touched) -> Gated:
    from exporter.report._gate import Gated

    said = "the process that released it was killed, twice: look whether memory ran out, or give --jobs 1"
    return Gated(str(spec.path), spec.why, ExitCode.ENVIRONMENT, said)


#: Megabytes that a release may take: its own process, a fork server with Paddle, and an engine.
_MEGABYTES = 2000


@dataclass(frozen=True)
class _Task:
    """What is done with each spec: overrides of its keys, the bundles' folder, whether it trains, what is kept.

    `reports` says whether anybody reads the reports.
    """

    overrides: tuple[str, ...]
    out: Path
    trains: bool
    setting: Setting
    known: Releases | None
    reports: bool

    def release_all(self, specs: Sequence[Touched]) -> Iterator[Gated]:
        """What becomes of each, in their order; several are made at once where there is room."""
        from exporter.gate.together import in_processes

        settled = [self._settled(spec) for spec in specs]
        todo = [spec for spec, known in zip(specs, settled, strict=True) if known is None]
        at_once = min(self.setting.at_once(_MEGABYTES), MOST, len(todo)) if todo else 0
        each = max(1, self.setting.at_once(1) // at_once) if at_once > 1 else self.setting.jobs
        inner = replace(self, setting=replace(self.setting, jobs=each))
        made = in_processes([partial(inner._release, spec) for spec in todo], at_once, lambda at: _lost(todo[at]))
        with closing(made):
            for known in settled:
                yield next(made) if known is None else known

    def _settled(self, spec: Touched) -> Gated | None:
        """What is known without any work; a mistake in the spec is told where it is released."""
        from exporter.report._gate import Gated

        if not spec.why:
            return _unreleased(spec)
        if self.known is None:
            return None
        try:
            asked = self.known.read(spec.path, self.overrides, lambda: self._read(spec))
            found = self.known.find(asked, self.out, self.setting.say)
        except ExporterError:
            return None
        if isinstance(found, str):
            return None
        report = found.report() if self.reports else None
        path, why, said = str(spec.path), spec.why, f"{found.said}{said_of(found.bundle)}"
        told = found.findings()
        return Gated(path, why, said=said, report=report, verdict=found.word, told=told, seconds=0.0, reused=True)

    def _release(self, spec: Touched) -> Gated:
        """Release one spec, and measure how long it takes; a mistake in it must not keep the others from their turn."""
        runs: dict[str, float] = {}

        def follow(event: Mapping[str, Any]) -> None:
            if name := event.get("ran"):
                runs[name] = runs.get(name, 0.0) + event["seconds"]

        began = time.monotonic()
        made = self._made(spec, replace(self.setting, on_event=follow))
        return replace(made, seconds=time.monotonic() - began, runs=runs)

    def _made(self, spec: Touched, setting: Setting) -> Gated:
        from exporter import pipeline  # with all that it imports, only where something is to be made
        from exporter.cli._outcome import exit_code
        from exporter.report._gate import Gated
        from exporter.report._summary import headline

        path, why = str(spec.path), spec.why
        try:
            wanted = self._read(spec)
            product = pipeline.release(
                wanted, self.out, setting, trains=self.trains, known=self.known, taken=pipeline.Taken.BESIDE
            )
        except ExporterError as error:
            findings: tuple[Diagnostic, ...] = getattr(error, "findings", ())
            exit, said = ExitCode(error.exit_code), (_said(findings[-1]) if findings else str(error))
            return Gated(path, why, exit, said, findings=_errors(findings) or _located(error), told=findings)
        if product.report is None:
            first = next(finding for finding in product.findings if pipeline.forbids([finding]))
            # Those, too, that foretold what then failed: they know the line of it.
            errors, exit = _errors(product.findings), pipeline.exit_code(product.findings)
            return Gated(path, why, exit, _said(first), findings=errors, told=product.findings)
        reason = product.report.first_reason() or headline(product.report)
        reason += said_of(product.bundle.folder) if product.bundle else ""
        verdict = product.report.verdict.word
        exit = exit_code(product.report)
        return Gated(path, why, exit, reason, product.report, verdict, told=product.findings)

    def _read(self, spec: Touched) -> Spec:
        from exporter.spec.read import read_spec

        return read_spec(spec.path, self.overrides)


def _said(finding: Diagnostic) -> str:
    return f"{finding.location}: {finding.code}: {finding.message}"


def _errors(findings: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    from exporter.diagnostics import Severity

    return tuple(finding for finding in findings if finding.severity is Severity.ERROR)


def _located(error: ExporterError) -> tuple[Diagnostic, ...]:
    """The error as a finding, where it names a line of a file."""
    from exporter.diagnostics import Diagnostic, Severity
    from exporter.report._annotations import GATE, place

    at = place(error.where)
    return () if at is None else (Diagnostic(GATE, Severity.ERROR, at, error.what, error.hint),)


plugin: Verb = gate

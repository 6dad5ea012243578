"""`exporter gate`: release every spec that a change touches; what a merge request runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from exporter.cli._options import Cache, Debug, Device, Folder, Json, Out, Quiet, Settings, Timeout, Why
from exporter.cli._run import Verb
from exporter.errors import ExitCode, ExporterError, UsageError
from exporter.pool import MOST
from exporter.spec.reserved import said_of

if TYPE_CHECKING:
    from exporter.cache.release import Releases
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
    out: Out = None,
    cache: Cache = None,
    why: Why = False,
    device: Device = None,
    timeout: Timeout = None,
    jobs: _Jobs = 0,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> ExitCode:
    """Release every spec that a change touches; the worst of their exit codes is its own."""
    from exporter.cache.release import releases
    from exporter.cli._progress import setting, telling
    from exporter.files import write_bytes
    from exporter.gate.touched import find_specs, touched
    from exporter.git import Base
    from exporter.report import _gate as forms

    results = []
    overrides = (*(settings or ()), *([f"device={device}"] if device else ()))
    since = Base(base, "--base") if base is not None and not every else None
    for file in filter(None, (junit, markdown)):
        _refuse_unwritable(file)
    known = releases(cache, telling(why=why, cache=cache))
    with setting(quiet=quiet, timeout=timeout, jobs=jobs, live=False) as how:
        task = _Task(overrides, out or Path("artifacts"), not no_train, how, known, bool(junit or markdown))
        chosen = list(touched(find_specs(specs or ()), since, overrides, how))
        for result in map(_unreleased, chosen) if listed else task.release_all(chosen):
            results.append(result)
            if not as_json:
                sys.stdout.write(forms.line(result) + "\n")
                sys.stdout.flush()
    if junit is not None:
        write_bytes(junit, forms.as_junit(results).encode())
    if markdown is not None:
        write_bytes(markdown, forms.as_markdown(results).encode())
    sys.stdout.write(json.dumps(forms.as_json(results)) + "\n" if as_json else forms.headline(results) + "\n")
    return forms.worst(results)


def _refuse_unwritable(file: Path) -> None:
    """Fail now, and not after an hour of releases."""
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
        said = f"{found.said}{said_of(found.bundle)}"
        return Gated(str(spec.path), spec.why, said=said, report=report, verdict=found.word)

    def _release(self, spec: Touched) -> Gated:
        """Release one spec; a mistake in it must not keep the others from their turn."""
        from exporter import pipeline  # with all that it imports, only where something is to be made
        from exporter.cli._outcome import exit_code
        from exporter.report._gate import Gated
        from exporter.report._summary import headline

        path, why = str(spec.path), spec.why
        try:
            wanted = self._read(spec)
            product = pipeline.release(
                wanted,
                self.out,
                self.setting,
                trains=self.trains,
                known=self.known,
                taken=pipeline.Taken.BESIDE,
            )
        except ExporterError as error:
            return Gated(path, why, ExitCode(error.exit_code), str(error))
        if product.report is None:
            first = next(finding for finding in product.findings if pipeline.forbids([finding]))
            return Gated(path, why, ExitCode.REFUSED, f"{first.location}: {first.code}: {first.message}")
        reason = product.report.first_reason() or headline(product.report)
        reason += said_of(product.bundle.folder) if product.bundle else ""
        verdict = product.report.verdict.word
        return Gated(path, why, exit_code(product.report), reason, product.report, verdict)

    def _read(self, spec: Touched) -> Spec:
        from exporter.spec.read import read_spec

        return read_spec(spec.path, self.overrides)


plugin: Verb = gate

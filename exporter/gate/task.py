"""What a gate does with one spec: nothing, where an earlier release holds still; else a release."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from exporter.base.errors import ExitCode, ExporterError
from exporter.report.gate import Gated
from exporter.spec.reserved import said_of

if TYPE_CHECKING:
    from exporter.base.diagnostics import Diagnostic
    from exporter.gate.reuse.records import SpecContent
    from exporter.gate.reuse.release import Releases
    from exporter.gate.touched import Touched
    from exporter.process.answers import Event
    from exporter.process.workers import Setting
    from exporter.spec.model import Spec


@dataclass(frozen=True)
class Task:
    """How each spec of a gate is released: overrides of its keys, the bundles' folder, whether it may train.

    `known` are the releases that are kept. Without `reports` nobody reads the report of a release that is reused, or
    its findings.
    """

    overrides: tuple[str, ...]
    out: Path
    trains: bool
    setting: Setting
    known: Releases | None
    reports: bool

    def settled(self, spec: Touched) -> Gated | None:
        """What is known without any work; None where the spec has to be released, which tells a mistake in it too."""
        if not spec.why:
            return unreleased(spec)
        if self.known is None:
            return None
        try:
            kept = self.known.find(self._content(spec.path), self.out, self.setting.say)
        except ExporterError:
            return None
        if isinstance(kept, str):
            return None
        said = f"{kept.said}{said_of(kept.bundle)}"
        gated = Gated(str(spec.path), spec.why, said=said, verdict=kept.word, seconds=0.0, reused=True)
        if not self.reports:
            return gated
        from exporter.gate.told import results_of

        results = results_of(kept.told)
        return replace(gated, report=results.report, told=results.findings)

    def release(self, spec: Touched) -> Gated:
        """Release a spec, and measure how long it takes; an error in one spec must not stop the others."""
        runs: dict[str, float] = {}

        def follow(event: Event) -> None:
            if name := event.get("ran"):
                runs[name] = runs.get(name, 0.0) + event["seconds"]

        began = time.monotonic()
        made = self._made(spec, replace(self.setting, on_event=follow))
        return replace(made, seconds=time.monotonic() - began, runs=runs)

    def identity(self, path: Path) -> tuple[str, str]:
        """The name and the version in a spec, empty without one and where it cannot be read, as its release tells."""
        try:
            content = self._content(path)
        except ExporterError:
            return "", ""
        return str(content["name"]), str(content["version"] or "")

    def listed(self, spec: Touched) -> Gated:
        """What is said of a spec where nothing is released; an override that it does not take is a mistake then too."""
        told = unreleased(spec)
        if not self.overrides or spec.deleted:
            return told
        with suppress(ExporterError):  # its release tells what is wrong in the file
            replace(self, overrides=())._read(spec.path)
            try:
                self._read(spec.path)
            except ExporterError as error:
                return replace(told, exit=ExitCode(error.exit_code), said=str(error))
        return told

    def _made(self, spec: Touched, setting: Setting) -> Gated:
        from exporter import pipeline  # with all that it imports, only where something is to be made
        from exporter.gate.release import release
        from exporter.report.summary import headline

        path, why = str(spec.path), spec.why
        try:
            wanted = self._read(spec.path)
            product = release(wanted, self.out, setting, self.known, trains=self.trains, taken=pipeline.Taken.BESIDE)
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
        report = product.report
        return Gated(path, why, report.exit_code, reason, report, report.verdict.word, told=product.findings)

    def _content(self, path: Path) -> SpecContent:
        if self.known is None:
            return self._read(path).model_dump(mode="json")
        return self.known.read(path, self.overrides, lambda: self._read(path))

    def _read(self, path: Path) -> Spec:
        from exporter.spec.read import read_spec

        return read_spec(path, self.overrides)


def unreleased(spec: Touched) -> Gated:
    """A spec of which only that is said: whether it is touched."""
    if spec.deleted:
        return Gated(str(spec.path), "", said="nothing is gated by it any more", unreleased="deleted")
    return Gated(str(spec.path), spec.why, unreleased="touched" if spec.why else "untouched")


def _said(finding: Diagnostic) -> str:
    return f"{finding.location}: {finding.code}: {finding.message}"


def _errors(findings: Sequence[Diagnostic]) -> tuple[Diagnostic, ...]:
    from exporter.base.diagnostics import Severity

    return tuple(finding for finding in findings if finding.severity is Severity.ERROR)


def _located(error: ExporterError) -> tuple[Diagnostic, ...]:
    """The error as a finding, where it names a line of a file."""
    from exporter.base.diagnostics import Diagnostic, Severity
    from exporter.report.annotations import GATE, place

    at = place(error.where)
    return () if at is None else (Diagnostic(GATE, Severity.ERROR, at, error.what, error.hint),)

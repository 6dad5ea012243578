"""Reports, findings and metrics as JSON and back: what the cache keeps, and what shards of a gate tell each other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from pydantic import TypeAdapter

from exporter.base.diagnostics import Diagnostic
from exporter.prove.judge.report import Report
from exporter.prove.verdict.blame import Blame
from exporter.prove.verdict.claim import Claim, Evidence, Verdict
from exporter.weights.measured import Measured


@dataclass(frozen=True)
class _Told:
    """A report whose claims are no keys."""

    name: str
    version: str
    budget: float
    claims: list[tuple[Claim, Evidence]]
    notes: list[str]
    waivers: list[dict[str, str]]
    digest: str
    methods: list[str]
    blames: list[Blame] = field(default_factory=list)
    narrowed: str = ""
    objections: tuple[str, ...] = ()


_REPORT, _FINDINGS = TypeAdapter(_Told), TypeAdapter(tuple[Diagnostic, ...])
_MEASURED: TypeAdapter[Measured | None] = TypeAdapter(Measured | None)


def told_report(report: Report) -> Any:
    """A report as JSON."""
    verdict = report.verdict
    claims = [(claim, verdict.of(claim)) for claim in sorted(verdict.plan)]
    told = _Told(
        report.name,
        report.version,
        report.budget,
        claims,
        list(report.notes),
        list(report.waivers),
        report.digest,
        list(report.methods),
        list(report.blames),
        verdict.narrowed,
        verdict.objections,
    )
    return _plain(_REPORT.dump_python(told))


def report_of(content: Any) -> Report:
    """The report again; raises ValidationError where it is none."""
    told = _REPORT.validate_python(content)
    evidence = dict(told.claims)
    verdict = Verdict(frozenset(evidence), evidence, told.narrowed, told.objections)
    about = (told.budget, told.notes, told.waivers, told.digest, told.methods)
    return Report(told.name, told.version, verdict, *about, tuple(told.blames))


def told_findings(findings: tuple[Diagnostic, ...]) -> Any:
    """Findings as JSON."""
    return _plain(_FINDINGS.dump_python(findings))


def findings_of(content: Any) -> tuple[Diagnostic, ...]:
    """The findings again."""
    return _FINDINGS.validate_python(content)


def told_measured(measured: Measured | None) -> Any:
    """A checkpoint's metric as JSON."""
    return _MEASURED.dump_python(measured, mode="json")


def measured_of(content: Any) -> Measured | None:
    """The metric again."""
    return _MEASURED.validate_python(content)


def _plain(value: Any) -> Any:
    """The same of what JSON has: a number that is not finite is a word, half a surrogate pair is written out."""
    if isinstance(value, Mapping):
        return {_plain(name): _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value

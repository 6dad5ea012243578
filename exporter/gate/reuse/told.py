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
class ReportRecord:
    """A report as it is kept: its claims are no keys, since JSON has none but texts."""

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


_REPORT, _FINDINGS = TypeAdapter(ReportRecord), TypeAdapter(tuple[Diagnostic, ...])
_MEASURED: TypeAdapter[Measured | None] = TypeAdapter(Measured | None)


def told_report(report: Report) -> object:
    """Return a report as JSON."""
    return plain_json(_REPORT.dump_python(report_record(report)))


def report_record(report: Report) -> ReportRecord:
    """Return a report as it is kept."""
    verdict = report.verdict
    claims = [(claim, verdict.of(claim)) for claim in sorted(verdict.plan)]
    return ReportRecord(
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


def report_of(content: object) -> Report:
    """Return the report of its JSON.

    Raises:
        ValidationError: it is none.
    """
    return recorded_report(_REPORT.validate_python(content))


def recorded_report(record: ReportRecord) -> Report:
    """Return the report of a record."""
    evidence = dict(record.claims)
    verdict = Verdict(frozenset(evidence), evidence, record.narrowed, record.objections)
    about = (record.budget, record.notes, record.waivers, record.digest, record.methods)
    return Report(record.name, record.version, verdict, *about, tuple(record.blames))


def told_findings(findings: tuple[Diagnostic, ...]) -> object:
    """Return findings as JSON."""
    return plain_json(_FINDINGS.dump_python(findings))


def findings_of(content: object) -> tuple[Diagnostic, ...]:
    """The findings again."""
    return _FINDINGS.validate_python(content)


def told_measured(measured: Measured | None) -> object:
    """A checkpoint's metric as JSON."""
    return _MEASURED.dump_python(measured, mode="json")


def measured_of(content: object) -> Measured | None:
    """The metric again."""
    return _MEASURED.validate_python(content)


def plain_json(value: Any) -> Any:
    """Return the same of what JSON has: a number that is not finite is a word, half a surrogate pair is written out."""
    if isinstance(value, Mapping):
        return {plain_json(name): plain_json(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain_json(inner) for inner in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value.encode("utf-8", "backslashreplace").decode() if isinstance(value, str) else value

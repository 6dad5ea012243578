"""Reports, findings and trainings as JSON and back, for records of the cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from exporter.diagnostics import Diagnostic
from exporter.judge.report import Report
from exporter.train.run import TrainResult
from exporter.verdict.claim import Claim, Evidence, Verdict


@dataclass(frozen=True)
class _Told:
    """A report that passed, whose claims are no keys: it blames nothing."""

    name: str
    version: str
    budget: float
    claims: list[tuple[Claim, Evidence]]
    notes: list[str]
    waivers: list[dict[str, str]]
    digest: str
    methods: list[str]


_REPORT, _FINDINGS = TypeAdapter(_Told), TypeAdapter(tuple[Diagnostic, ...])
_TRAINED: TypeAdapter[TrainResult | None] = TypeAdapter(TrainResult | None)


def told_report(report: Report) -> Any:
    """A report that passed, as JSON."""
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
    )
    return _REPORT.dump_python(told, mode="json")


def report_of(content: Any) -> Report:
    """The report again; raises ValidationError where it is none."""
    told = _REPORT.validate_python(content)
    verdict = Verdict(frozenset(claim for claim, _ in told.claims), dict(told.claims))
    return Report(
        told.name, told.version, verdict, told.budget, told.notes, told.waivers, told.digest, methods=told.methods
    )


def told_findings(findings: tuple[Diagnostic, ...]) -> Any:
    """Findings as JSON."""
    return _FINDINGS.dump_python(findings, mode="json")


def findings_of(content: Any) -> tuple[Diagnostic, ...]:
    """The findings again."""
    return _FINDINGS.validate_python(content)


def told_training(trained: TrainResult | None) -> Any:
    """A training as JSON."""
    return _TRAINED.dump_python(trained, mode="json")


def training_of(content: Any) -> TrainResult | None:
    """The training again."""
    return _TRAINED.validate_python(content)

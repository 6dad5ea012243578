"""What became of a spec, as JSON and back: for the files of shards, and from a node of a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pydantic import TypeAdapter

from exporter.base.diagnostics import Diagnostic
from exporter.base.errors import ExitCode
from exporter.gate.reuse.told import ReportRecord, plain_json, recorded_report, report_record
from exporter.report.gate import Gated


@dataclass(frozen=True)
class GatedRecord:
    """What became of a spec, with its report as it is kept; else as :class:`exporter.report.gate.Gated`."""

    spec: str
    why: str
    said: str
    verdict: str
    unreleased: str
    exit: ExitCode
    seconds: float | None
    reused: bool
    runs: Mapping[str, float]
    findings: tuple[Diagnostic, ...]
    told: tuple[Diagnostic, ...]
    report: ReportRecord | None


_RECORD = TypeAdapter(GatedRecord)


def told_gated(gated: Gated) -> dict[str, object]:
    """Return all of it as JSON."""
    record = GatedRecord(
        spec=gated.spec,
        why=gated.why,
        said=str(gated.said),
        verdict=gated.verdict,
        unreleased=gated.unreleased,
        exit=gated.exit,
        seconds=gated.seconds,
        reused=gated.reused,
        runs=dict(gated.runs),
        findings=gated.findings,
        told=gated.told,
        report=None if gated.report is None else report_record(gated.report),
    )
    content: dict[str, object] = plain_json(_RECORD.dump_python(record))
    return content


def gated_of(content: object) -> Gated:
    """Return it again.

    Raises:
        ValueError: it is something else.
    """
    record = _RECORD.validate_python(content)
    report = None if record.report is None else recorded_report(record.report)
    if report is not None and not record.unreleased and record.exit is not report.exit_code:
        raise ValueError(f"{record.spec}: the exit code is not that of its report")
    return Gated(
        record.spec,
        record.why,
        exit=record.exit,
        said=record.said,
        report=report,
        verdict=record.verdict,
        unreleased=record.unreleased,
        findings=record.findings,
        told=record.told,
        seconds=record.seconds,
        reused=record.reused,
        runs=record.runs,
    )

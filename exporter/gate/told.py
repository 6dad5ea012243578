"""What became of a spec, as JSON and back: for the files of shards, and from a node of a cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from exporter.base.errors import ExitCode
from exporter.gate.reuse.told import findings_of, report_of, told_findings, told_report
from exporter.report.gate import Gated

_TEXTS = ("spec", "why", "said", "verdict", "unreleased")


def told_gated(gated: Gated) -> dict[str, Any]:
    """All of it, as JSON."""
    texts = {name: str(getattr(gated, name)).encode("utf-8", "backslashreplace").decode() for name in _TEXTS}
    report = None if gated.report is None else told_report(gated.report)
    about = {"exit": int(gated.exit), "seconds": gated.seconds, "reused": gated.reused, "runs": dict(gated.runs)}
    findings = {"findings": told_findings(gated.findings), "told": told_findings(gated.told)}
    return {**texts, **about, **findings, "report": report}


def gated_of(content: Mapping[str, Any]) -> Gated:
    """It again.

    Raises:
        ValueError, LookupError, TypeError: it is something else.
    """
    texts = {name: content[name] for name in _TEXTS}
    if not all(isinstance(text, str) for text in texts.values()):
        raise ValueError("a text is none")
    report = None if content["report"] is None else report_of(content["report"])
    found = Gated(
        **texts,
        exit=ExitCode(content["exit"]),
        report=report,
        findings=findings_of(content["findings"]),
        told=findings_of(content["told"]),
        seconds=None if content["seconds"] is None else float(content["seconds"]),
        reused=content["reused"] is True,
        runs={str(name): float(seconds) for name, seconds in content["runs"].items()},
    )
    if report is not None and not found.unreleased and found.exit is not report.exit_code:
        raise ValueError(f"{found.spec}: the exit code is not that of its report")
    return found

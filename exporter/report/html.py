"""The report on a terminal, in 80 columns."""

from __future__ import annotations

from exporter.parity.report import Report
from exporter.report.base import Renderer


def render(report: Report) -> str:
    """One line for each variant and engine, then the verdict and the first reason."""
    lines = []
    runs = sorted({(claim.variant, claim.engine) for claim in report.verdict.plan})
    for variant, engine in runs:
        found = [
            report.verdict.of(claim)
            for claim in report.verdict.plan
            if (claim.variant, claim.engine) == (variant, engine)
        ]
        lines.append(f"{variant} {engine} {len(found)}")
    lines.append(f"{report.verdict.word.upper()} {report.first_reason()}")
    return "\n".join(lines) + "\n"


plugin: Renderer = render

"""parity.json: every claim, its evidence, and the verdict. A new key or word raises `SCHEMA` (docs/parity-json.md)."""

from __future__ import annotations

import math

from exporter.base.files import readable_json
from exporter.prove.compare import outputs as compare
from exporter.prove.judge.report import Report
from exporter.prove.judge.settings import conditions
from exporter.prove.verdict.claim import Claim, Evidence
from exporter.report.base import Renderer

SCHEMA = 1
METRICS = ("error_ratio", "combined_ratio", *compare.METRICS.names())


def parity(report: Report) -> dict[str, object]:
    """The object that `verify --json` prints and a bundle holds."""
    verdict = report.verdict
    return {
        "schema": SCHEMA,
        "verdict": verdict.word,
        "planned": len(verdict.plan),
        "counts": verdict.counts,
        "against": list(verdict.against),
        "budget": report.budget,
        "notes": list(report.notes),
        "waivers": list(report.waivers),
        "runs": [
            {
                "variant": one.variant,
                "engine": one.engine,
                "asked": dict(one.settings.asked),
                "effective": dict(one.settings.effective),
            }
            for one in conditions(verdict)
        ],
        "blame": [one.to_json() for one in report.blames],
        "checks": [_check(claim, verdict.of(claim)) for claim in sorted(verdict.plan)],
    }


def _check(claim: Claim, evidence: Evidence) -> dict[str, object]:
    return {
        "kind": claim.kind,
        "format": claim.format,
        "precision": claim.precision,
        "engine": claim.engine,
        "provider": evidence.provider,
        "device": evidence.device,
        "case": claim.case,
        "output": claim.output,
        "outcome": evidence.outcome.value,
        "stage": evidence.stage,
        "elements": evidence.elements,
        "bit_equal": evidence.bit_equal,
        "reason": evidence.reason,
        **{name: _number(evidence.metrics.get(name)) for name in METRICS},
    }


def _number(value: float | None) -> float | None:
    """JSON has no NaN and no infinity; the outcome and the reason have said it already."""
    return value if value is not None and math.isfinite(value) else None


def render(report: Report) -> str:
    """Lay it out as in a bundle."""
    return readable_json(parity(report)).decode()


plugin: Renderer = render

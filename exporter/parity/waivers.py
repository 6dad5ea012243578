"""Waivers: exemptions with a reason and an end date, that turn a failed claim into a waived one and never hide it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from fnmatch import fnmatchcase

from exporter.parity.verdict import Outcome, Verdict
from exporter.spec.model import Waiver


def waived(verdict: Verdict, waivers: Sequence[Waiver], today: date) -> Verdict:
    """Waive what is waived today; a waiver's pattern is matched against `format/engine/case/output`."""
    active = [waiver for waiver in waivers if waiver.until >= today]
    evidence = dict(verdict.evidence)
    for claim in verdict.plan:
        found = verdict.of(claim)
        waiver = next((one for one in active if fnmatchcase(str(claim), one.claim)), None)
        if waiver is None or found.outcome is Outcome.MATCH:
            continue
        reason = f"{found.outcome.value}: {found.reason}; waived until {waiver.until}: {waiver.reason}"
        evidence[claim] = replace(found, outcome=Outcome.WAIVED, reason=reason)
    return Verdict(verdict.plan, evidence)

"""Waivers: exemptions with a reason and an end date, that turn a failed claim into a waived one and never hide it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from fnmatch import fnmatchcase

from exporter.parity.verdict import Claim, Outcome, Verdict
from exporter.spec.model import Waiver


def waived(verdict: Verdict, waivers: Sequence[Waiver], today: date) -> Verdict:
    """Waive what is waived today; a waiver's pattern is matched against `format/engine/case/output`."""
    evidence = dict(verdict.evidence)
    for claim in verdict.plan:
        found = verdict.of(claim)
        waiver = covering(claim, waivers, today)
        if waiver is None or found.outcome is Outcome.MATCH:
            continue
        reason = f"{found.outcome.value}: {found.reason}; waived until {waiver.until}: {waiver.reason}"
        evidence[claim] = replace(found, outcome=Outcome.WAIVED, reason=reason)
    return Verdict(verdict.plan, evidence)


def covering(claim: Claim, waivers: Sequence[Waiver], today: date) -> Waiver | None:
    """The first waiver of today that covers a claim."""
    return next((one for one in waivers if one.until >= today and fnmatchcase(str(claim), one.claim)), None)

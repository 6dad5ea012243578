"""Waivers: exemptions with a reason and an end date, that turn a failed claim into a waived one and never hide it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from fnmatch import fnmatchcase

from exporter.prove.verdict.claim import Claim, Outcome, Verdict
from exporter.spec.model import Waiver

#: Kinds of claims that a waiver has to name, as `onnx/weights`: what a file is, and whose weights it holds. A pattern
#: such as `onnx/*` is about what an engine computes; whoever accepts another file than the bundle describes says so.
BY_NAME = ("interface", "weights")


def waived(verdict: Verdict, waivers: Sequence[Waiver], today: date) -> Verdict:
    """Waive what is waived today; a waiver's pattern is matched against the claim's name, as `onnx/openvino/*`."""
    evidence = dict(verdict.evidence)
    for claim in verdict.plan:
        found = verdict.of(claim)
        waiver = covering(claim, waivers, today)
        if waiver is None or found.outcome is Outcome.MATCH:
            continue
        reason = f"{found.outcome.value}: {found.reason}; waived until {waiver.until}: {waiver.reason}"
        evidence[claim] = replace(found, outcome=Outcome.WAIVED, reason=reason)
    return replace(verdict, evidence=evidence)


def covering(claim: Claim, waivers: Sequence[Waiver], today: date) -> Waiver | None:
    """The first waiver of today that covers a claim; one of a kind in `BY_NAME` has to be named."""
    return next((waiver for waiver in waivers if waiver.until >= today and _covers(waiver.claim, claim)), None)


def _covers(pattern: str, claim: Claim) -> bool:
    named = claim.kind not in BY_NAME or pattern.rpartition("/")[2] == claim.kind
    return named and fnmatchcase(str(claim), pattern)


def unaccepted(verdict: Verdict, waivers: Sequence[Waiver], today: date) -> list[str]:
    """A note for each waiver that nobody here has accepted: how many claims fail that it would cover."""
    notes = []
    for waiver in waivers:
        failed = [
            claim
            for claim in verdict.plan
            if verdict.of(claim).outcome is not Outcome.MATCH and covering(claim, (waiver,), today) is not None
        ]
        effect = f"{len(failed)} claims fail that it would cover" if failed else "no claim needs it"
        notes.append(
            f"the bundle waives {waiver.claim} until {waiver.until} ({waiver.reason}), and nobody accepted it here: "
            f"{effect}; --accept-waivers, or a trusted key that `may_waive`"
        )
    return notes


def expired(waivers: Sequence[Waiver], today: date) -> list[str]:
    """A note for each waiver that has ended, so that nobody thinks that it still holds."""
    return [
        f"the waiver of {waiver.claim} has expired on {waiver.until}, so it waives nothing: {waiver.reason}"
        for waiver in waivers
        if waiver.until < today
    ]

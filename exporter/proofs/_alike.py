"""Speeds are compared only on CPUs with the same instruction sets: they decide which kernels both sides run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from exporter import machine
from exporter.verdict.claim import Evidence, Outcome


def on_the_like(evidence: Evidence, released_on: Sequence[str]) -> Evidence:
    """The evidence for a speed-up; a broken promise is inconclusive where the CPU has other instruction sets.

    `released_on` are the abilities that the manifest records (:data:`exporter.machine.ABILITIES`); empty in bundles
    that record none, which are judged as they are.
    """
    here = set(machine.cpu()["abilities"])
    lacking, more = sorted(set(released_on) - here), sorted(here - set(released_on))
    if evidence.outcome is not Outcome.MISMATCH or not released_on or not (lacking or more):
        return evidence
    differs = f"has no {', '.join(lacking)}" if lacking else f"has {', '.join(more)}"
    there = "had" if lacking else "had not"
    reason = f"{evidence.reason}; but this CPU {differs}, which the one that released it {there}"
    return replace(evidence, outcome=Outcome.INCONCLUSIVE, reason=reason)

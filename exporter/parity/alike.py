"""A speed is only compared on the like: a CPU without int8 kernels breaks no promise that one with them made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from exporter import machine
from exporter.parity.verdict import Evidence, Outcome


def on_the_like(evidence: Evidence, released_on: Sequence[str]) -> Evidence:
    """The evidence for a speed-up; a broken promise is inconclusive where the CPU lacks what the releasing one had.

    `released_on` are the abilities that the manifest records (:data:`exporter.machine.ABILITIES`); empty in bundles
    that record none, which are judged as they are.
    """
    lacking = sorted(set(released_on) - set(machine.cpu()["abilities"]))
    if evidence.outcome is not Outcome.MISMATCH or not lacking:
        return evidence
    reason = f"{evidence.reason}; but this CPU has no {', '.join(lacking)}, which the one that released it had"
    return replace(evidence, outcome=Outcome.INCONCLUSIVE, reason=reason)

"""What a search for blame has at hand."""

from __future__ import annotations

from dataclasses import dataclass, field

from exporter.harness import Bench
from exporter.root_cause.repro import Keep
from exporter.root_cause.witness import Witness
from exporter.verdict.claim import Verdict
from exporter.workers import Setting


@dataclass(frozen=True)
class Search:
    """The bench and the verdict on it; why the source is not at hand (empty: it is); where repros go, if anywhere.

    `witnesses` holds what was observed of the source so far, or why it could not be, by the recorded case.
    """

    bench: Bench
    verdict: Verdict
    setting: Setting
    no_source: str = ""
    keep: Keep | None = None
    witnesses: dict[str, Witness | str] = field(default_factory=dict)

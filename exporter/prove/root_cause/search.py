"""What a search for blame has at hand."""

from __future__ import annotations

from dataclasses import dataclass

from exporter.process.workers import Setting
from exporter.prove.harness import Bench
from exporter.prove.root_cause.repro import Keep
from exporter.prove.root_cause.witness import Witnesses
from exporter.prove.verdict.claim import Verdict


@dataclass(frozen=True)
class Search:
    """The bench and the verdict on it; why the source is not at hand (empty: it is); where repros go, if anywhere."""

    bench: Bench
    verdict: Verdict
    setting: Setting
    witnesses: Witnesses
    no_source: str = ""
    keep: Keep | None = None

"""docs/parity-json.md and parity.json are one: every key has its line, and no line is about a key that is not there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from exporter.prove.compare.outputs import METRICS
from exporter.prove.goldens.cases import INVARIANT, STRANGE
from exporter.prove.judge.judge import PROOFS
from exporter.prove.verdict.claim import PASSING, Outcome
from exporter.report.kinds.json import parity
from tests.command import ROOT
from tests.report.stored_reports import REPORTS

PAGE = (ROOT / "docs/parity-json.md").read_text(encoding="utf-8")
#: What holds names that are not keys: every outcome, and whatever settings an engine has.
OPEN = ("counts", "runs[].asked", "runs[].effective")


def keys(value: Any, place: str = "") -> Iterator[str]:
    """`checks[].case` for every key in it."""
    if isinstance(value, list) and not any(isinstance(one, str) for one in value):
        for one in value:  # of an empty list nothing is known
            yield from keys(one, f"{place}[]")
    elif isinstance(value, dict) and place not in OPEN:
        for name, one in value.items():
            yield from keys(one, f"{place}.{name}" if place else name)
    else:
        yield place


def described(heading: str) -> list[str]:
    """What stands in code in the first column of the table that begins so."""
    rows = PAGE.partition(f"| {heading} |")[2].partition("\n\n")[0].splitlines()[2:]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row.split(" | ")[0])]


def test_every_key_is_described_once_and_nothing_else() -> None:
    written = {key for make in REPORTS.values() for key in keys(parity(make()))}
    assert sorted(described("key")) == sorted(written)
    assert {f"checks[].{metric}" for metric in METRICS.names()} <= written, "a metric is shown wherever it is computed"
    outcomes = next(row for row in PAGE.splitlines() if row.startswith("| `checks[].outcome`"))
    assert re.findall(r"`(\w+)`", outcomes) == [one.value for one in Outcome]


def test_a_real_bundle_says_nothing_that_is_not_described(digits: Path) -> None:
    found = json.loads((digits / "parity.json").read_text())
    assert set(keys(found)) <= set(described("key"))
    settings = {name for run in found["runs"] for name in (*run["asked"], *run["effective"])}
    assert {"threads", "provider"} < settings <= set(described("setting"))
    cases = {check["case"] for check in found["checks"]}
    forms = {case if ":" not in case else re.sub(r".*(:\w+(=\d+)?)", r"…\1", case) for case in cases}
    assert {"", "…:again", "…:threads=2"} < forms
    forms.discard("")
    assert {form for form in forms if not re.fullmatch(r"batch=\d+(#2)?", form)} <= set(described("`case`"))


def test_every_kind_is_described() -> None:
    assert sorted(described("`kind`")) == sorted(PROOFS.names())
    assert all(proof.kind == name for name, proof in PROOFS.all())


def test_every_verdict_is_described() -> None:
    assert set(described("`word`")) == {*PASSING, "failed", "inconclusive"}


def test_every_probing_case_is_described() -> None:
    assert {f"…:{kind}" for kind in (*STRANGE, *INVARIANT)} <= set(described("`case`"))

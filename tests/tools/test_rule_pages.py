"""docs/rules is what the docstrings of the rules say."""

from __future__ import annotations

from pathlib import Path

from exporter.check.run import rules
from tools.rule_pages import pages

DOCS = Path(__file__).parents[2] / "docs" / "rules"


def test_the_pages_are_fresh() -> None:
    wanted = pages(rules().values())
    there = {file.name: file.read_text() for file in DOCS.glob("*.md")}
    stale = sorted(name for name in {*wanted, *there} if wanted.get(name) != there.get(name))
    assert not stale, "run: python -m tools.rule_pages docs/rules"

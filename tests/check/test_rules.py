"""Every rule fires at the marked line of its own example, and nowhere in what it says to use instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.check.rule_page import MARK, page
from exporter.check.rules.base import Rule
from exporter.check.run import check, rules

RULES = rules()


def found(rule: Rule, source: str, folder: Path) -> list[tuple[str, int]]:
    file = folder / "example.py"
    file.write_text(source + "\n")
    return [(each.code, each.location.line) for each in check([str(file)]) if each.code == rule.code]


@pytest.mark.parametrize("code", RULES)
def test_the_example_fires_at_the_mark_and_only_there(code: str, tmp_path: Path) -> None:
    example = page(RULES[code]).example
    marked = [number for number, line in enumerate(example.splitlines(), 1) if line.endswith(MARK)]
    assert marked, "the example has no mark"
    assert found(RULES[code], example, tmp_path) == [(code, line) for line in marked]


@pytest.mark.parametrize("code", RULES)
def test_what_to_use_instead_is_clean(code: str, tmp_path: Path) -> None:
    file = tmp_path / "instead.py"
    file.write_text(page(RULES[code]).instead + "\n")
    assert [each.code for each in check([str(file)])] == []


@pytest.mark.parametrize("code", RULES)
def test_the_page_is_whole(code: str) -> None:
    one = page(RULES[code])
    for part in (one.title, one.what, one.why, one.example, one.instead, one.source):
        assert part.strip()
    assert "Paddle" in one.source


def test_codes_are_unique_and_of_one_form() -> None:
    from exporter.base.registry import Registry

    registry: Registry[Rule] = Registry("exporter.check.rules", "rule")
    codes = [rule.code for _, rule in registry.all()]
    assert len(set(codes)) == len(codes) >= 5
    assert all(code.startswith("EX1") and len(code) == 5 for code in codes)

"""Every fix of Paddle is needed by the installed one, and cures what its examples show."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from exporter.export.trace.fixes import FIXES
from exporter.paddle import private
from tests.command import ROOT

Said = Mapping[str, Mapping[str, str]]


@pytest.fixture(scope="module")
def answer() -> dict[str, Any]:
    """What the installed Paddle does with the fixes, and without: in a child, which it may end."""
    command = [sys.executable, "-m", "tests.contract.fixes_child", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


@pytest.fixture
def said(answer: dict[str, Any]) -> Said:
    """By fix, number of the example and format: what is wrong `with` the fix and `without`."""
    examples: Said = answer["examples"]
    return examples


@pytest.mark.parametrize("name", FIXES.names())
def test_a_fix_is_needed_and_cures(name: str, said: Said) -> None:
    mine = {place: wrong for place, wrong in said.items() if place.split()[0] == name}
    assert mine
    assert {place: wrong["with"] for place, wrong in mine.items() if wrong["with"]} == {}
    healed = [place for place, wrong in mine.items() if not wrong["without"]]
    assert len(healed) < len(mine), f"Paddle needs this fix no more: delete exporter/export/trace/fixes/{name}.py"
    assert healed == [], f"Paddle needs no fix for these: delete their examples, and what cures them, in {name}.py"


@pytest.mark.parametrize("name", FIXES.names())
def test_a_fix_says_what_it_is_for(name: str) -> None:
    fix = FIXES[name]
    assert fix.apis and fix.examples and type(fix).__doc__
    assert set(fix.formats) <= {"pir", "pdmodel"}
    assert {format for example in fix.examples for format in example.formats or fix.formats} == set(fix.formats)
    oldest, newest = (private.VERSIONS.index(version) for version in fix.seen)
    assert oldest <= newest


def test_a_layer_that_needs_no_fix_is_right_without_any(said: Said) -> None:
    """A check of the check: not everything fails there."""
    assert [said[f"none 0 {format}"]["without"] for format in ("pir", "pdmodel")] == ["", ""]


def test_a_fix_takes_every_argument_of_its_api(answer: dict[str, Any]) -> None:
    """What a later Paddle adds would be dropped, or refused where stock takes it."""
    assert answer["untaken"] == {}

"""The command itself: what no test notices is reported, and a mutant runs where the tests run, in children too."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from evals.mutants.equivalent import Explained, explained
from evals.mutants.faults import mutants
from evals.mutants.report import table
from evals.mutants.rooms import ROOMS, Room
from evals.mutants.runner import Options, Plan, Result, refuse_false_kills, run
from evals.mutants.tree import ROOT

SMALL = """
from dataclasses import dataclass

LIMIT = 4


def within(value, limit):
    return value <= limit


def doubled(value):
    return value * 2


def down(number):
    while number > 0:
        number -= 1
    return number


def default(value=3):
    return value


def tripled(value):
    return value + 2 * value


def never():
    return 5 < 6


@dataclass
class Point:
    side: int = 11
"""
POINT = """
from exporter.small import Point


def test_a_point():
    assert Point().side == 11
"""
TESTS = """
import subprocess
import sys
import time

import pytest

from exporter.small import LIMIT, default, down, tripled, within


@pytest.fixture(scope="module")
def prepared():
    while time.process_time() < 1.5:
        pass
    return 4


def test_that_prepares(prepared):
    assert prepared


def test_that_shares(prepared):
    assert tripled(prepared) == 12


def test_within():
    assert within(1, 2) and not within(9, 2)


def test_a_child():
    done = subprocess.run(
        [sys.executable, "-c", "from exporter.small import doubled; print(doubled(3))"], capture_output=True, text=True
    )
    assert done.stdout == "6\\n"


def test_down():
    assert down(3) == 0


def test_import():
    assert default() == 3 and LIMIT == 4
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Result]:
    root = tmp_path_factory.mktemp("repository")
    files = {"exporter/__init__.py": "", "exporter/small.py": SMALL}
    for name, text in {**files, "tests/test_small.py": TESTS, "tests/test_point.py": POINT}.items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(text)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    plan = Plan.of({"small": Room(("exporter/small.py",), ("tests",))}, "", 1, root)
    entry = {"file": "exporter/small.py", "scope": "never", "line": "return 5 < 6", "why": "nobody calls it"}
    known = Explained([{**entry, "changes": ["constant: 5 -> 4", "constant: 5 -> 7"]}])
    results = run(plan, Options(jobs=1, patience=1.0), known)
    assert known.stale({mutant.key for mutant in plan.mutants}, plan.files) == [
        "exporter/small.py | never | return 5 < 6 | constant: 5 -> 7"
    ]
    assert "| small |" in table(plan, results)
    return {result.mutant.partition(" ")[2]: result for result in results}


@pytest.mark.parametrize(("traces", "outcome"), [(True, "killed"), (False, "uncovered")])
def test_each_test_counts_where_the_code_takes_the_tracer_s_place(
    traces: bool, outcome: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    root = tmp_path / "repository"
    code = "import sys\n\n\ndef follow(value):\n    sys.settrace(None)\n    return value + 1\n"
    test = "from exporter.follow import follow\n\n\ndef test_follow():\n    assert follow(3) == 4\n"
    for name, text in {"exporter/__init__.py": "", "exporter/follow.py": code, "tests/test_follow.py": test}.items():
        (root / name).parent.mkdir(exist_ok=True, parents=True)
        (root / name).write_text(text)
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    room = Room(("exporter/follow.py",), ("tests",), traces)
    plan = Plan.of({"follow": room}, "exporter/follow.py:6", 1, root)
    assert {result.outcome for result in run(plan, Options(jobs=1), Explained([]))} == {outcome}


def test_what_no_test_notices_is_reported(results: dict[str, Result]) -> None:
    against = {name: result.outcome for name, result in results.items() if result.against}
    assert against.pop("comparison: value <= limit -> value < limit") == "survived"
    assert against.pop("slack: value <= limit -> value <= limit * 1.1") == "survived"
    assert set(against.values()) == {"uncovered"} and all("5" in name or "6" in name for name in against), against


def test_what_is_explained_is_counted_apart(results: dict[str, Result]) -> None:
    found = results["constant: 5 -> 4"]
    assert (found.outcome, found.equivalent, found.against) == ("uncovered", "nobody calls it", False)


def test_a_child_runs_the_mutant(results: dict[str, Result]) -> None:
    for change in ("operator: value * 2 -> value / 2", "returned: value * 2 -> None"):
        found = results[change]
        assert (found.outcome, found.by) == ("killed", "tests/test_small.py::test_a_child"), found
        assert found.processes == 1, "the child imported the mutated file"


def test_what_a_shared_fixture_costs_is_no_loop_without_end(results: dict[str, Result]) -> None:
    """Another test has paid for it when costs were recorded; a fork pays anew, which is more than the test needs."""
    found = results["operator: value + 2 * value -> value - 2 * value"]
    assert (found.outcome, found.by) == ("killed", "tests/test_small.py::test_that_shares"), found


def test_what_runs_at_import_is_mutated_too(results: dict[str, Result]) -> None:
    for change in ("constant: 4 -> 5", "constant: 3 -> 4"):
        assert (results[change].outcome, results[change].by) == ("killed", "tests/test_small.py::test_import")
    found = results["constant: 11 -> 12"]
    assert (found.outcome, found.by) == ("killed", "tests/test_point.py::test_a_point"), "no line of the file is run"


def test_a_loop_without_end_is_ended_by_its_processor_time(results: dict[str, Result]) -> None:
    found = results["deleted: number -= 1 -> pass"]
    assert found.outcome == "timed out" and found.killed and "processor time" in found.by


class Changed:
    """A tree in which this test fails without any mutant."""

    hello: ClassVar = {"tests": ["a", "b"]}

    def record(self, _: list[str], tests: list[str]) -> dict[str, Any]:
        return {name: {"failed": name == "a"} for name in tests}


def test_what_a_test_kills_that_fails_anyway_does_not_count() -> None:
    """Packages that vanish while it runs would otherwise notice every fault."""
    killed = Result("m", "k", "room", "killed", "a", 0.1, 0, "0")
    with pytest.raises(RuntimeError, match="a fails without any mutant by now"):
        refuse_false_kills(Changed(), killed)  # type: ignore[arg-type]
    for result in (replace(killed, by="b"), replace(killed, outcome="survived"), replace(killed, by="collection of a")):
        refuse_false_kills(Changed(), result)  # type: ignore[arg-type]


def test_the_rooms_have_files_and_tests_and_every_explanation_a_mutant() -> None:
    known = explained()
    for name, room in ROOMS.items():
        assert all((ROOT / path).exists() for path in (*room.paths, *room.tests)), name
        plan = Plan.of({name: room}, "", 1)
        assert plan.mutants and not known.stale({mutant.key for mutant in plan.mutants}, plan.files)


@pytest.mark.parametrize(
    ("chosen", "reach"), [("", (-400, 400)), (":{0}", (0, 0)), (":{0}-{1}", (0, 3))], ids=["file", "line", "lines"]
)
def test_a_file_a_line_or_some_lines_can_be_chosen(chosen: str, reach: tuple[int, int]) -> None:
    """Two constants stand three lines apart."""
    lines = (ROOT / "exporter/base/numbers/pooled.py").read_text().splitlines()
    share, alike = lines.index("SHARE = 0.75") + 1, lines.index("ALIKE = 1e-3") + 1
    plan = Plan.of(ROOMS, f"exporter/base/numbers/pooled.py{chosen.format(share, alike)}", 1)
    assert {mutant.file for mutant in plan.mutants} == {"exporter/base/numbers/pooled.py"}
    wanted = range(share + reach[0], share + reach[1] + 1)
    found = {mutant.line for mutant in plan.mutants}
    assert found == {line for line in found if line in wanted}
    assert found >= {line for line in (share, alike) if line in wanted}


SOURCE = """def f(a, b):
    'Is 1 < 2?'
    if (
        a < 1
    ):
        raise ValueError(f"{a + b} of 3")
    return a
"""


def test_lines_and_words_stay_as_they_are() -> None:
    found = mutants("f.py", SOURCE)
    assert all(mutant.source.count("\n") == SOURCE.count("\n") and "Is 1 < 2?" in mutant.source for mutant in found)
    assert {mutant.kind for mutant in found} == {"comparison", "forced", "constant", "deleted", "returned"}
    assert all("{a + b} of 3" in mutant.source for mutant in found if mutant.kind != "deleted")


def test_of_a_commit_only_what_changed_since_is_mutated(tmp_path: Path) -> None:
    def git(*words: str) -> None:
        subprocess.run(["git", *words], cwd=tmp_path, check=True, capture_output=True)

    name = ["-c", "user.name=name", "-c", "user.email=name@example.com"]
    before, after = tmp_path / "exporter/small.py", tmp_path / "exporter/room/small.py"
    after.parent.mkdir(parents=True)
    before.write_text(SMALL)
    git("init", "--quiet")
    git("add", ".")
    git(*name, "commit", "--quiet", "--message", "first")
    after.write_text(SMALL.replace("value * 2", "value * 3"))
    before.unlink()
    git("add", "--all")
    rooms = {"room": Room(("exporter/room",), ())}
    changed = Plan.of(rooms, "", 1, tmp_path, since="HEAD").mutants
    assert {mutant.text for mutant in changed} == {"return value * 3"} and len(changed) > 1
    assert len(Plan.of(rooms, "", 1, tmp_path).mutants) > len(changed)

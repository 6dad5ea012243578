"""A gate in shards: each spec is in one, and what they give is joined to what one gate would have given."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.base.errors import ExitCode, UsageError
from exporter.gate.shards import Selection, Shard, merge, write_result
from exporter.gate.told import gated_of, told_gated
from exporter.report.gate import Gated, as_json, headline, worst
from exporter.report.gate_junit import as_junit
from exporter.report.gate_markdown import as_markdown
from tests.command import exporter, refused
from tests.gate.test_forms import results
from tests.report.stored_reports import REPORTS

NAMES = st.lists(st.text("abc/é -_.", min_size=1, max_size=12), unique_by=lambda name: Path(name), max_size=40)
SELECTION = Selection("0.1.0", "c0ffee", "", "", (), False, True, ())


@given(NAMES, st.integers(1, 9))
def test_each_path_is_in_one_shard_and_their_sizes_differ_by_one_at_most(names: list[str], of: int) -> None:
    paths = [Path(name) for name in names]
    parts = [Shard(number, of).part(paths) for number in range(1, of + 1)]
    assert sorted(path for part in parts for path in part) == sorted(paths)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    assert parts == [Shard(number, of).part(paths[::-1]) for number in range(1, of + 1)], "whatever their order"


@pytest.mark.parametrize("text", ["", "1", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "a/b", "1 / 2", "1/2\n", "²/3"])
def test_what_is_no_shard_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is no shard"):
        Shard.parse(text)


def test_a_shard_is_read_as_it_is_written() -> None:
    assert str(Shard.parse("2/4")) == "2/4" and Shard.parse("1/1") == Shard()


# ------------------------------------------------------------------------------------------------------------ as JSON


def again(gated: Gated) -> Gated:
    return gated_of(json.loads(json.dumps(told_gated(gated), allow_nan=False)))


@pytest.mark.parametrize("name", sorted(REPORTS))
def test_every_report_comes_back_as_it_was(name: str) -> None:
    report = REPORTS[name]()
    gated = Gated("specs/a.yaml", "asked for", report.exit_code, "said", report, report.verdict.word, seconds=1.5)
    assert as_markdown([again(gated)]) == as_markdown([gated])
    assert as_junit([again(gated)]) == as_junit([gated])
    found = again(gated).report
    assert found is not None and found.rows() == report.rows() and list(found.blames) == list(report.blames)


def test_numbers_that_are_not_finite_and_half_characters_come_back() -> None:
    report = REPORTS["failed"]()
    claim, evidence = report.rows()[0]
    metrics = {"max_abs": math.inf, "cosine": math.nan}
    rows = {**report.verdict.evidence, claim: replace(evidence, metrics=metrics, reason="\ud800")}
    report = replace(report, verdict=replace(report.verdict, evidence=rows))
    found = again(Gated("s", "w", report.exit_code, "\udcff", report)).report
    assert found is not None
    seen = found.verdict.of(claim)
    assert math.isinf(seen.metrics["max_abs"]) and math.isnan(seen.metrics["cosine"]) and seen.reason == "\\ud800"


def test_a_result_that_contradicts_its_report_is_refused() -> None:
    report = REPORTS["failed"]()
    told = told_gated(Gated("s", "w", ExitCode.REFUSED, "said", report))
    with pytest.raises(ValueError, match="exit code"):
        gated_of({**told, "exit": 0})


# ------------------------------------------------------------------------------------------------------------- joined


def shards_of(found: list[Gated], of: int, folder: Path) -> list[Path]:
    """The files that the shards of a gate leave."""
    selection = replace(SELECTION, specs=[(gated.spec, "") for gated in found])
    files = [folder / f"{number}.json" for number in range(1, of + 1)]
    for number, file in enumerate(files, 1):
        shard = Shard(number, of)
        own = shard.part([Path(gated.spec) for gated in found])
        write_result(file, shard, selection, [gated for gated in found if Path(gated.spec) in own])
    return files


@pytest.mark.parametrize("of", [1, 2, 3, 9])
def test_joined_shards_say_what_one_gate_says(of: int, tmp_path: Path) -> None:
    whole = results()
    found = merge(shards_of(whole, of, tmp_path)[::-1])
    assert as_json(found) == as_json(whole) and headline(found) == headline(whole) and worst(found) is worst(whole)
    assert as_junit(found) == as_junit(whole) and as_markdown(found) == as_markdown(whole)


def change(file: Path, alter: Callable[[Any], Any]) -> None:
    content = json.loads(file.read_text())
    alter(content)
    file.write_text(json.dumps(content))


def test_a_missing_shard_is_no_pass(tmp_path: Path) -> None:
    files = shards_of(results(), 3, tmp_path)
    with pytest.raises(UsageError, match="without 2/3"):
        merge([files[0], files[2]])
    with pytest.raises(UsageError, match="without 2/3, 3/3"):
        merge(files[:1])


def test_a_shard_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    files = shards_of(results(), 2, tmp_path)
    with pytest.raises(UsageError, match="shard 2/2 is there twice"):
        merge([*files, files[1]])


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("commit", "deadbeef", "its commit is deadbeef"),
        ("changes", "f00", "its changes"),
        ("base", "f00", "its base"),
        ("settings", ["budget=9"], "its settings are budget=9, and there none"),
        ("listed", True, "--list is True"),
        ("trains", False, "training is False"),
        ("exporter", "9.9", "exporter 9.9"),
        ("specs", [["specs/a.yaml", ""]], "its specs are specs/a.yaml, and there specs/a.yaml, specs/b.yaml"),
    ],
)
def test_shards_of_different_gates_are_refused(key: str, value: Any, said: str, tmp_path: Path) -> None:
    files = shards_of(results(), 2, tmp_path)
    change(files[1], lambda content: content["selection"].update({key: value}))
    with pytest.raises(UsageError, match=said):
        merge(files)


def test_shards_of_another_number_are_refused(tmp_path: Path) -> None:
    files = shards_of(results(), 2, tmp_path)
    change(files[1], lambda content: content["shard"].update(of=3))
    with pytest.raises(UsageError, match="one of 3 shards"):
        merge(files)


@pytest.mark.parametrize(
    "alter",
    [
        lambda content: content["specs"].pop(),
        lambda content: content["specs"].append(content["specs"][0]),
        lambda content: content["specs"][0].update(spec="specs/z.yaml"),
        lambda content: content["specs"][0].update(exit=99),
        lambda content: content["specs"][0].update(runs=[]),
        lambda content: content["selection"].pop("commit"),
        lambda content: content.update(schema=2),
        lambda content: content["shard"].update(number=0),
        lambda content: content.clear(),
    ],
)
def test_a_file_that_was_changed_is_refused(alter: Callable[[Any], Any], tmp_path: Path) -> None:
    files = shards_of(results(), 2, tmp_path)
    change(files[0], alter)
    with pytest.raises(UsageError):
        merge(files)
    files[0].write_text("[" * 100_000)
    with pytest.raises(UsageError, match="no result of a gate"):
        merge(files)


# ------------------------------------------------------------------------------------------------- on the command line


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with specs whose mistakes are told without any release."""
    (tmp_path / "specs").mkdir()
    for name in "abc":
        (tmp_path / f"specs/{name}.yaml").write_text(f"name: {name}\nsort: {name}\n")
    return tmp_path


def test_shards_on_the_command_line_are_one_gate(work: Path) -> None:
    whole = exporter("gate", "--quiet", cwd=work)
    assert whole.code == 2 and whole.out.count("unknown key") == 3
    for number in (1, 2):
        part = exporter("gate", "--quiet", "--shard", f"{number}/2", "--result", f"out/{number}.json", cwd=work)
        assert part.code == 2 and 1 <= part.out.count("unknown key") <= 2
    told = json.loads((work / "out/1.json").read_text())
    assert told["shard"] == asdict(Shard(1, 2)) and len(told["selection"]["specs"]) == 3
    joined = exporter("merge", "out/2.json", "out/1.json", "--junit", "j.xml", "--markdown", "m.md", cwd=work)
    assert (joined.code, joined.out) == (whole.code, whole.out)
    assert (work / "j.xml").read_text().count("<testcase") == 3 and "# Gate: 3 of 3" in (work / "m.md").read_text()
    refused(exporter("merge", "out/1.json", cwd=work), 2, "without 2/2")
    refused(exporter("gate", "--shard", "3/2", cwd=work), 2, "--shard", "'3/2' is no shard")
    assert exporter("gate", "--quiet", "--shard", "1/2", "--result", "out/1.json", "no.yaml", cwd=work).code == 2
    assert not (work / "out/1.json").exists(), "what is no longer true is gone"


def test_shards_that_only_list_are_joined_as_a_list(work: Path) -> None:
    for number in (1, 2, 3, 4):
        done = exporter("gate", "--list", "--shard", f"{number}/4", "--result", f"{number}.json", cwd=work)
        assert done.code == 0, done.err
    joined = exporter("merge", *(f"{number}.json" for number in (1, 2, 3, 4)), cwd=work)
    assert joined.code == 0 and joined.out.splitlines()[-1] == "3 of 3 specs are touched; nothing was released"

"""Annotations: what GitHub and GitLab show beside the code, and that no text forges a command."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.base.diagnostics import Diagnostic, Location, Severity
from exporter.base.errors import ExitCode, harmless
from exporter.check.github_command import command
from exporter.report.annotations import as_code_quality, as_github, place, repository
from exporter.report.gate import Gated, line
from tests.report.stored_reports import REPORTS

#: What GitLab itself holds an issue against (gitlab-org/gitlab, app/validators/json_schemas/codeclimate.json), and what
#: its documentation demands beyond that (docs.gitlab.com/ci/testing/code_quality, "Code Quality report format").
ISSUES = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "pattern": "^[0-9a-f]{32,}$"},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "pattern": "^[^/.]"},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
    },
}
#: The commands that a runner knows (actions/runner, ActionCommandManager and its extensions).
KNOWN = {
    *("error", "warning", "notice", "debug", "group", "endgroup", "add-mask", "set-env", "set-output", "save-state"),
    *("add-path", "add-matcher", "remove-matcher", "stop-commands", "echo", "internal-set-repo-path"),
}
PIECES = [
    *("::", "##[", "]", "error", "::error::", "##[error]", "set-env name=A::b", "\n", "\r", "\r\n", "\x0b", "\x85"),
    *("\u2028", "\x1b[31m", "%0A", "%", ",", ":", "=", " ", "\t", "title=", "file=x,line=1", "\x00", "é"),
]
HOSTILE = st.text(max_size=40) | st.lists(st.sampled_from(PIECES), max_size=10).map("".join)
FINDING = Diagnostic("EX101", Severity.ERROR, Location("net.py", 6, 20), "drawn once", "use paddle")


def commands(text: str) -> list[tuple[str, dict[str, str], str]]:
    """What a runner makes of an output: by its rules, the newer form first, then the older one anywhere in a line."""
    found = []
    for raw in text.replace("\r\n", "\n").replace("\r", "\n").split("\n"):
        body = raw.lstrip()
        head, separator, data = body[2:].partition("::") if body.startswith("::") else ("", "", "")
        if not (separator and head.partition(" ")[0] in KNOWN):
            _, separator, rest = raw.partition("##[")
            head, closed, data = rest.partition("]")
            if not (separator and closed and head.partition(" ")[0] in KNOWN):
                continue
        name, _, told = head.partition(" ")
        pairs = [pair.partition("=") for pair in told.split(",") if pair]
        found.append((name, {key: _read(value, ":,") for key, _, value in pairs}, _read(data, "")))
    return found


def _read(text: str, more: str) -> str:
    for mark in ("\r", "\n", *more, "%"):
        text = text.replace(f"%{ord(mark):02X}", mark)
    return text


def test_a_finding_is_told_at_its_line_and_anything_else_at_the_spec(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.py").touch()
    refused = Gated("specs/a.yaml", "x", ExitCode.REFUSED, "net.py:6:20: EX101", findings=(FINDING,))
    assert as_github(refused, tmp_path) == (
        "::error file=net.py,line=6,col=20,title=EX101%3A specs/a.yaml refused::drawn once. use paddle\n"
    )
    failed = Gated("specs/b,c.yaml", "x", ExitCode.MODEL, "pir: 100% gone")
    assert as_github(failed, tmp_path) == (
        "::error file=specs/b%2Cc.yaml,title=specs/b%2Cc.yaml failed::pir: 100%25 gone\n"
    )
    whole = replace(refused, findings=(replace(FINDING, location=Location("the export", 1)),))
    assert as_github(whole, tmp_path).startswith("::error file=specs/a.yaml,title=EX101%3A ")
    assert as_github(Gated("specs/a.yaml", "x", said="fine", verdict="passed"), tmp_path) == ""
    assert as_github(Gated("specs/a.yaml", "", unreleased="untouched"), tmp_path) == ""


def test_a_failure_that_was_localised_is_told_at_the_line_that_is_to_blame(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    report = REPORTS["failed"]()
    one = Gated("specs/a.yaml", "x", ExitCode.REFUSED, report.first_reason(), report)
    [(_, at_spec, reason)] = commands(as_github(one, tmp_path))
    assert at_spec["file"] == "specs/a.yaml" and reason == report.first_reason(), "the line's file is not here"
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes/digits.py").touch()
    [(name, at_line, _)] = commands(as_github(one, tmp_path))
    assert (name, at_line["file"], at_line["line"]) == ("error", "recipes/digits.py", "33")


def test_paths_are_those_of_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "models/inner").mkdir(parents=True)
    (tmp_path / "models/net.py").touch()
    monkeypatch.chdir(tmp_path / "models/inner")
    assert repository(Path.cwd()) == tmp_path
    one = Gated("specs/a.yaml", "x", ExitCode.USAGE, "no")
    above = replace(one, findings=(replace(FINDING, location=Location("../net.py", 2)),))
    outside = replace(one, findings=(replace(FINDING, location=Location(__file__, 2)),))
    found = commands("".join(as_github(gated, tmp_path) for gated in (one, above, outside)))
    assert [told["file"] for _, told, _ in found] == ["models/inner/specs/a.yaml", "models/net.py", __file__]


def test_a_place_is_a_line_of_a_file_that_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.py").touch()
    assert place("net.py:6") == Location("net.py", 6)
    assert place("net.py:6:20") == Location("net.py", 6, 20)
    assert [place(text) for text in ("", "net.py", "gone.py:6", "net.py:six", "--base", f"{'x' * 5000}:6")] == [
        None
    ] * 6


@given(HOSTILE, HOSTILE, HOSTILE, HOSTILE)
def test_no_text_forges_a_second_command(spec: str, said: str, why: str, path: str) -> None:
    finding = replace(FINDING, message=said, cure=why, location=Location(path, 3))
    one = Gated(spec, why, ExitCode.REFUSED, said, findings=(finding,))
    for gated in (one, replace(one, findings=())):
        output = harmless(line(gated)) + "\n" + as_github(gated, Path("/nowhere"))
        assert output.count("\n") == 2 and "\r" not in output and "\x1b" not in output
        [(name, told, _)] = commands(output)
        assert name == "error" and set(told) <= {"file", "line", "col", "title"}


@given(HOSTILE, HOSTILE)
def test_what_a_runner_reads_is_what_was_meant(title: str, message: str) -> None:
    """But for control characters, and lines that only Unicode knows."""
    [(_, told, read)] = commands(command("error", {"title": f"a{title}"}, message))
    letters = [letter for letter in f"a{title}" if letter.isprintable() and not letter.isspace()]
    assert [letter for letter in told["title"] if letter in letters] == letters
    assert [one for one in read if one.isprintable() and one not in " \ufffd"] == [
        one for one in message if one.isprintable() and not one.isspace() and one != "\ufffd"
    ]


def test_the_reader_of_this_test_sees_what_is_forged() -> None:
    assert [name for name, _, _ in commands("x ##[error]a\n  ::group::b\n::what::c\nx ::error::d")] == [
        "error",
        "group",
    ]
    assert commands(harmless("x ##[error]a")) == []


# ------------------------------------------------------------------------------------------------------- Code Quality


def quality(*found: Gated, root: Path = Path("/nowhere")) -> Any:
    issues = json.loads(as_code_quality(found, root))
    jsonschema.validate(issues, ISSUES)
    return issues


def test_code_quality_is_empty_where_all_passed() -> None:
    assert quality(Gated("a", "x", said="fine"), Gated("b", "", unreleased="untouched")) == []


def test_code_quality_names_place_and_severity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.py").touch()
    one = Gated("specs/a.yaml", "x", ExitCode.REFUSED, "no", findings=(FINDING,))
    first, second = quality(one, Gated("specs/b.yaml", "x", ExitCode.MODEL, "pir: crashed"), root=tmp_path)
    assert first["location"] == {"path": "net.py", "lines": {"begin": 6}} and first["check_name"] == "exporter-EX101"
    assert second["location"] == {"path": "specs/b.yaml", "lines": {"begin": 1}}
    assert (first["severity"], second["severity"]) == ("major", "critical")
    assert first["description"] == "specs/a.yaml refused: drawn once. use paddle"


def test_a_fingerprint_stays_where_the_fault_moves_and_differs_from_every_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "net.py").touch()

    def ratio(value: str, at: int = 6) -> Gated:
        finding = replace(FINDING, message=f"error ratio {value} is over the budget", location=Location("net.py", at))
        return Gated("specs/a.yaml", "x", ExitCode.REFUSED, "", findings=(finding,))

    def prints(*found: Gated) -> list[str]:
        return [issue["fingerprint"] for issue in quality(*found)]

    assert prints(ratio("5.1")) == prints(ratio("7.25e+03", at=9))
    assert prints(ratio("5.1")) != prints(replace(ratio("5.1"), spec="specs/b.yaml"))
    assert len(set(prints(ratio("5.1"), ratio("5.2"), ratio("5.3")))) == 3


@given(st.lists(st.tuples(HOSTILE, HOSTILE), max_size=4))
def test_code_quality_is_valid_whatever_the_texts_hold(texts: list[tuple[str, str]]) -> None:
    found = [Gated(f"specs/{spec}", said, ExitCode.MODEL, said) for spec, said in texts]
    issues = quality(*found)
    assert len({issue["fingerprint"] for issue in issues}) == len(issues) == len(found)

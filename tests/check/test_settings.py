"""Select, ignore, severity: on the command line, in pyproject.toml, in comments; and only what a change touches."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from exporter.base.diagnostics import Severity
from exporter.base.errors import UsageError
from exporter.base.git import Base
from exporter.check.changed import changed_lines, only_changed
from exporter.check.run import check, examine
from exporter.check.settings import Settings, of_project

NET = "import random\nimport paddle\n\nclass Net(paddle.nn.Layer):\n    def forward(self, x):\n"
WRONG = NET + "        return x * random.random()\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def codes(text: str, folder: Path, settings: Settings | None = None) -> list[str]:
    (folder / "net.py").write_text(text)
    return [each.code for each in examine(["net.py"], settings).findings]


def test_a_comment_with_a_reason_ignores_its_code_on_its_line(folder: Path) -> None:
    line = "        return x * random.random()  # exporter: ignore[EX101] augmentation is part of the contract\n"
    assert codes(NET + line, folder) == []


def test_a_comment_alone_speaks_for_the_next_line(folder: Path) -> None:
    lines = "        # exporter: ignore[EX101] wanted\n        return x * random.random()\n"
    assert codes(NET + lines, folder) == []


@pytest.mark.parametrize(
    ("comment", "expected"),
    [
        ("# exporter: ignore[EX101]", ["EX004"]),
        ("# exporter: ignore wanted", ["EX004", "EX101"]),
        ("# exporter: ignore[EX102] wanted", ["EX004", "EX101"]),
        ("# exporter: ignore[EX101, EX105] wanted", ["EX004"]),
    ],
)
def test_a_comment_that_says_too_little_or_too_much_is_told(folder: Path, comment: str, expected: list[str]) -> None:
    assert sorted(codes(NET + f"        return x * random.random()  {comment}\n", folder)) == expected


def test_the_project_chooses_and_the_command_line_has_the_last_word(folder: Path) -> None:
    (folder / "pyproject.toml").write_text(
        '[tool.exporter.check]\nselect = ["EX105"]\nignore = ["EX102"]\nseverity = { EX101 = "info" }\n'
    )
    settings = of_project(folder)
    assert codes(WRONG, folder, settings) == []
    assert codes(WRONG, folder, settings.over(["EX101"], [])) == ["EX101"]
    assert codes(WRONG, folder, settings.over(["EX1"], ["EX101"])) == []
    (finding,) = examine(["net.py"], settings.over(["EX101"], [])).findings
    assert finding.severity is Severity.INFO


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ('selct = ["EX1"]', "did you mean 'select'"),
        ('select = "EX1"', "not a list"),
        ('severity = { EX101 = "loud" }', "no severity"),
        ('select = ["EX1"', "not valid TOML"),
    ],
)
def test_a_wrong_table_is_told(folder: Path, table: str, says: str) -> None:
    (folder / "pyproject.toml").write_text(f"[tool.exporter.check]\n{table}\n")
    with pytest.raises(UsageError) as error:
        of_project(folder)
    assert says in f"{error.value} {error.value.hint}"


def head() -> Base:
    return Base("HEAD", "--diff")


def git(*arguments: str) -> None:
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run(["git", *identity, *arguments], check=True, capture_output=True)


def test_only_lines_that_changed_are_shown(folder: Path) -> None:
    git("init", "-q")
    (folder / "net.py").write_text(WRONG)
    git("add", "net.py")
    git("commit", "-qm", "one")
    assert only_changed(check(["net.py"]), head()) == ()
    (folder / "net.py").write_text(WRONG.replace("return x", "y = random.random()\n        return x + y"))
    (folder / "new.py").write_text(WRONG)
    assert changed_lines(head()) == {folder / "net.py": frozenset({6, 7}), folder / "new.py": None}
    (folder / "net.py").write_text("# a comment moves the old line\n" + WRONG)
    shown = [(each.location.path, each.location.line) for each in only_changed(check(["."]), head())]
    assert shown == [("new.py", 6)]
    with pytest.raises(UsageError) as error:
        changed_lines(Base("no-such-commit", "--diff"))
    assert error.value.where == "--diff" and error.value.hint.endswith("--diff main")


def test_a_change_is_seen_whatever_letters_a_file_and_its_name_are_made_of(folder: Path) -> None:
    git("init", "-q")
    net = folder / "n\u00e9t \u7f51.py"
    net.write_bytes(b"# -*- coding: latin-1 -*-\n")
    git("add", ".")
    git("commit", "-qm", "one")
    net.write_bytes(b"# -*- coding: latin-1 -*-\nname = '\xe9'\n")
    assert changed_lines(head()) == {net: frozenset({2})}


def test_without_a_repository_a_diff_is_a_usage_error(folder: Path) -> None:
    with pytest.raises(UsageError, match="git"):
        changed_lines(head())

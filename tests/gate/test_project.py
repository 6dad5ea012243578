"""The files of a project: by git where there is one, all that lies there where git does not say."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from exporter.gate import project
from exporter.gate.project import TooLargeError, digest_of, look_through
from tests.gate.test_touched import git


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    place = tmp_path / "work"
    for name in ("a.txt", "data/b.bin", "__pycache__/c.pyc", "venv/pyvenv.cfg", "venv/d.py", "results/e.txt"):
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(name)
    (place / "link").symlink_to("a.txt")
    monkeypatch.chdir(place)
    return place


def names(work: Path) -> set[str]:
    return set(look_through([work / "results"], work.parent / "index.json").digests)


def test_without_git_all_counts_but_tools_environments_and_results(work: Path) -> None:
    assert names(work) == {"a.txt", "data/b.bin", "link"}


def test_with_git_what_it_tracks_or_would_add_counts_also_above(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(["git", "init", "-q"], cwd=work, check=True)
    (work / ".gitignore").write_text("data/\nvenv/\n__pycache__/\n")
    assert names(work) == {"a.txt", "link", ".gitignore"}
    subprocess.run(["git", "add", "-f", "data/b.bin"], cwd=work, check=True)
    assert names(work) == {"a.txt", "link", ".gitignore", "data/b.bin"}
    monkeypatch.chdir(work / "data")
    assert names(work) == {"../a.txt", "../link", "../.gitignore", "b.bin"}


def test_where_git_does_not_say_all_that_lies_there_counts(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    subprocess.run(["git", "init", "-q"], cwd=work, check=True)
    stock = project.git_output

    def silent(folder: Path, *arguments: str) -> str | None:
        return None if "ls-files" in arguments else stock(folder, *arguments)

    monkeypatch.setattr(project, "git_output", silent)
    assert names(work) == {"a.txt", "data/b.bin", "link"}


def test_a_change_of_equal_size_and_time_and_of_what_a_link_leads_to_is_another_digest(work: Path) -> None:
    index = work.parent / "index.json"
    before = look_through([], index)
    about = (work / "a.txt").stat()
    (work / "a.txt").write_text("b.txt")
    os.utime(work / "a.txt", ns=(about.st_atime_ns, about.st_mtime_ns))
    after = look_through([], index)
    assert {name for name in before.digests if before.digests[name] != after.digests[name]} == {"a.txt", "link"}
    assert before.changed(["data/b.bin"]) == "" and before.changed(["data/b.bin", "a.txt"]) == "a.txt"


def test_an_index_that_is_damaged_is_not_believed(work: Path) -> None:
    index = work.parent / "index.json"
    before = look_through([], index).digests
    index.write_text('{"x": 1')
    assert look_through([], index).digests == before


@pytest.mark.parametrize("names", [["GIT_INDEX_FILE"], ["GIT_DIR"], ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"]])
def test_in_a_hook_of_git_submodules_count_by_their_files(
    work: Path, monkeypatch: pytest.MonkeyPatch, names: list[str]
) -> None:
    for place in (work / "lib", work):
        place.mkdir(exist_ok=True)
        (place / "x.py").write_text("")
        git(place, "init", "-q")
        git(place, "add", "x.py")
        git(place, "commit", "-q", "-m", "first")
    git(work, "add", "lib")  # as a submodule is
    before = look_through([], work.parent / "index.json").digests
    assert {"x.py", "lib/x.py"} <= before.keys()
    values = {"GIT_INDEX_FILE": work / ".git/index", "GIT_DIR": work / ".git", "GIT_WORK_TREE": work}
    for name in names:
        monkeypatch.setenv(name, str(values[name]))
    assert look_through([], work.parent / "index.json").digests == before


def test_names_of_any_bytes(work: Path) -> None:
    name, index = os.fsdecode(b"caf\xe9.bin"), work.parent / "index.json"
    (work / name).write_text("1")
    os.utime(work / name, (1, 1))
    before = look_through([], index)
    assert before.digests == look_through([], index).digests and name in before.digests
    (work / name).write_text("2")
    after = look_through([], index).digests
    assert {name} == {key for key in after if after[key] != before.digests[key]}
    assert digest_of(after) != digest_of(before.digests)


def test_a_project_of_too_many_files_is_refused(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(project, "MOST_FILES", 2)
    with pytest.raises(TooLargeError):
        names(work)

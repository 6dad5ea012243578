"""An answer that a child gave before stands for another run only where that would give the same; with real children."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from exporter.base.errors import UsageError
from exporter.gate.counts import Counting
from exporter.gate.project import look_through
from exporter.gate.reuse import identity
from exporter.gate.reuse.places import Places
from exporter.gate.reuse.steps import Step, Steps
from exporter.gate.reuse.store import Store
from exporter.process.memo import remembering
from exporter.process.scratch import scratch
from exporter.process.workers import Limits, call
from tests import children
from tests.command import ROOT, STORED

TARGET = children.transforms


class Project:
    """A working folder with a source, and a cache beside it; of its files those count that a spec names (`counted`)."""

    def __init__(self, place: Path) -> None:
        self.place, self.told = place, list[Step]()
        (place / "source.txt").write_text("source, ")
        (place / "besides.txt").write_text("besides")
        self.counted: tuple[str, ...] = ()
        self.depends: tuple[str, ...] = ()
        self.steps = self.release()

    def release(self) -> Steps:
        """Begin another release."""
        project = look_through((), self.place.parent / "index.json")
        about = (Counting((), self.counted, ("*",), ()), identity.identity("cpu"), (), self.depends)
        self.steps = Steps("net", Store(self.place.parent / "cache"), project, *about, self.told.append)
        return self.steps

    def ask(self, environment: dict[str, str] | None = None, **more: Any) -> tuple[bool, dict[str, Any], str]:
        """Whether a child ran, its answer, and what lies there then."""
        self.told.clear()
        with scratch() as into, remembering(self.release()):
            request = {"source": "source.txt", "into": str(into), **more}
            answer = call(TARGET, request, Limits(seconds=60), environment=environment)
            assert answer["wrote"] == f"{into}/deep/out.txt" and list(answer["by"]) == [str(into)]
            return bool(self.told[0].why), answer, (into / "deep/out.txt").read_text()

    def reuses(self, **more: Any) -> bool:
        ran, _, _ = self.ask(**more)
        return not ran

    @property
    def why(self) -> str:
        return self.told[0].why

    @property
    def told_besides(self) -> list[tuple[str, str]]:
        return [(step.word, step.why) for step in self.told[1:]]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    (tmp_path / "work").mkdir()
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.chdir(tmp_path / "work")
    yield Project(tmp_path / "work")


def test_the_same_question_is_answered_without_a_child_and_its_files_are_there(project: Project) -> None:
    first = project.ask()
    second = project.ask()
    assert (first[0], second[0]) == (True, False) and str(project.told[0]) == "net: transforming source.txt: reused"
    assert first[2] == second[2] == "source, besides"
    assert list(first[1]["by"].values()) == list(second[1]["by"].values()), "the second is the first one's answer"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda place: (place / "source.txt").write_text("other, "), "this was not asked before"),
        (lambda place: (place / "besides.txt").write_text("other"), "besides.txt changed"),
        (lambda place: (place / "besides.txt").unlink(), "besides.txt is gone"),
    ],
)
def test_what_it_reads_is_noticed(project: Project, change: Callable[[Path], Any], why: str) -> None:
    project.ask()
    change(project.place)
    ran, _, wrote = project.ask()
    assert ran and project.why == why
    expected = (project.place / "source.txt").read_text()
    assert wrote.startswith(expected) and project.reuses()


def test_what_counts_of_the_project_is_noticed_whoever_reads_it(project: Project) -> None:
    (project.place / "table.bin").write_text("1")
    project.ask()
    (project.place / "table.bin").write_text("2")
    assert project.reuses()
    project.counted = ("table.bin",)
    assert not project.reuses() and project.reuses()
    (project.place / "table.bin").write_text("3")
    assert not project.reuses() and project.why == "a file of the project is another one"


def test_a_variable_is_noticed(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.ask()
    monkeypatch.setenv("TRANSFORMS", "yes")
    ran, _, wrote = project.ask()
    assert ran and wrote.endswith("yes") and "variable TRANSFORMS is yes" in project.why


def test_the_machine_and_packages_and_our_code_are_noticed(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.ask()
    for function in ("packages", "code_digest"):
        with monkeypatch.context() as patched:
            patched.setattr(identity, function, lambda: {"numpy": "0"})
            assert not project.reuses(), function
        assert project.reuses(), "of one key several are kept"


def test_the_request_and_what_the_child_is_given_are_noticed_and_what_stands_beside_is_not(project: Project) -> None:
    project.ask(budget=4)
    assert not project.reuses(budget=5)
    assert not project.reuses(budget=5, environment={"OMP_NUM_THREADS": "3"})
    assert not project.reuses(beside={"limit": 1}) and project.reuses(beside={"limit": 2})


def test_only_whole_answers_are_kept(project: Project) -> None:
    for more in ({"parts": True}, {"names": True}, {"removes": "gone.txt"}):
        for _ in range(2):
            (project.place / "gone.txt").write_text("")
            assert not project.reuses(**more), more
    for _ in range(2):
        with pytest.raises(UsageError, match="it fails"):
            project.ask(fails=True)
        assert project.why == "this was not asked before"


@pytest.mark.parametrize("what", ["objects", "records"])
def test_a_flipped_bit_is_not_believed(project: Project, what: str) -> None:
    project.ask()
    files = [path for path in (project.place.parent / "cache" / what).rglob("*") if path.is_file()]
    assert len(files) == 1
    content = bytearray(files[0].read_bytes())
    content[len(content) // 2] ^= 1
    files[0].write_bytes(content)
    ran, _, wrote = project.ask()
    assert ran and wrote == "source, besides"
    assert project.reuses(), "what was damaged is there again"


def test_another_checkout_is_told_its_own_paths(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.ask()
    other = project.place.parent / "other"
    other.mkdir()
    for path in project.place.iterdir():
        (other / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(other)
    ran, answer, _ = project.ask()
    assert not ran and answer["at"] == str(other / "besides.txt")


def test_a_release_hears_what_the_first_child_saw(project: Project) -> None:
    project.ask()
    assert project.reuses() and str(project.place / "besides.txt") in project.steps.seen.read


def test_a_named_pattern_counts_whoever_reads_it(project: Project) -> None:
    (project.place / "data").mkdir()
    (project.place / "data/a.jpg").write_text("1")
    project.depends = ("data/**/*.jpg",)
    project.ask()
    assert project.reuses()
    (project.place / "data/a.jpg").write_text("2")
    assert not project.reuses() and project.why == "data/a.jpg changed"
    (project.place / "data/b.jpg").write_text("2")
    assert not project.reuses() and project.why == "'data/**/*.jpg' names other files"


@pytest.mark.parametrize("how", ["changes", "appends", "queries", "queries_only"])
def test_a_file_that_was_there_and_is_opened_to_be_changed_is_read(project: Project, how: str) -> None:
    table = project.place / "table.bin"
    table.write_text("")
    project.ask(**{how: True})
    assert project.reuses(**{how: True})
    table.write_text("2")
    assert not project.reuses(**{how: True}) and project.why == "table.bin changed"


def test_a_file_that_is_made_or_emptied_is_not_read(project: Project) -> None:
    project.ask(empties=True)
    (project.place / "table.bin").write_text("2")
    assert project.reuses(empties=True)


def test_what_a_server_sends_is_not_seen(project: Project) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        project.ask(connects=server.getsockname()[1])
    ((word, why),) = project.told_besides
    assert word == "not kept" and "the server 127.0.0.1:" in why


def test_what_depends_is_believed_for_is_told_and_holds_for_no_other(project: Project) -> None:
    project.depends = ("besides.txt",)
    starts = ["/bin/sh", "-c", "true"]
    project.ask(starts=starts)
    assert project.told_besides == [("kept", "its `depends` answers for what the process sh may have read")]
    assert project.reuses(starts=starts) and project.steps.seen.hidden == {"the process sh"}
    project.depends = ()
    assert not project.reuses(starts=starts) and "`depends`" in project.why


@pytest.mark.parametrize(
    ("more", "who"),
    [
        ({"imports": "_cffi_backend"}, "_cffi_backend"),
        ({"starts": ["/bin/sh", "-c", "true"]}, "the process sh"),
        ({"forks": True}, "a process of its own"),
        ({"imports": "multiprocessing.popen_spawn_posix"}, "a process of its own"),
    ],
)
def test_what_may_have_read_unseen_is_not_kept_unless_the_spec_names_it(
    project: Project, more: dict[str, Any], who: str
) -> None:
    for _ in range(2):
        assert not project.reuses(**more)
        ((word, why),) = project.told_besides
        assert word == "not kept" and f"files {who} may have read" in why and "`depends`" in why
    project.depends = ("besides.txt",)
    assert not project.reuses(**more) and project.reuses(**more)


def test_what_paddle_opens_by_itself_is_seen(project: Project) -> None:
    program, seen = STORED / "pir/model", project.steps.seen
    with remembering(project.steps):
        call(children.loads_a_program, {"program": str(program)}, imports=("paddle",))
    assert {f"{program}.json", f"{program}.pdiparams"} <= seen.read and not seen.hidden


def test_what_is_not_known_to_depend_on_its_request_alone_always_runs(project: Project) -> None:
    with remembering(project.steps):
        for _ in range(2):
            assert call(children.echo, {"into": "x"}) == {"into": "x"}
    assert not project.told


def test_a_text_that_is_no_path_is_no_path(tmp_path: Path) -> None:
    texts = {"a": "x" * 5000, "b": "a\0b", "c": "image/png", "d": str(tmp_path / ".tmp-draft/pir"), "e": [__file__]}
    assert Places.of(texts).paths == (str(tmp_path / ".tmp-draft/pir"), __file__)


def test_a_text_that_is_too_long_for_a_name_is_no_path() -> None:
    """The arguments of a factory, as JSON, are longer than the 255 bytes that a file's name may have."""
    assert Places.of({"model": "recipes.digits:build " + 300 * "x", "file": __file__}).paths == (__file__,)

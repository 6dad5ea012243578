"""What a child says and leaves may be forged, cut off, or without end: never more than a crashed child."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exporter.base.errors import ChildCrashed, EnvironmentLacks
from exporter.engines.base import Availability
from exporter.engines.child import ProbeAnswer
from exporter.engines.job import EngineAnswer
from exporter.process.answers import MOST_LINE, read_answer, read_events
from exporter.process.job import NotOfType, from_json, to_json
from exporter.process.workers import Limits, call
from tests import children
from tests.command import ROOT

ERROR = {"kind": "UsageError", "what": "a", "where": "b", "hint": "c", "details": "d"}
FORGED: list[Any] = [
    *(None, [], "", 7, {}, {"result": None}, {"result": []}, {"result": "passed"}, {"error": None}, {"error": {}}),
    *({"error": ERROR | {"what": None}}, {"error": {**ERROR, "kind": 7}}, {"more": {}, "result": {}}),
]


def written(path: Path, content: bytes) -> Path:
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("answer", FORGED, ids=str)
def test_an_answer_of_another_kind_is_a_crash(tmp_path: Path, answer: Any) -> None:
    with pytest.raises(ChildCrashed, match="answer"):
        read_answer(written(tmp_path / "a", json.dumps(answer).encode()))


@pytest.mark.parametrize(
    "content",
    [
        *(
            b"",
            b"{",
            b'{"result": {"x": NaN}}',
            b'{"result": {"x": 1e999}}',
            b'{"result": {"x": ' + b"9" * 5000 + b"}}",
        ),
        *(b'{"result": ' + b"[" * 100_000, b"\xff\xfe", b'{"result": {}, "result": {}}'),
    ],
    ids=range(8),
)
def test_an_answer_that_is_no_json_of_ours_is_a_crash(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(ChildCrashed, match="cannot be read"):
        read_answer(written(tmp_path / "a", content))


def test_an_answer_that_is_no_file(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a")
    with pytest.raises(ChildCrashed, match="not a regular file"):
        read_answer(tmp_path / "a")


def test_half_a_surrogate_pair_in_an_answer_is_written_out(tmp_path: Path) -> None:
    answer = read_answer(written(tmp_path / "a", b'{"result": {"x": "a\\udc80", "\\ud800": ["\\ud83d\\ude00"]}}'))
    assert answer == {"x": "a\\udc80", "\\ud800": ["\U0001f600"]}


@given(
    st.recursive(st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.dictionaries(st.text(), inner))
)
def test_what_an_engine_says_is_typed(answer: Any) -> None:
    cost = {"seconds": 0.1, "megabytes": 1.0}
    sound: dict[str, Any] = {"sessions": {}, "refused": {}, "load": "", "cost": cost}
    for key in sound:
        try:
            from_json(EngineAnswer, {**sound, key: answer})
        except NotOfType as error:
            assert key in str(error)
        else:
            assert isinstance(answer, type(sound[key]))


def test_what_an_engine_says_of_itself_is_typed() -> None:
    said = to_json(ProbeAnswer, ProbeAnswer({"eager": Availability("3")}))
    assert from_json(ProbeAnswer, said).engines["eager"].available
    with pytest.raises(NotOfType, match="version"):
        from_json(ProbeAnswer, {"engines": {"eager": {**said["engines"]["eager"], "version": None}}})


def test_progress_that_is_none_is_dropped_and_the_rest_comes() -> None:
    reader, writer = os.pipe()
    lines = [b"{", b"null", b"[]", b'{"doing": 7}', b'{"doing": "a", "case": {}}', b"\xff", b'{"doing": "x"}']
    lines += [b'{"doing": "a", "format": []}']
    lines += [b'{"doing": "' + b"y" * (3 * MOST_LINE) + b'"}', b'{"doing": "z", "case": "b"}', b'{"doing": "cut']
    thread = threading.Thread(target=lambda: (os.write(writer, b"\n".join(lines)), os.close(writer)))
    thread.start()
    with os.fdopen(reader, "rb") as stream:
        assert [event["doing"] for event in read_events(stream)] == ["x", "z"]
    thread.join()


def test_progress_without_end_takes_no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """400 MB without a newline; the parent's memory held all of it, three times."""
    monkeypatch.chdir(ROOT)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    heard: list[Any] = []
    assert call(children.floods, {"megabytes": 400}, on_event=heard.append) == {"done": True}
    assert [event["doing"] for event in heard] == ["before", "after"]
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) >> 10 < 50


@pytest.mark.parametrize("name", ["forges", "forges_a_pipe"])
def test_a_child_that_writes_its_answer_itself(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(ROOT)
    with pytest.raises(ChildCrashed):
        call(getattr(children, name), {})


def test_no_room_for_the_answer_is_the_machine_s_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The temporary folder is full when the child is done: exit 3, and not a model that cannot be exported."""
    monkeypatch.chdir(ROOT)
    with pytest.raises(EnvironmentLacks, match="temporary files"):
        call(children.talks_more_than_fits, {}, Limits())


SCRATCH = """
import os, sys, time
from exporter.process.scratch import scratch
with scratch() as folder:
    (folder / "large").write_text("x")
    print(folder.parent, flush=True)
    time.sleep(float(sys.argv[1]))
"""


def test_what_a_killed_run_left_is_removed_by_a_later_one_and_nothing_else(tmp_path: Path) -> None:
    env = {**os.environ, "TMPDIR": str(tmp_path)}

    def start(seconds: str) -> tuple[subprocess.Popen[str], Path]:
        process = subprocess.Popen([sys.executable, "-c", SCRATCH, seconds], env=env, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        return process, Path(process.stdout.readline().strip())

    living, kept = start("600")
    killed, left = start("600")
    killed.kill()
    killed.wait()
    assert left.is_dir()
    (tmp_path / "precious").mkdir()
    (tmp_path / "exporter-run-link").symlink_to(tmp_path / "precious")
    (tmp_path / "precious/.lock").touch()
    (tmp_path / "exporter-mine").mkdir()
    (tmp_path / "exporter-run-new").mkdir()  # one that has no lock yet
    later, own = start("0")
    later.wait()
    assert not left.exists() and not own.exists()
    assert kept.is_dir() and (kept / "files/large").exists(), "a live run keeps its own"
    assert {path.name for path in tmp_path.iterdir()} == {
        *("precious", "exporter-run-link", "exporter-mine", "exporter-run-new", kept.name)
    }
    living.kill()
    for process in (living, killed, later):
        process.communicate()

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from exporter.base.errors import (
    ChildCrashed,
    ChildFailed,
    ChildOutOfMemory,
    ChildTimedOut,
    ExitCode,
    ExporterError,
    ModelError,
)
from exporter.process import usage
from exporter.process.answers import MOST_SAID
from exporter.process.workers import PADDLE, Limits, Setting, call
from tests import children
from tests.command import PATIENCE, ROOT, environment

SHORT = Limits(seconds=1.5)


@pytest.fixture(autouse=True)
def where_children_find_the_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def gone(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def assert_soon(condition: Any) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "it never came"
        time.sleep(0.05)


@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(st.text(), st.text() | st.integers() | st.none() | st.lists(st.booleans()), max_size=3))
def test_what_is_asked_comes_through_and_so_does_the_answer(request_: dict[str, Any]) -> None:
    assert call(children.echo, request_) == request_


def test_a_child_runs_in_our_folder_with_its_own_environment() -> None:
    seen = call(children.surroundings, {}, environment={"FLAGS_enable_pir_api": "0"})
    assert seen["pid"] != os.getpid() and seen["cwd"] == str(ROOT) and str(ROOT) in [*seen["path"], seen["cwd"]]
    assert seen["env"]["FLAGS_enable_pir_api"] == "0" and "FLAGS_enable_pir_api" not in os.environ
    assert seen["env"]["PYTHONHASHSEED"] == "0", "sets must have one order"


@pytest.mark.parametrize("name", sorted(children.KINDS))
def test_an_error_of_ours_comes_back_as_it_was(name: str) -> None:
    kind = children.KINDS[name]
    with pytest.raises(ExporterError) as caught:
        call(children.ours, {"kind": name})
    error = caught.value
    assert (error.what, error.where, error.hint) == ("what it is", "where it is", "what to do")
    assert error.exit_code == kind.exit_code and isinstance(error, kind if kind is not ChildTimedOut else ModelError)


def test_an_error_of_the_user_s_code_names_the_line_and_keeps_the_traceback() -> None:
    with pytest.raises(ChildFailed) as caught:
        call(children.theirs, {})
    assert caught.value.what == "ZeroDivisionError: a mistake in user code"
    line = 1 + (ROOT / "tests/children.py").read_text().splitlines().index(
        '    raise ZeroDivisionError("a mistake in user code")'
    )
    assert caught.value.where == f"tests/children.py:{line}"
    assert "Traceback" in caught.value.details and caught.value.hint


@pytest.mark.parametrize("how", ["sys.exit", "os._exit"])
@pytest.mark.parametrize("code", [0, 1, 70])
def test_a_child_that_leaves_early_has_not_succeeded(how: str, code: int) -> None:
    with pytest.raises(ChildFailed) as caught:
        call(children.leaves, {"how": how, "code": code})
    assert caught.value.exit_code is ExitCode.MODEL and caught.value.hint


def test_a_crash_says_the_signal_and_what_came_last() -> None:
    with pytest.raises(ChildCrashed) as caught:
        call(children.segfaults, {})
    assert caught.value.what == "the child died by SIGSEGV" and caught.value.where == "while reading address 0"
    assert "last words" in caught.value.details and "string_at" in caught.value.details
    assert caught.value.hint


@pytest.mark.parametrize("imports", [PADDLE, ()], ids=["server", "child"])
def test_paddle_s_handler_of_signals_is_gone_wherever_paddle_was_imported(imports: tuple[str, ...]) -> None:
    """It prints no Python, and may wait for ever for a lock of an allocator whose memory a kernel has corrupted."""
    with pytest.raises(ChildCrashed, match="SIGSEGV") as caught:
        call(children.segfaults_beside_paddle, {}, imports=imports)
    assert "string_at" in caught.value.details and "FatalError" not in caught.value.details
    with pytest.raises(ChildCrashed, match=r"SIG(SEGV|ABRT)") as caught:
        call(children.feeds_a_length_beyond_the_sequence, {}, imports=imports)
    assert caught.value.where == "while running an LSTM" and "Fatal Python error" in caught.value.details


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGABRT, signal.SIGFPE, signal.SIGTERM])
def test_every_deadly_signal_is_a_crash(number: signal.Signals) -> None:
    with pytest.raises(ChildCrashed, match=number.name):
        call(children.dies, {"signal": int(number)})


@pytest.mark.parametrize("deaf", [False, True])
def test_a_hang_ends_at_its_limit(deaf: bool, tmp_path: Path) -> None:
    with pytest.raises(ChildTimedOut) as caught:
        call(children.hangs, {"deaf": deaf, "pid": str(tmp_path / "pid")}, SHORT)
    assert "1.5 s" in caught.value.what and caught.value.where == "while waiting for ever" and caught.value.hint
    assert gone(int((tmp_path / "pid").read_text()))


@pytest.fixture
def load() -> Iterator[None]:
    """Four busy processes for each processor, so that a child gets about a fifth of one.

    Each has a session of its own, as the child has: Linux shares processors out by session where it groups by it.
    """
    count = 4 * len(os.sched_getaffinity(0))
    command = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(command, start_new_session=True) for _ in range(count)]
    yield
    for process in busy:
        process.kill()
        process.wait()


@pytest.mark.usefixtures("load")
@pytest.mark.parametrize("function", ["burns", "waits_for_another"])
def test_a_busy_machine_ends_no_child_that_computes_less_than_its_limit(function: str) -> None:
    began = time.monotonic()
    call(getattr(children, function), {"seconds": 0.8}, Limits(seconds=1.6))
    assert time.monotonic() - began > 1.6, "the clock would have ended it: else the load was none"


def without_queues(monkeypatch: pytest.MonkeyPatch, ran: float) -> None:
    """Each thread ran so many seconds and was never queued, by what Linux counts."""
    threads = usage._threads
    monkeypatch.setattr(usage, "_threads", lambda pid: (replace(one, ran=ran, queued=0.0) for one in threads(pid)))


@pytest.mark.usefixtures("load")
def test_where_linux_counts_no_queues_a_child_that_computes_is_charged_just_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A kernel without CONFIG_SCHED_INFO, or with it switched off, says 0."""
    without_queues(monkeypatch, ran=0.0)
    call(children.burns, {"seconds": 0.8}, Limits(seconds=1.6))
    with pytest.raises(ChildTimedOut, match="waited for nothing"):
        call(children.locks, {}, SHORT)


@pytest.mark.usefixtures("load")
def test_a_thread_that_is_in_the_queue_for_a_processor_does_not_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    """Linux adds the time in the queue when a thread leaves it, which on a busy machine is after many looks."""
    without_queues(monkeypatch, ran=1.0)
    call(children.burns, {"seconds": 1.5}, Limits(seconds=4.5))  # with the queue it would be charged some 8 s
    with pytest.raises(ChildTimedOut, match="waited for nothing"):
        call(children.locks, {}, SHORT)


def charged(monkeypatch: pytest.MonkeyPatch, *looks: usage._Look) -> usage.Meter:
    """A meter after looks that saw this."""
    meter, left = usage.Meter(), list(looks)
    monkeypatch.setattr(usage, "_look", lambda pid: left.pop(0))
    for _ in looks:
        meter.look(os.getpid())
    return meter


def test_a_look_that_itself_took_long_charges_no_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    """The looking process was in the queue; what the child had computed meanwhile is in the numbers of that look."""
    start = time.monotonic()
    looks = [usage._Look(start, start + 3, own=1.0), usage._Look(start + 3.1, start + 3.2, own=1.0)]
    meter = charged(monkeypatch, *looks)
    assert meter.worked == 1.0 and meter.slept == pytest.approx(0.1)


def test_a_child_that_has_ended_before_the_look_did_not_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a second and more lies between two looks: what it computed last is seen by neither."""
    now = time.monotonic()
    before, gone_now = usage._Look(now, now, own=1.0), usage._Look(now + 1.5, now + 1.5, whole=False)
    assert charged(monkeypatch, before, gone_now).slept == 0.0
    assert charged(monkeypatch, before, usage._Look(now + 1.5, now + 1.5, own=1.0)).slept == pytest.approx(1.5)
    monkeypatch.undo()
    ended = subprocess.Popen([sys.executable, "-c", ""])
    assert_soon(lambda: gone(ended.pid))
    assert not usage._look(ended.pid).whole and usage._look(os.getpid()).whole
    ended.wait()
    assert not usage._look(ended.pid).whole


def test_a_child_that_ends_while_it_is_looked_at_did_not_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a look takes long: of a child that was in the queue for seconds nothing tells any more."""
    child, family = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]), usage._family

    def ending(pid: int) -> Iterator[tuple[int, usage._Process]]:
        alone = [(number, process) for number, process in family(pid) if number == pid]
        child.kill()
        child.wait()
        return iter(alone)

    meter = usage.Meter()
    meter.look(child.pid)
    time.sleep(0.3)
    monkeypatch.setattr(usage, "_family", ending)
    meter.look(child.pid)
    assert meter.slept == 0.0


def test_a_child_that_computes_at_the_moment_of_the_look_did_not_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time that it stood in the queue before may not be counted yet."""
    now = time.monotonic()
    before, after = usage._Look(now, now, own=1.0), usage._Look(now + 1.5, now + 1.5, own=1.0, busy=True)
    assert charged(monkeypatch, before, after).slept == 0.0
    monkeypatch.undo()
    assert usage._look(os.getpid()).busy, "this thread looks"


@pytest.mark.parametrize(("state", "busy"), [("R", True), ("D", True), ("S", False), ("T", False)])
@pytest.mark.parametrize("counts", ["2000000000 500000000 7", None])
def test_what_linux_tells_of_a_thread(
    state: str, busy: bool, counts: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some kernels count no queues, and have no such file."""
    task = tmp_path / "7" / "task" / "8"
    task.mkdir(parents=True)
    (task / "stat").write_text(f"8 (a) b) {state} 1 0 0")
    if counts:
        (task / "schedstat").write_text(counts)
    monkeypatch.setattr(usage, "_PROC", tmp_path)
    assert list(usage._threads(7)) == [usage._Thread(8, busy, *((2.0, 0.5) if counts else (0.0, 0.0)))]
    (task / "stat").unlink()
    assert list(usage._threads(7)) == [] == list(usage._threads(9))


def test_what_the_host_took_from_a_processor_is_no_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    now = time.monotonic()
    before = usage._Look(now, now, own=1.0, stolen=(10.0, 5.0))
    after = usage._Look(now + 1.5, now + 1.5, own=1.0, stolen=(10.2, 6.0))
    assert charged(monkeypatch, before, after).slept == pytest.approx(0.5)
    monkeypatch.undo()
    assert len(usage._stolen()) >= len(os.sched_getaffinity(0))


@pytest.mark.usefixtures("load")
def test_processes_that_come_and_go_are_not_charged_for_waiting() -> None:
    assert call(children.waits_for_another, {"seconds": 0.05, "times": 10}, Limits(seconds=4)) == {}


@pytest.mark.usefixtures("load")
def test_a_loop_without_end_is_ended_on_a_busy_machine_too() -> None:
    with pytest.raises(ChildTimedOut, match=r"used up its limit of 1\.5 s of processor time") as caught:
        call(children.spins, {}, SHORT)
    assert caught.value.where == "while spinning" and "--timeout" in caught.value.hint


@pytest.mark.parametrize("processes", [1, 4])
def test_what_computes_at_once_is_charged_once(processes: int) -> None:
    began = time.monotonic()
    with pytest.raises(ChildTimedOut, match="processor time"):
        call(children.spins, {"processes": processes}, Limits(seconds=3))
    assert time.monotonic() - began > 2.8


@pytest.mark.parametrize("function", ["locks", "hangs", "stops"])
def test_a_child_that_does_nothing_is_charged_the_time_that_it_sleeps(function: str) -> None:
    with pytest.raises(ChildTimedOut, match=r"waited for nothing through its limit of 1\.5 s") as caught:
        call(getattr(children, function), {}, SHORT)
    assert caught.value.where.startswith("while ") and caught.value.where != "while starting"
    assert "lock" in caught.value.hint


def test_what_the_child_said_last_is_known_however_late_it_is_read() -> None:
    """The reader of its events may get no processor before the child is killed."""

    def slow(event: dict[str, Any]) -> None:
        time.sleep(1.5)

    with pytest.raises(ChildTimedOut) as caught:
        call(children.spins, {}, Limits(seconds=1), on_event=slow)
    assert caught.value.where == "while spinning"


def test_memory_without_end_ends_at_its_limit() -> None:
    with pytest.raises(ChildOutOfMemory) as caught:
        call(children.eats, {}, Limits(seconds=60, megabytes=200))
    assert "200 MB" in caught.value.what and caught.value.where == "while eating" and caught.value.hint


def test_what_is_refused_at_once_is_out_of_memory_too() -> None:
    with pytest.raises(ChildOutOfMemory) as caught:
        call(children.asks_for_too_much, {}, Limits(seconds=60, megabytes=200))
    assert "200 MB of memory (MemoryError" in caught.value.what and caught.value.hint
    assert "children.py" in caught.value.where


def test_the_memory_of_a_child_s_children_counts_and_they_die_with_it(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    with pytest.raises(ChildOutOfMemory):
        call(children.eats_through_another, {"pid": str(pid)}, Limits(seconds=60, megabytes=200))
    assert_soon(lambda: gone(int(pid.read_text())))


def test_without_a_limit_the_machine_s_own_is_the_limit() -> None:
    available = psutil.virtual_memory().available
    assert 0.5 * available < Limits().bytes() < available


@pytest.mark.parametrize(("count", "length"), [(3, 10), (2000, 100), (3, MOST_SAID), (3, 200_000)])
def test_progress_arrives_whole_and_in_order(count: int, length: int) -> None:
    events: list[dict[str, Any]] = []
    call(children.tells, {"count": count, "length": length}, on_event=events.append)
    assert [event["number"] for event in events] == list(range(count))
    assert {event["doing"] for event in events} == {"x" * min(length, MOST_SAID)}, "what is longer is cut"


def test_much_talk_on_stdout_is_no_answer_and_does_not_block() -> None:
    with pytest.raises(ChildFailed, match="after much talk"):
        call(children.talks, {"lines": 200_000})


@pytest.mark.parametrize("name", ["gives_nan", "gives_no_json"])
def test_an_answer_that_is_no_json_is_a_failure(name: str) -> None:
    with pytest.raises(ChildFailed) as caught:
        call(getattr(children, name), {})
    assert "JSON" in caught.value.what, "it must say what was wrong with the answer"


def test_a_full_temporary_folder_is_said(tmp_path: Path) -> None:
    script = (
        "import resource; from exporter.base import errors; from exporter.process import workers\n"
        "from tests import children\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))\n"
        "try: workers.call(children.echo, {'much': 'x' * 1000})\n"
        "except errors.EnvironmentLacks as error: print(error, error.hint)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=False,
        env=environment(TMPDIR=str(tmp_path)),
    )
    assert str(tmp_path) in done.stdout and "TMPDIR" in done.stdout, done.stderr
    assert not list(tmp_path.iterdir())


PARENT = """
from exporter.process.workers import call
from tests import children
call(children.hangs, {'pid': %r, 'deaf': %r})
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_no_child_outlives_a_killed_parent(tmp_path: Path, how: signal.Signals) -> None:
    pid = tmp_path / "pid"
    parent = subprocess.Popen([sys.executable, "-c", PARENT % (str(pid), False)], env=environment())
    assert_soon(lambda: pid.exists() and pid.read_text())
    parent.send_signal(how)
    parent.wait(120)
    assert_soon(lambda: gone(int(pid.read_text())))


def test_an_interrupt_reaches_the_child_and_then_the_caller(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT % (str(pid), False)],
        env=environment(TMPDIR=str(tmp_path)),
        stderr=subprocess.PIPE,
    )
    assert_soon(lambda: pid.exists() and pid.read_text())
    parent.send_signal(signal.SIGINT)
    assert b"KeyboardInterrupt" in parent.communicate(timeout=PATIENCE)[1]
    assert gone(int(pid.read_text()))
    assert [path.name for path in tmp_path.iterdir()] == ["pid"], "its temporary folder stays behind"


def test_what_a_child_runs_in_onnx_runtime_leaves_nothing_in_the_home_folder(tmp_path: Path) -> None:
    """Its wheels for Linux keep a device's number there, for the telemetry that they send from 1.29 on."""
    home = tmp_path / "home"
    home.mkdir()
    answer = call(children.run_onnx, {}, environment={"HOME": str(home), "XDG_CACHE_HOME": None})
    assert answer == {"ran": True}
    assert list(home.rglob("*")) == []


@pytest.mark.parametrize(("gigabytes", "seconds"), [(0, 300), (3, 300), (7.5, 750), (18, 1800)])
def test_a_large_bundle_gives_its_children_more_time_unless_somebody_has_set_it(
    gigabytes: float, seconds: float
) -> None:
    plain = Setting(Limits(seconds=300, megabytes=7))
    grown = plain.grown(int(gigabytes * 1e9))
    assert grown.limits == replace(plain.limits, seconds=seconds)
    fixed = replace(plain, follows_costs=False)
    assert fixed.grown(int(gigabytes * 1e9)) == fixed

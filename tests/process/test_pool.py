"""Several children at once: the same results in the same order, the first error, and an end when asked to end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from exporter.process.pool import MOST, in_order, share
from exporter.process.workers import Limits, Setting, call
from tests import children
from tests.command import ROOT, environment
from tests.process.test_workers import assert_soon, gone


def test_results_stand_in_the_order_of_the_tasks() -> None:
    """The first waits for the last, so they do run at once."""
    last_ran = threading.Event()

    def first() -> str:
        assert last_ran.wait(60)
        return "first"

    def last() -> str:
        last_ran.set()
        return "last"

    assert list(in_order([first, last], 2)) == ["first", "last"]


@pytest.mark.parametrize("at_once", [1, 2, MOST + 3])
def test_no_more_run_at_once_than_asked_for(at_once: int) -> None:
    running: list[int] = []
    most = 0
    lock = threading.Lock()

    def task(number: int) -> int:
        nonlocal most
        with lock:
            running.append(number)
            most = max(most, len(running))
        time.sleep(0.02)
        with lock:
            running.remove(number)
        return number

    assert list(in_order([partial(task, number) for number in range(12)], at_once)) == list(range(12))
    assert most <= min(at_once, MOST)


def test_the_first_error_in_the_order_is_heard() -> None:
    later_raised = threading.Event()

    def first() -> None:
        assert later_raised.wait(60)
        raise ValueError("first")

    def later() -> None:
        later_raised.set()
        raise ValueError("later")

    with pytest.raises(ValueError, match="first"):
        list(in_order([first, later], 2))


def test_children_at_once_share_the_memory_that_is_left() -> None:
    def limit() -> int:
        return Limits().bytes()

    (alone,) = in_order([limit], 2)
    assert all(limit < 0.7 * alone for limit in in_order([limit, limit], 2))
    assert Limits(megabytes=100).bytes() == 100 << 20


def test_a_machine_of_little_memory_runs_one() -> None:
    assert Setting().at_once(1 << 40) == 1
    assert Setting(jobs=3).at_once(1 << 40) == 3
    processors = len(os.sched_getaffinity(0))
    assert Setting().at_once(1) == processors


def test_children_of_several_threads_answer_and_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    tasks: list[Callable[[], object]] = [
        partial(call, children.echo, {"number": number}, environment={"LANE": str(number % 3)}) for number in range(9)
    ]
    assert list(in_order(tasks, 3)) == [{"number": number} for number in range(9)]
    assert share().of == 1


SCRIPT = """
from functools import partial
from exporter.process.pool import in_order
from exporter.process.workers import call
from tests import children
requests = [{'pid': %r + str(number), 'deaf': False} for number in range(2)]
list(in_order([partial(call, children.hangs, request) for request in requests], 2))
"""


def test_ctrl_c_ends_them_all(tmp_path: Path) -> None:
    pids = [tmp_path / f"pid{number}" for number in range(2)]
    command = [sys.executable, "-c", SCRIPT % str(tmp_path / "pid")]
    parent = subprocess.Popen(command, env=environment(), cwd=ROOT, stderr=subprocess.DEVNULL)
    assert_soon(lambda: all(pid.exists() and pid.read_text() for pid in pids))
    parent.send_signal(signal.SIGINT)
    assert parent.wait(120) != 0
    assert_soon(lambda: all(gone(int(pid.read_text())) for pid in pids))

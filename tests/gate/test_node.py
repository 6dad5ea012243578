"""The process on a node: an interrupt ends it in order, however many come."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from exporter.gate.node import ReleaseRequest
from exporter.gate.task import Task
from exporter.gate.touched import Touched
from exporter.process.workers import Limits, Setting
from tests.command import PATIENCE, environment

#: A node whose release waits, and takes its time to tidy up.
NODE = """
import os
import time
from pathlib import Path

from exporter.gate import node
from exporter.gate.task import Task


def release(task, spec):
    Path("begun").touch()
    try:
        time.sleep(3600)
    finally:
        Path("tidying").touch()
        while not Path("told").exists():
            time.sleep(0.02)
        Path("tidy").touch()


Task.release = release
node.main(Path("request.json"), Path("answer.json"), Path(), os.getppid())
"""


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    end = time.monotonic() + PATIENCE
    while not path.exists():
        assert process.poll() is None and time.monotonic() < end, f"{path.name} never came"
        time.sleep(0.02)


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_does_not_interrupt_what_tidies_up(tmp_path: Path, first: signal.Signals) -> None:
    task = Task((), Path("artifacts"), True, Setting(Limits(seconds=300)), None, reports=True)
    wanted = ReleaseRequest.of(task, Touched(Path("spec.yaml"), "asked for"), 1)
    wanted.write(tmp_path / "request.json")
    command = [sys.executable, "-c", NODE]
    process = subprocess.Popen(command, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, text=True)
    wait_for(tmp_path / "begun", process)
    process.send_signal(first)
    wait_for(tmp_path / "tidying", process)
    for number in (signal.SIGTERM, signal.SIGINT):
        process.send_signal(number)
    time.sleep(0.2)
    (tmp_path / "told").touch()
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGINT and "KeyboardInterrupt" in err, err
    assert (tmp_path / "tidy").exists() and not (tmp_path / "answer.json").exists()

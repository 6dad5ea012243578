"""Several specs at once: the order stays, a killed process loses nothing, and an interrupt ends them all."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import psutil
import pytest

from exporter.base.errors import ExitCode, UsageError
from exporter.gate import together
from tests.command import COMMAND, PATIENCE, contents, environment, exporter, leftovers
from tests.conftest import working_folder
from tests.described import small


def wait_for(path: Path) -> None:
    end = time.monotonic() + PATIENCE
    while not path.exists():
        assert time.monotonic() < end, f"{path.name} never came"
        time.sleep(0.02)


def meets(folder: Path, own: str, other: str) -> tuple[str, int]:
    (folder / own).touch()
    wait_for(folder / other)
    return own, os.getpid()


def kills_itself_once(folder: Path, own: str) -> tuple[str, int]:
    try:
        (folder / own).touch(exist_ok=False)
    except FileExistsError:
        return own, os.getpid()
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def in_processes(tasks: Sequence[Callable[[], tuple[str, int]]], at_once: int) -> Iterator[tuple[str, int]]:
    return together.in_processes(tasks, at_once, lambda number: ("lost", number))


def always_dies() -> tuple[str, int]:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


def complains() -> tuple[str, int]:
    raise UsageError("it fails")


def test_two_run_at_once_in_processes_of_their_own_and_the_order_stays(tmp_path: Path) -> None:
    tasks = [partial(meets, tmp_path, "a", "b"), partial(meets, tmp_path, "b", "a"), partial(meets, tmp_path, "c", "a")]
    found = list(in_processes(tasks, 2))
    assert [name for name, _ in found] == ["a", "b", "c"]
    assert found[0][1] != found[1][1] and os.getpid() not in {number for _, number in found}


def test_one_at_once_runs_here(tmp_path: Path) -> None:
    (tmp_path / "b").touch()
    assert list(in_processes([partial(meets, tmp_path, "a", "b")] * 2, 1)) == [("a", os.getpid())] * 2
    assert list(in_processes([], 4)) == []


def test_what_a_killed_process_had_taken_is_run_again(tmp_path: Path) -> None:
    tasks: list[Callable[[], tuple[str, int]]] = [partial(kills_itself_once, tmp_path, name) for name in "abc"]
    assert [name for name, _ in in_processes([*tasks[:1], partial(meets, tmp_path, "d", "a")], 2)] == ["a", "d"]


def test_what_kills_its_process_each_time_is_lost_alone(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    good = [partial(meets, tmp_path, name, "a") for name in "bc"]
    found = list(in_processes([good[0], always_dies, good[1]], 2))
    assert [name for name, _ in found] == ["b", "lost", "c"] and found[1][1] == 1


def tidies_slowly(folder: Path) -> tuple[str, int]:
    try:
        (folder / "a").touch()
        time.sleep(PATIENCE)
    finally:
        (folder / "tidying").touch()
        time.sleep(2.0)
        (folder / "tidy").touch()
    raise AssertionError


def complains_then(folder: Path) -> tuple[str, int]:
    wait_for(folder / "a")
    return complains()


def test_what_is_interrupted_tidies_up_though_another_process_ended_first(tmp_path: Path) -> None:
    """The pool ends the rest by SIGTERM as soon as one process is gone; the one interrupt is enough."""
    tasks: list[Callable[[], tuple[str, int]]] = [partial(complains_then, tmp_path), partial(tidies_slowly, tmp_path)]
    with pytest.raises(UsageError, match="it fails"):
        list(in_processes(tasks, 2))
    assert (tmp_path / "tidying").exists() and (tmp_path / "tidy").exists()


def test_an_error_is_heard_and_ends_the_others(tmp_path: Path) -> None:
    before = psutil.Process().children()  # servers of other tests
    tasks: list[Callable[[], tuple[str, int]]] = [complains, partial(meets, tmp_path, "a", "never")]
    with pytest.raises(UsageError, match="it fails"):
        list(in_processes(tasks, 2))
    assert not set(psutil.Process().children()) - set(before)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with two specs."""
    place = working_folder(tmp_path / "work")
    (place / "gated").mkdir()
    for name in ("one", "two"):
        content = small("models.sound:mlp", name=name, weights="factory", formats=["pir"], engines=["jit_load"])
        (place / f"gated/{name}.yaml").write_text(json.dumps(content))
    return place


def begun(work: Path) -> tuple[subprocess.Popen[str], list[psutil.Process]]:
    """A gate that has begun to release both, and all processes below it."""
    command = [*COMMAND, "gate", "--jobs", "2", "gated/one.yaml", "gated/two.yaml"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    process = subprocess.Popen(command, cwd=work, env=environment(TMPDIR=str(work)), text=True, **pipes)
    for name in ("one", "two"):
        end = time.monotonic() + PATIENCE
        while not leftovers(work / "artifacts" / name):
            assert process.poll() is None and time.monotonic() < end
            time.sleep(0.02)
    return process, psutil.Process(process.pid).children(recursive=True)


def test_both_pass_and_are_told_in_order(work: Path) -> None:
    done = exporter("gate", "--jobs", "2", "gated/two.yaml", "gated/one.yaml", cwd=work)
    assert done.code == 0, done.err + done.out
    assert [line.split()[1] for line in done.out.splitlines()[:2]] == ["gated/two.yaml:", "gated/one.yaml:"]


def test_an_interrupt_ends_both_and_leaves_nothing(work: Path) -> None:
    before = set(contents(work))
    process, started = begun(work)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == ExitCode.INTERRUPTED and "interrupted" in err and "Traceback" not in err, err
    psutil.wait_procs(started, timeout=PATIENCE)
    assert not [one for one in started if one.is_running()]
    assert not leftovers(work) and {name for name in contents(work) if "__pycache__" not in name} <= before


def test_nothing_outlives_a_gate_that_is_killed(work: Path) -> None:
    process, started = begun(work)
    process.kill()
    process.communicate(timeout=PATIENCE)
    psutil.wait_procs(started, timeout=PATIENCE)
    assert not [one for one in started if one.is_running()]

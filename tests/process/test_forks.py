"""Children by fork: one import serves many, and nothing that a child starts outlives it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from exporter.base.errors import ChildCrashed
from exporter.engines.child import ProbeRequest, probe
from exporter.gate.together import in_processes
from exporter.process import forks
from exporter.process.workers import _EVERY_CHILD, SINGLE_THREAD, call
from tests import children
from tests.command import ROOT, environment
from tests.process.test_workers import assert_soon, gone

MODULE = "exporter.engines.child"
MODULES = {
    "counted_import.py": "import os, pathlib\n"
    "with pathlib.Path(os.environ['COUNT']).open('a') as count: count.write('x')\n",
    "slow_import.py": "import time\ntime.sleep(600)\n",
    "crashing_import.py": "import ctypes\nctypes.string_at(0)\n",
    "threaded_import.py": "import threading, time\n"
    "threading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n",
}


@pytest.fixture(autouse=True)
def servers_of_its_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    forks.stop_servers()  # those of other tests
    monkeypatch.chdir(ROOT)
    modules = tmp_path / "modules"
    modules.mkdir()
    for name, text in MODULES.items():
        (modules / name).write_text(text)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(modules), os.environ.get("PYTHONPATH", "")]))
    monkeypatch.setenv("COUNT", str(tmp_path / "count"))
    yield
    forks.stop_servers()


def test_one_import_serves_many_children(tmp_path: Path) -> None:
    seen = [call(children.imported, {"name": "counted_import"}, imports=("counted_import",)) for _ in range(3)]
    assert all(child["imported"] for child in seen) and (tmp_path / "count").read_text() == "x"
    assert len({child["server"] for child in seen}) == 1 and len({child["here"] for child in seen}) == 3


def test_the_module_of_a_function_is_imported_once_too() -> None:
    """Where no bytecode may be written, compiling it takes each child longer than the job itself."""

    def imported() -> bool:
        child = call(children.imported, {"name": MODULE}, environment=SINGLE_THREAD, imports=("numpy",))
        return bool(child["imported"])

    assert not imported()
    call(probe, ProbeRequest((), "cpu"), environment=SINGLE_THREAD, imports=("numpy",))
    assert imported()


def test_another_environment_has_another_server(tmp_path: Path) -> None:
    for value in ("1", "2", "1"):
        child = call(children.surroundings, {}, environment={"OMP_NUM_THREADS": value}, imports=("counted_import",))
        assert child["env"]["OMP_NUM_THREADS"] == value
    assert (tmp_path / "count").read_text() == "xx"


def test_a_variable_can_be_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", "0")
    child = call(children.surroundings, {}, environment={"NVIDIA_TF32_OVERRIDE": None})
    assert "NVIDIA_TF32_OVERRIDE" not in child["env"]


@pytest.mark.parametrize("name", ["crashing_import", "threaded_import", "no_such_module"])
def test_what_cannot_be_imported_for_all_is_left_to_each_child(name: str) -> None:
    """A fork of a process with threads has their locks and not the threads."""
    child = call(children.imported, {"name": name}, imports=(name,))
    assert not child["imported"]


def test_servers_that_were_not_used_for_longest_are_ended() -> None:
    for number in range(forks.KEPT + 2):
        call(children.echo, {}, environment={"NUMBER": str(number)})
    assert len(forks._servers) == forks.KEPT


@pytest.mark.parametrize("how", ["answers", "crashes"])
def test_a_daemon_of_a_child_ends_with_it(how: str, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    request = {"pid": str(pid), "how": how}
    if how == "answers":
        assert call(children.leaves_a_daemon, request) == {"after": "answers"}
    else:
        with pytest.raises(ChildCrashed):
            call(children.leaves_a_daemon, request)
    assert gone(int(pid.read_text())), "it is gone when the answer is there, so that it changes nothing afterwards"


SCRIPT = """
from exporter.process.workers import call
from tests import children
call(children.hangs, {'pid': %r, 'deaf': True}, imports=(%r,))
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_a_deaf_child_and_its_server_end_with_the_main_process(how: signal.Signals, tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    parent = subprocess.Popen([sys.executable, "-c", SCRIPT % (str(pid), "counted_import")], env=environment())
    assert_soon(lambda: pid.exists() and pid.read_text())
    servers = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text().split()
    assert servers
    parent.send_signal(how)
    parent.wait(120)
    assert_soon(lambda: gone(int(pid.read_text())) and all(gone(int(server)) for server in servers))


@pytest.mark.parametrize("server", ["importing", "ready", "killed"])
def test_processes_share_the_servers_that_were_started_before_them(server: str, tmp_path: Path) -> None:
    """Where such a server is gone, each has one of its own."""

    def asked() -> int:
        return int(call(children.imported, {"name": "counted_import"}, imports=("counted_import",))["server"])

    forks.prepare(environment=_EVERY_CHILD, imports=("counted_import",))
    (shared,) = forks._servers.values()
    if server != "importing":
        shared.wait()
    if server == "killed":
        shared.process.kill()
        shared.process.wait()
    servers = set(in_processes([asked] * 4, 2, lambda _: 0))
    if server != "killed":
        assert servers == {shared.process.pid} and (tmp_path / "count").read_text() == "x"
        assert shared.process.poll() is None, "it is this process's to end"
    else:
        assert 0 not in servers and shared.process.pid not in servers
        assert (tmp_path / "count").read_text() == "x" * (1 + len(servers))


def test_a_server_that_still_imports_ends_at_once() -> None:
    forks.prepare(environment={"SLOW": "1"}, imports=("slow_import",))
    (server,) = forks._servers.values()
    forks.stop_servers()
    assert server.process.returncode == -signal.SIGKILL


def test_a_server_ends_in_order_when_it_is_stopped() -> None:
    """So that it has waited for what it started, and the processor time of that counts."""
    call(children.imported, {"name": "json"})
    servers = list(forks._servers.values())
    forks.stop_servers()
    assert servers and [server.process.returncode for server in servers] == [0] * len(servers)


def test_the_processor_time_of_a_child_counts_as_the_command_s(tmp_path: Path) -> None:
    script = (
        "import resource; from exporter.process import forks; from exporter.process.workers import call\n"
        "from tests import children\n"
        "call(children.burns, {'seconds': 1.0}); forks.stop_servers()\n"
        "print(sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=environment())
    assert float(done.stdout) >= 1.0

"""A process that has imported the command line, and whose fork servers have imported the engines; it forks for each.

It answers one JSON line for each that it is given: `{"arguments": [...], "cwd", "out", "err", "seconds"}`.
What runs in the fork is the entry point of the console script, with those arguments; only the imports are done already.
Its variables stay those of this process: a fork server is another one for other variables, the temporary folder's too.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any

from exporter.pipeline import verify
from exporter.process import forks
from exporter.process.workers import Limits, Setting
from tests.warm import Alive

#: Fork servers that are kept: one for each set of variables that the engines of all sound bundles want.
_KEPT = 12
_TICK = 1 / os.sysconf("SC_CLK_TCK")


def _become(job: dict[str, Any]) -> None:
    """In the fork: run the command line as the console script does."""
    for server in forks._servers.values():
        server.process = Alive()  # type: ignore[assignment]
    os.setsid()
    os.chdir(job["cwd"])
    for name, number in (("out", 1), ("err", 2)):
        os.dup2(os.open(job[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
    sys.argv = ["exporter", *job["arguments"]]
    from exporter.cli import main

    main()


def _servers() -> list[int]:
    return [server.process.pid for server in forks._servers.values()]


def _processor() -> float:
    """Seconds that the servers and the jobs that they took leave of have computed."""
    total = 0.0
    for pid in _servers():
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
        total += sum(int(number) for number in fields[11:15]) * _TICK
    return total


def _peak(pid: int) -> int:
    """The largest resident memory of a process so far, in bytes; 0 where it has ended."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) << 10 for line in lines if line.startswith("VmHWM")), 0)


def _run(job: dict[str, Any]) -> dict[str, Any]:
    before, begin = _processor(), time.monotonic()
    pid = os.fork()
    if pid == 0:
        status = 99
        try:
            _become(job)
        except SystemExit as left:
            status = int(left.code or 0)
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            forks.stop_servers()
            os._exit(status)
    jobs, hung, ended, status, usage = 0, False, 0, 0, None
    while not ended:
        ended, status, usage = os.wait4(pid, os.WNOHANG)
        jobs = max(jobs, *map(_peak_of_jobs, _servers()), 0)
        if time.monotonic() - begin > job["seconds"]:
            hung = True
            os.killpg(pid, signal.SIGKILL)
        time.sleep(0.05)
    _settle()
    assert usage is not None
    return {
        "code": os.waitstatus_to_exitcode(status),
        "hung": hung,
        "processor": usage.ru_utime + usage.ru_stime + _processor() - before,
        "main": usage.ru_maxrss << 10,
        "jobs": jobs,
        "clock": time.monotonic() - begin,
    }


def _peak_of_jobs(server: int) -> int:
    """The largest memory of a server's keepers and jobs."""
    waiting, most = _children(server), 0
    while waiting:
        pid = waiting.pop()
        most = max(most, _peak(pid))
        waiting += _children(pid)
    return most


def _children(pid: int) -> list[int]:
    """The processes that a process has started; to ask psutil is to read of every process of the machine."""
    found: list[int] = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, path.read_text().split())
    return found


def _settle() -> None:
    """A server takes leave of a keeper as soon as it hears of its end; until then its processor time is not counted."""
    for number in _servers():
        for _ in range(100):
            if not _children(number):
                break
            time.sleep(0.02)


def serve() -> None:
    """Run what is asked for, line by line; `heat` names a sound bundle that is verified here, which starts servers."""
    forks.KEPT = _KEPT
    for line in sys.stdin:
        job = json.loads(line)
        if "heat" in job:
            verify(Path(job["heat"]), Setting(Limits(code=None), jobs=2))
            answer: dict[str, Any] = {"servers": len(_servers())}
        else:
            answer = _run(job)
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    serve()

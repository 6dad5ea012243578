"""Children that begin with Paddle imported: forked from this process instead of started anew.

The gate starts about ten children for each network, and importing Paddle takes each of them three seconds. Within
`warm_children` a child is a fork of this process, which has imported everything and computed nothing, and runs the
same entry, `exporter.workers._main`, with the same limits. A child that wants flags which Paddle reads while it is
imported is started in the usual way.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

from exporter import workers

#: Processor seconds of the children that ended, by the function they ran.
spent: Counter[str] = Counter()


class _Fork:
    """What `workers` uses of a `subprocess.Popen`."""

    def __init__(self, pid: int, function: str) -> None:
        self.pid = pid
        self._function = function
        self._status: int | None = None

    def wait(self, timeout: float | None = None) -> int:
        deadline = None if timeout is None else time.monotonic() + timeout
        while self._status is None:
            pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            if pid:
                spent[self._function] += usage.ru_utime + usage.ru_stime  # type: ignore[assignment]
                self._status = os.waitstatus_to_exitcode(status)
            elif deadline is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired("fork", timeout or 0)
            else:
                time.sleep(0.01)
        return self._status

    def send_signal(self, number: int) -> None:
        os.kill(self.pid, number)

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


@contextlib.contextmanager
def warm_children() -> Iterator[None]:
    """Within it, `workers.call` forks this process."""
    cold = workers._start

    def start(function: str, place: Path, log: IO[bytes], environment: Mapping[str, str]) -> workers._Child:
        if any(name.startswith("FLAGS_") for name in environment):
            return cold(function, place, log, environment)
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            _become(function, place, log, {**environment, workers._EVENTS: str(writer)})
        os.close(writer)
        return workers._Child(_Fork(pid, function), os.fdopen(reader, "rb"))  # type: ignore[arg-type]

    workers._start = start
    try:
        yield
    finally:
        workers._start = cold


def _become(function: str, place: Path, log: IO[bytes], environment: Mapping[str, str]) -> None:
    """The child; never returns."""
    try:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        os.environ.update(environment)
        sys.argv = ["exporter.workers", function, str(place)]
        workers._main()
    except BaseException:  # noqa: BLE001 - nothing may run on in the fork what the parent was doing
        traceback.print_exc()
        os._exit(1)
    os._exit(0)

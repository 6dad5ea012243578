"""Children that begin with Paddle imported: forked from this process instead of started anew.

The gate forks its children from a server that has imported Paddle; each of them would import PaddleClas or PaddleNLP.
Within `warm_children` a child is a fork of this process, which has imported everything and computed nothing, and runs
the same entry, `exporter.workers.run_job`, with the same limits. A child that wants flags which Paddle reads while it
is imported is started in the usual way. `spent` counts what each kind of child costs.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import IO

from exporter import workers
from exporter.forks import Job

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

    def start(
        job: Job, log: IO[bytes], environment: Mapping[str, str | None], imports: Sequence[str]
    ) -> workers._Child:
        if any(name.startswith("FLAGS_") and value != os.environ.get(name) for name, value in environment.items()):
            return cold(job, log, environment, imports)
        reader, writer = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(reader)
            _become(job, log, environment, writer)
        os.close(writer)
        return workers._Child(_Fork(pid, job.function), os.fdopen(reader, "rb"))  # type: ignore[arg-type]

    workers._start = start
    try:
        yield
    finally:
        workers._start = cold


def _become(job: Job, log: IO[bytes], environment: Mapping[str, str | None], events: int) -> None:
    """The child; never returns."""
    try:
        os.dup2(log.fileno(), 1)
        os.dup2(log.fileno(), 2)
        for name, value in {**environment, **job.environment}.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        workers.run_job(job.function, job.place, events)
    except BaseException:  # noqa: BLE001 - nothing may run on in the fork what the parent was doing
        traceback.print_exc()
    os._exit(1)

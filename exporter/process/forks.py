"""Children by fork: the main process's side of :mod:`exporter.process.forkserver`, which it starts as they are needed.

A server is kept for each set of environment variables and imports until the main process ends.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import IO

from exporter.base.errors import EnvironmentLacks
from exporter.process.forkserver import Message
from exporter.process.pool import MOST

#: Servers that are kept; the one that was not used for longest goes. Each holds about 150 MB with Paddle imported.
#: More than run at once, so that none that has a job goes.
KEPT = MOST + 1
#: Seconds of the clock in which a server must have imported; then its jobs import for themselves, under their limits.
#: An import takes some three seconds, and over a minute where forty others want the same two processors.
_READY = 600.0
#: Seconds that a server has to end.
_STOP = 10.0
#: The builds of these that run on a GPU: CUDA does not survive a fork, so their jobs import for themselves.
_GPU_BUILDS = ("paddlepaddle-gpu", "onnxruntime-gpu")
_ROOT = str(Path(__file__).parents[2])
#: The server finds the package where this process found it, and nothing else there: a checkout holds other folders. It
#: imports nothing from the folder that it runs in (`-P` does the same, from Python 3.11 on).
_START = (
    "import sys; sys.path = [place for place in sys.path if place[:1] == '/']; import json, socket; "
    "root, handle, imports = sys.argv[1:]; sys.path.insert(0, root); import exporter.process.forkserver; "
    "sys.path.remove(root); exporter.process.forkserver.serve(socket.socket(fileno=int(handle)), json.loads(imports))"
)


@dataclass(frozen=True)
class Launch:
    """What a child is to run: the job of the address `function`, on the request in the folder `place`.

    It runs in the folder `code` and imports from there; without one in the working folder, and imports nothing there.
    """

    function: str
    place: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    code: Path | None = Path()


class Forked:
    """A running job; the part of :class:`subprocess.Popen` that a supervisor needs.

    Once :meth:`wait` has returned, nothing that the job started is alive.
    """

    def __init__(self, status: IO[bytes]) -> None:
        self._status = status
        self._unread = b""
        self._numbers: list[int] = []  # the process number, then the exit code
        self._over = False

    @property
    def pid(self) -> int | None:
        """The process number, as soon as it is known."""
        return self._numbers[0] if self._numbers else None

    def wait(self, timeout: float | None = None) -> int:
        """The exit code, negative for a signal.

        Raises:
            subprocess.TimeoutExpired: it still runs after `timeout` seconds.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while not self._over and len(self._numbers) < 2:
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            if not select.select([self._status], [], [], left)[0]:
                raise subprocess.TimeoutExpired("job", timeout or 0.0)
            self._read()
        return self._numbers[1] if len(self._numbers) > 1 else -signal.SIGKILL

    def send_signal(self, number: int) -> None:
        """Send a signal to the job, where it has begun and not ended."""
        if len(self._numbers) == 1:
            os.kill(self._numbers[0], number)

    def kill(self) -> None:
        """End the job; :meth:`wait` says when it and all that it started are gone."""
        if self._numbers:
            with contextlib.suppress(ProcessLookupError):
                self.send_signal(signal.SIGKILL)
        else:
            self._over = True  # the keeper finds the pipe closed, and kills what it has started
            self._status.close()

    def _read(self) -> None:
        told = os.read(self._status.fileno(), 1 << 10)
        self._over = not told  # the keeper was killed; the job went with it
        *lines, self._unread = (self._unread + told).split(b"\n")
        self._numbers += [int(line) for line in lines]
        if len(self._numbers) > 1:
            self._status.close()


@dataclass
class _Server:
    """A server, which may still import. Threads that want one of it take turns.

    Processes that were forked from the one that started it (`starter`) may ask it too: what they send over the channel
    stays whole, and what it says once it has imported stays in the channel for all of them. It ends when all of them
    have closed the channel.
    """

    process: subprocess.Popen[bytes]
    channel: socket.socket
    starter: int = field(default_factory=os.getpid)
    turn: threading.Lock = field(default_factory=threading.Lock)
    ready: bool = False

    def alive(self) -> bool:
        """Whether it was alive at the last look; only the process that started it can look."""
        return self.starter != os.getpid() or self.process.poll() is None

    def send(self, message: bytes, descriptors: Sequence[int]) -> None:
        """Have it fork a job, once it has imported.

        Raises:
            ConnectionError: it died, or did not start in time.
        """
        with self.turn:
            self.wait()
            socket.send_fds(self.channel, [message], descriptors)

    def wait(self) -> None:
        """Wait until it has imported.

        Raises:
            ConnectionError: it died, or did not start in time.
        """
        if self.ready:
            return
        try:
            told = bool(select.select([self.channel], [], [], _READY)[0])
            self.ready = told and self.channel.recv(16, socket.MSG_PEEK) == b"ready"
        finally:
            if not self.ready and self.starter == os.getpid():
                self.process.kill()
        if not self.ready:
            raise ConnectionResetError("the server did not start")

    def stop(self) -> None:
        """End the server; its jobs end first, since it waits for them."""
        self.channel.close()
        if self.starter != os.getpid():
            return
        if not self.ready:  # it has no job yet
            self.process.kill()
        try:
            self.process.wait(_STOP)
        except subprocess.TimeoutExpired:  # it imports, or one of its jobs cannot be killed
            self.process.kill()
            self.process.wait()


_servers: dict[tuple[tuple[tuple[str, str], ...], tuple[str, ...]], _Server] = {}
_lock = threading.Lock()  # of `_servers`


def fork(
    launch: Launch,
    events: int,
    log: int,
    *,
    environment: Mapping[str, str | None] | None = None,
    imports: Sequence[str] = (),
) -> Forked:
    """Start a job in a fork of the server that has these variables and imports, and return while it runs.

    The child gets copies of the file descriptors `events` and `log`. A server that dies while it imports is replaced
    by one that imports nothing, so that the job dies of the same, and says so.

    Raises:
        EnvironmentLacks: no process can be started.
    """
    variables, wanted = _variables(environment), _imported(imports)
    reader, writer = os.pipe()
    try:
        message: Message = {
            "function": launch.function,
            "place": str(launch.place),
            "folder": str(Path.cwd() / (launch.code or "")),
            "imports_there": launch.code is not None,
            "environment": dict(launch.environment),
        }
        for names in dict.fromkeys((wanted, ())):
            for server in _servers_for(variables, names):
                with contextlib.suppress(ConnectionError):
                    server.send(json.dumps(message).encode(), [events, log, writer])
                    return Forked(os.fdopen(reader, "rb", buffering=0))
    finally:
        os.close(writer)
    os.close(reader)
    raise EnvironmentLacks("a child process cannot be started", hint="look whether memory or processes are used up")


def prepare(*, environment: Mapping[str, str | None] | None = None, imports: Sequence[str] = ()) -> None:
    """Start the server that jobs with these variables and imports will ask, and go on while it imports."""
    _server(_variables(environment), _imported(imports))


def _variables(environment: Mapping[str, str | None] | None) -> dict[str, str]:
    asked = {**os.environ, **(environment or {})}
    return {name: value for name, value in asked.items() if value is not None}


def _imported(imports: Sequence[str]) -> tuple[str, ...]:
    return () if any(map(_installed, _GPU_BUILDS)) else tuple(imports)


def _servers_for(variables: Mapping[str, str], imports: tuple[str, ...]) -> Iterator[_Server]:
    """The server to ask; where that was started by another process and is gone, one of this process."""
    server = _server(variables, imports)
    yield server
    if server.starter != os.getpid():
        yield _server(variables, imports, instead=server)


def _server(variables: Mapping[str, str], imports: tuple[str, ...], instead: _Server | None = None) -> _Server:
    """The server with these variables and imports, started if there is none, or if it is the one that is no good."""
    key = (tuple(sorted(variables.items())), imports)
    with _lock:
        server = _servers.pop(key, None)
        if server is not None and (server is instead or not server.alive()):
            server.stop()
            server = None
        if server is None:
            while len(_servers) >= KEPT:
                _servers.pop(next(iter(_servers))).stop()
            server = _start(variables, imports)
        _servers[key] = server
        return server


def _start(variables: Mapping[str, str], imports: tuple[str, ...]) -> _Server:
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    handle = theirs.fileno()
    process = subprocess.Popen(
        [sys.executable, "-c", _START, _ROOT, str(handle), json.dumps(imports)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=(handle,),
        env=dict(variables),
        cwd="/",  # a file of the user's called numpy.py is the job's business, not the server's
        start_new_session=True,  # Ctrl-C in a terminal is for the main process, which passes it on
    )
    theirs.close()
    return _Server(process, ours)


def _installed(package: str) -> bool:
    try:
        return bool(version(package))
    except PackageNotFoundError:
        return False


@atexit.register
def stop_servers() -> None:
    """End every server; what still runs in a fork of one ends too."""
    while _servers:
        _servers.popitem()[1].stop()

"""The command line in a process that has imported it: a fork for each command, and fork servers that all of them share.

`exporter …` imports for 0.3 s, and each of its fork servers imports Paddle for two more; the tests run some hundreds of
them. So each process of the tests keeps one of these, which forks for a command: what runs in the fork is the console
script's entry point, with the same arguments, variables and working folder, and it ends as a process of its own does. A
fork server that a command would start is started here instead, and stays for the next one: it computes nothing.
"""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import IO

from exporter.process import forks

#: The process has the path that the console script has; the folder of the tests is there until this is imported.
_START = (
    "import sys; sys.path[0] = sys.argv.pop(1); from tests.warm import serve; sys.path.pop(0); "
    "serve(int(sys.argv.pop(1))); from exporter.cli import main; main()"
)
_ROOT = Path(__file__).parents[1]
_LARGEST = forks.KEPT << 17
#: Fork servers that are kept, for as many sets of variables and imports; each takes some 200 MB.
_KEPT = 8
#: Seconds between two looks whether a command has ended.
_LOOK = 0.02


class Warm:
    """Such a process, with these variables; it runs one command at a time."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._turn = threading.Lock()
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START, str(_ROOT), str(theirs.fileno())],
            env=dict(variables),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(),),
        )
        theirs.close()

    def run(self, arguments: list[str], cwd: Path, out: IO[bytes], err: IO[bytes], seconds: float) -> int | None:
        """The exit code of a command; None where another one runs just now.

        Raises:
            TimeoutError: it was ended after so many seconds.
        """
        if not self._turn.acquire(blocking=False):
            return None
        try:
            job = json.dumps({"arguments": arguments, "cwd": os.fspath(cwd.absolute())})
            socket.send_fds(self._channel, [job.encode()], [out.fileno(), err.fileno()])
            pid = int(self._channel.recv(16))
            if not select.select([self._channel], [], [], seconds)[0]:
                os.kill(pid, signal.SIGKILL)
                raise TimeoutError(f"{arguments} took {seconds} s")
            return int(self._channel.recv(16))
        finally:
            self._turn.release()

    def close(self) -> None:
        """End it, and its servers."""
        self._channel.close()
        self._process.wait(60)


class Alive:
    """A server that is another process's child: it can neither be polled nor waited for here, and stays."""

    def poll(self) -> None:
        return None

    def wait(self, timeout: float | None = None) -> int:
        return 0

    def kill(self) -> None: ...


def serve(number: int) -> None:
    """Fork for each command that comes over the socket of that number; returns only in a fork, which is to run it."""
    __import__("exporter.pipeline")
    channel = socket.socket(fileno=number)
    forks.KEPT = _KEPT
    while True:
        message, descriptors, _, _ = socket.recv_fds(channel, _LARGEST, 2)
        if not message:
            sys.exit()  # the servers end with this process
        out, err = descriptors
        asks, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        _forget_the_dead()
        pid = os.fork()
        if pid == 0:
            for place in (channel, asks):
                place.close()
            _become(json.loads(message), out, err, theirs)
            return
        for descriptor in descriptors:
            os.close(descriptor)
        theirs.close()
        channel.send(str(pid).encode())
        channel.send(str(_ended(pid, asks)).encode())
        asks.close()


def _become(job: dict[str, list[str]], out: int, err: int, asks: socket.socket) -> None:
    """In the fork: be a process that is about to run the command line."""
    forks._start = partial(_ask, asks, forks._start)
    os.chdir(str(job["cwd"]))
    for descriptor, number in ((out, 1), (err, 2)):
        os.dup2(descriptor, number)
        os.close(descriptor)
    sys.argv = ["-c", *job["arguments"]]


def _ended(pid: int, asks: socket.socket) -> int:
    """The exit code of a command, whose wishes for servers are fulfilled meanwhile."""
    while True:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        if select.select([asks], [], [], _LOOK)[0]:
            _answer(asks)


def _ask(asks: socket.socket, start: object, variables: Mapping[str, str], imports: tuple[str, ...]) -> forks._Server:
    """In a command: have a server started that stays, in the place of :func:`exporter.process.forks._start`."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    with ours, theirs:
        socket.send_fds(asks, [json.dumps([dict(variables), imports]).encode()], [theirs.fileno()])
        theirs.close()
        _, descriptors, _, _ = socket.recv_fds(ours, 16, 1)
    if not descriptors:
        return start(variables, imports)  # type: ignore[operator, no-any-return]
    return forks._Server(Alive(), socket.socket(fileno=descriptors[0]), ready=True)  # type: ignore[arg-type]


def _answer(asks: socket.socket) -> None:
    """Start a server, or take one, and pass it on; nothing where it does not start."""
    message, descriptors, _, _ = socket.recv_fds(asks, _LARGEST, 1)
    if not message:  # the command has closed its end, and is about to end
        return
    variables, imports = json.loads(message)
    with socket.socket(fileno=descriptors[0]) as reply:
        try:
            server = forks._server(variables, tuple(imports))
            with server.turn:
                server.wait()
        except ConnectionError:
            return
        socket.send_fds(reply, [b"a server"], [server.channel.fileno()])


def _forget_the_dead() -> None:
    for key, server in list(forks._servers.items()):
        if server.process.poll() is not None:
            forks._servers.pop(key).stop()

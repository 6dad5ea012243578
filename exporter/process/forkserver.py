"""The fork server: a process that imports what children need once, and forks for each of them.

Importing Paddle takes one to three seconds, and a release runs about a dozen children. A server is started for each
set of environment variables and imports; it computes nothing, so that a fork of it is as good as a new process. Three
kinds of process take part::

    main ── server (imports, then only forks)
              └── keeper, one for each job (keeps what the job starts from outliving it)
                    └── job (runs a function by `exporter.process.child`; what `workers` calls the child)

The keeper is a subreaper (`prctl`, PR_SET_CHILD_SUBREAPER): what the job started, daemons included, becomes the
keeper's when its parent ends, and is killed when the job ends, or when the main process does.

This module is the side of the server; :mod:`exporter.process.forks` is the side of the main process. It imports only
the standard library: nothing here may start a thread before a fork.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import importlib
import json
import os
import select
import signal
import socket
import sys
import tempfile
from pathlib import Path
from typing import NoReturn, TypedDict

#: Bytes of one job's description: its environment and paths. A datagram of a Unix socket holds some 200 KB.
LARGEST = 1 << 17
#: File descriptors that come with a job, in this order: events (write), log (write), status (write).
DESCRIPTORS = 3
#: Seconds that a job has to save what it can when the main process was killed.
_GRACE = 5.0
_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36  # linux/prctl.h


class Message(TypedDict):
    """What the main process sends of a job: its address, and the folder `place` of its request.

    It runs in `folder`, and may import from there where `imports_there` says so; `environment` is added to that of the
    server.
    """

    function: str
    place: str
    folder: str
    imports_there: bool
    environment: dict[str, str]


def serve(channel: socket.socket, imports: list[str]) -> NoReturn:
    """Import, say so, then fork for each job that comes over the channel; end when the main process closes it.

    A server that has imported numpy, whose threads would have shown by then, also imports the modules of this package
    that hold the functions of its jobs.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the main process, which passes it on
    gc.disable()  # what is imported stays
    for name in (*imports, "exporter.process.job"):
        _import(name)
    sys.modules["exporter.process.job"].prepare()
    signal.signal(signal.SIGCHLD, _reap)  # and so count the processor time of the jobs as this process's children's
    channel.send(b"ready")
    while True:
        try:
            message, descriptors, _, _ = socket.recv_fds(channel, LARGEST, DESCRIPTORS)
        except ConnectionResetError:  # it is closed with our `ready` unread: the main process only looks at that
            message, descriptors = b"", []
        if not message:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            _reap_all()
            os._exit(0)
        job: Message = json.loads(message)
        module = job["function"].partition(":")[0]
        if "numpy" in sys.modules and module.startswith("exporter."):
            _import(module)
            sys.modules["exporter.process.job"].prepare(job["function"])
        gc.freeze()  # and a collection in a fork would copy it
        if os.fork() == 0:
            gc.enable()
            channel.close()
            _keep(job, descriptors)
        for descriptor in descriptors:
            os.close(descriptor)


def _import(name: str) -> None:
    """Import a module for all jobs to come.

    A server in which an import started threads leaves instead: a fork has none of them, but all of their locks.
    """
    with contextlib.suppress(ImportError):  # the job that needs it says so, in its own words
        importlib.import_module(name)
    if len(list(Path("/proc/self/task").iterdir())) > 1:
        os._exit(1)


def _reap(_signal: int, _frame: object) -> None:
    """Take leave of every keeper that has ended."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def _reap_all() -> None:
    """Wait until this process has no child left."""
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def _keep(job: Message, descriptors: list[int]) -> NoReturn:
    """Fork the job, report its process number and how it ended, and kill what it left."""
    alarm, wakeup = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # the handler of the server would reap the job
    signal.set_wakeup_fd(wakeup)
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    events, log, status = descriptors
    pid = os.fork()
    if pid == 0:
        for descriptor in (status, alarm, wakeup):
            os.close(descriptor)
        _become(job, events, log)
    os.close(events)
    os.close(log)
    ended = _wait(pid, alarm, status) if _tell(status, pid) else None
    if ended is None:
        os.kill(pid, signal.SIGTERM)  # the main process went first; training saves what it has
        ended = _wait(pid, alarm, None, seconds=_GRACE)
    _kill_all()
    _tell(status, -signal.SIGKILL if ended is None else ended)
    os._exit(0)


def _tell(status: int, number: int) -> bool:
    """Write one number to the main process; False where that is gone."""
    try:
        os.write(status, f"{number}\n".encode())
    except OSError:
        return False
    return True


def _wait(pid: int, alarm: int, status: int | None, seconds: float | None = None) -> int | None:
    """The exit code of the job, negative for a signal; None where the main process goes first, or time is up."""
    watched = select.poll()
    watched.register(alarm, select.POLLIN)
    if status is not None:
        watched.register(status, 0)  # POLLERR: nobody reads the status any more
    while True:
        ended, code = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(code)
        ready = [descriptor for descriptor, _ in watched.poll(None if seconds is None else seconds * 1000)]
        if alarm not in ready:
            return None
        os.read(alarm, 1 << 10)


def _kill_all() -> None:
    """Kill every descendant; orphans among them become the keeper's, so this ends when it has no child left."""
    while True:
        for pid in _children():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        try:
            os.waitpid(-1, 0)
        except ChildProcessError:
            return


def _children() -> list[int]:
    """The process numbers of this process's own children."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            if int(fields[1]) == os.getpid():
                found.append(int(folder.name))
    return found


def _become(job: Message, events: int, log: int) -> NoReturn:
    """Turn this fork into the child that `exporter.process.workers` describes; never returns."""
    _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.setpgid(0, 0)
    for descriptor in (1, 2):
        os.dup2(log, descriptor)
    os.close(log)
    os.chdir(job["folder"])
    _import_from(job["folder"], trusted=job["imports_there"])
    os.environ.update(job["environment"])
    os.set_inheritable(events, False)
    tempfile.tempdir = None  # an import may have asked for it, under another TMPDIR

    from exporter.process.child import run_job

    run_job(job["function"], Path(job["place"]), events)


def _import_from(folder: str, *, trusted: bool) -> None:
    """Let this process import from a folder, before all others; or not at all, even where PYTHONPATH names it."""
    if trusted:
        sys.path.insert(0, folder)
    else:
        sys.path[:] = [place for place in sys.path if os.path.realpath(place) != os.path.realpath(folder)]


def die_with_parent(number: int, parent: int) -> None:
    """Let this process be sent a signal when its parent, of that process number, ends; now, if it has."""
    _prctl(_PR_SET_PDEATHSIG, number)
    if os.getppid() != parent:
        os.kill(os.getpid(), number)


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None).prctl(option, value)

"""Several specs at once, a process for each: what a release sees and remembers must not mix with another's."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, TypeVar

from exporter.base.errors import ExitCode
from exporter.process.forkserver import die_with_parent
from exporter.process.pool import take_a_share

T = TypeVar("T")

#: What the forked processes find: a task that is a closure can be inherited, and not be sent.
_TASKS: list[Callable[[], Any]] = []
#: In such a process, the task that it runs.
_BUSY: list[int] = []


def in_processes(tasks: Sequence[Callable[[], T]], at_once: int, lost: Callable[[int], T]) -> Generator[T, None, None]:
    """Run tasks, so many at once; yield what they give, in their order. It comes back as pickle of our own making.

    When a process is killed, what is not done yet is done again, one after the other; `lost` stands for what a task
    gives whose process is killed then too. Ctrl-C, or an error here, interrupts them all.
    """
    if min(at_once, len(tasks)) <= 1:
        yield from (task() for task in tasks)
        return
    _TASKS[:] = tasks
    try:
        done = 0
        try:
            for found in _answers(range(len(tasks)), at_once):
                yield found
                done += 1
        except BrokenProcessPool:
            for number in range(done, len(tasks)):
                try:
                    yield from _answers([number], 1)
                except BrokenProcessPool:
                    yield lost(number)
    finally:
        _TASKS.clear()


def _answers(numbers: Sequence[int], at_once: int) -> Generator[Any, None, None]:
    pool = ProcessPoolExecutor(min(at_once, len(numbers)), get_context("fork"), _begin, (os.getpid(), at_once))
    whole = False
    try:
        futures: list[Future[Any]] = [pool.submit(_run, number) for number in numbers]
        yield from (future.result() for future in futures)
        whole = True
    finally:
        for process in [] if whole else list((pool._processes or {}).values()):
            if process.pid is not None:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(process.pid, signal.SIGINT)
        pool.shutdown(cancel_futures=True)


def _run(number: int) -> Any:
    """In a process: run one of the tasks that it was forked with. Where that is interrupted, the process is over."""
    _BUSY.append(number)
    try:
        return _TASKS[number]()
    except KeyboardInterrupt:
        os._exit(ExitCode.INTERRUPTED)
    finally:
        _BUSY.clear()


def _begin(parent: int, at_once: int) -> None:
    """In a process: an interrupt ends it and its children in order, and so does the end of its parent."""
    take_a_share(at_once)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupted)
    die_with_parent(signal.SIGTERM, parent)


def _interrupted(number: int, frame: object) -> None:
    if not _BUSY:
        os._exit(ExitCode.INTERRUPTED)
    interrupt_once(number, frame)


def interrupt_once(_signal: int, _frame: object) -> None:
    """Take a signal as an interrupt, and none after it: whoever waits may send more to a process that tidies up.

    A pool does, whose first process has ended, and so does the end of a parent.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt

"""Several children at once: a thread waits for each, and what they give stays in the order asked for."""

from __future__ import annotations

import threading
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")

#: More are not run at once: each may need a fork server of its own, and `process.forks` keeps one more than these.
MOST = 4


@dataclass(frozen=True)
class Share:
    """What a task has of the machine: one part of `of`. When `stop` is set its children are interrupted."""

    of: int = 1
    stop: threading.Event = field(default_factory=threading.Event)


_share: ContextVar[Share] = ContextVar("share")
_alone = Share()


def share() -> Share:
    """The share of the task that this thread runs."""
    return _share.get(_alone)


def take_a_share(of: int) -> None:
    """This process and its children have one part of `of` from here on."""
    _share.set(Share(of))


def in_order(tasks: Sequence[Callable[[], T]], at_once: int) -> Generator[T, None, None]:
    """Run tasks, so many at once; yield what they give, in their order, while those behind still run.

    Of several that raise, the first in that order is heard, as if they had run one after the other; those behind it
    are stopped, and so are all of them by Ctrl-C, or when the iterator is closed.
    """
    if min(at_once, len(tasks)) <= 1:
        yield from (task() for task in tasks)
        return
    threads = min(at_once, len(tasks), MOST)
    common = Share(share().of * threads)

    def run(task: Callable[[], T]) -> T:
        _share.set(common)
        return task()

    with ThreadPoolExecutor(threads) as pool:
        futures = [pool.submit(run, task) for task in tasks]
        try:
            yield from (future.result() for future in futures)
        finally:
            common.stop.set()
            for future in futures:
                future.cancel()


def together(tasks: Sequence[Callable[[], T]]) -> list[T | BaseException]:
    """Run tasks that need each other, all at once; what each gave or raised.

    When one raises, the others are interrupted; by Ctrl-C all are.
    """
    common = Share(share().of * len(tasks))

    def run(task: Callable[[], T]) -> T | BaseException:
        _share.set(common)
        try:
            return task()
        except BaseException as error:  # noqa: BLE001 - who asked looks at what each raised
            common.stop.set()
            return error

    with ThreadPoolExecutor(len(tasks)) as pool:
        futures = [pool.submit(run, task) for task in tasks]
        try:
            return [future.result() for future in futures]
        finally:
            common.stop.set()

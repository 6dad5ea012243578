"""Passes over a `paddle.io.DataLoader`: each begins at the beginning, and its processes end with it."""

from __future__ import annotations

import copy
from typing import TypeVar

T = TypeVar("T")
#: Seconds that a process has to end when it is asked to.
_SECONDS = 1.0


def with_own_workers(loader: T) -> T:
    """The loader with workers for each pass; anything else is given back as it is.

    Where it keeps them (`persistent_workers`), a pass behind one that was broken off misses batches (3.3.1, measured).
    """
    from paddle.io import DataLoader

    if not isinstance(loader, DataLoader):
        return loader
    loader = copy.copy(loader)
    loader._persistent_workers = False
    return loader


def end_workers(iterator: object) -> None:
    """End the processes of an iterator that nobody will ask again; anything that has none is left as it is.

    They do not end when it is let go, since a thread of its own holds it; and they wait for orders without a limit, so
    that they outlive this process, too, where it is killed (3.3.1, measured).
    """
    from exporter.paddle.private import LoaderIterator

    if isinstance(iterator, LoaderIterator):
        workers = list(iterator._workers)
        iterator._try_shutdown_all(_SECONDS)
        for worker in workers:
            if worker.is_alive():
                worker.kill()
                worker.join()

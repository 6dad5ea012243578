"""Who remembers what children answered, and so may answer in their place: `workers.call` asks here."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from exporter.base.watch import Seen


@dataclass(frozen=True)
class Question:
    """What a child is asked: the job, its request, the variables that it is given, the folder that it runs in.

    `reuse` is the job's (:class:`exporter.process.job.Job`): empty where no answer of it may be used again.

    What the request holds under `beside` changes no answer that is whole, that is, whose `whole` is not false.
    """

    function: str
    request: Mapping[str, Any]
    environment: Mapping[str, str | None]
    code: Path | None
    reuse: str = ""


class Memo(Protocol):
    """Something that remembers answers."""

    def answer(self, question: Question, run: Callable[[], tuple[dict[str, Any], Seen]]) -> dict[str, Any]:
        """The answer, remembered or by `run`, which runs the child and tells as well what it saw."""


_ACTIVE: list[Memo] = []


@contextlib.contextmanager
def remembering(memo: Memo | None) -> Iterator[None]:
    """Let `memo` be asked for every child inside the block, in all threads."""
    if memo is None:
        yield
        return
    _ACTIVE.append(memo)
    try:
        yield
    finally:
        _ACTIVE.remove(memo)


def in_force() -> Memo | None:
    """The one to ask, if any."""
    return _ACTIVE[-1] if _ACTIVE else None

"""The one way this room says no: the API, the user's line, and the nearest thing that works."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from exporter.base.errors import ModelError
from exporter.paddle.user_line import frame_line


class CannotLower(ModelError):
    """A call in the model has no equivalent in the legacy program."""


def cannot_lower(api: str, why: str, hint: str) -> CannotLower:
    """The refusal of a call of `api`, placed at the line of the user's code that made it."""
    return CannotLower(f"{api}: {why}", where=frame_line(sys._getframe(1)), hint=hint)


@contextmanager
def in_full(refusals: Sequence[CannotLower]) -> Iterator[None]:
    """Raise the one of `refusals`, which the block was told of, that dy2static raises a copy of.

    The copy is of its type, and has its text only: no place and no hint (jit/dy2static/error.py, ErrorData, 3.0-3.3).
    """
    try:
        yield
    except CannotLower as error:
        if error.hint or not refusals:
            raise
        text = str(error)
        raise next((refusal for refusal in reversed(refusals) if refusal.what in text), refusals[-1]) from None

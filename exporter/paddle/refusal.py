"""The one way this room says no: the API, the user's line, and the nearest thing that works."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from exporter.errors import ModelError

_OURS = str(Path(__file__).parents[1])


class CannotLower(ModelError):
    """A call in the model has no equivalent in the legacy program."""


def cannot_lower(api: str, why: str, hint: str) -> CannotLower:
    """The refusal of a call of `api`, placed at the line of the user's code that made it."""
    return CannotLower(f"{api}: {why}", where=user_line(sys._getframe(1)), hint=hint)


@contextmanager
def in_full(refusals: Sequence[CannotLower]) -> Iterator[None]:
    """Raise the last of `refusals`, which the block was told of, where dy2static raises a copy of it.

    The copy is of its type, and has its text only: no place and no hint (jit/dy2static/error.py, ErrorData, 3.0-3.3).
    """
    try:
        yield
    except CannotLower as error:
        if error.hint or not refusals:
            raise
        raise refusals[-1] from None


def user_line(frame: FrameType | None) -> str:
    """`file:line` of the innermost frame that is neither Paddle's nor ours; "" if there is none.

    dy2static runs a rewritten copy of the user's function from a temporary file. It keeps a map from lines of the copy
    to lines of the source (paddle/jit/dy2static/origin_info.py, Paddle 3.3.1).
    """
    import paddle
    from paddle.jit.dy2static.origin_info import global_origin_info_map

    paddle_home = str(Path(paddle.__file__).parent)
    while frame is not None:
        file, line = frame.f_code.co_filename, frame.f_lineno
        source = global_origin_info_map.get((file, line))
        if source is not None:
            file, line = source.location.filepath, source.location.lineno
        if not file.startswith((paddle_home, _OURS, "<")):
            return f"{file}:{line}"
        frame = frame.f_back
    return ""

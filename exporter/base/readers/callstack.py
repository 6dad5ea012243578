"""The line of the model's code that a program recorded for an operator, where its writer kept it.

Paddle puts the stack into the attribute `op_callstack`, text of `traceback`, innermost last. On 3.3.1 `jit.save` leaves
it out of `.json` always and out of `.pdmodel` unless it is called with `clip_extra=False`. The code need not be here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

#: The attribute of an operator that holds the stack.
ATTRIBUTE = "op_callstack"
_FRAME = re.compile(r'File "([^"]+)", line (\d+)')
#: Code that calls operators on behalf of the model's: Paddle's own, numpy's, and what has no file.
_MACHINERY = re.compile(r"[/\\]site-packages[/\\](?:paddle|numpy|decorator)\b|^<")


def line_of(frames: Sequence[str]) -> str:
    """Return `path:line` of the innermost frame that is not Paddle's; "" where there is none."""
    places = _FRAME.findall("\n".join(frames))
    return next((f"{path}:{line}" for path, line in reversed(places) if not _MACHINERY.search(path)), "")

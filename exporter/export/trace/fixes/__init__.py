"""What Paddle breaks in a program that it traces, and the cures: one file an API, found by its place.

What no API is at fault for in `.pdmodel` (operators that have no legacy form, dtypes, old runtimes) stands in
`exporter.export.lower.pdmodel`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from exporter.base.registry import Registry
from exporter.export.trace.fixes.base import Fix
from exporter.paddle.patches import Patches
from exporter.paddle.refusal import CannotLower, in_full

FIXES: Registry[Fix] = Registry("exporter.export.trace.fixes", "fix")
_IN_FORCE: ContextVar[bool] = ContextVar("in_force", default=False)


@contextmanager
def fixes_in_force(format: str, without: Collection[str] = ()) -> Iterator[None]:
    """Within it, trace layers for `pir` or `pdmodel`; everything is put back when it ends.

    Within another one it does nothing: that one's fixes stay in force. `without` names fixes to leave out.

    Raises:
        CannotLower: a call of the layer is one that no program can say, with the user's line.
    """
    if _IN_FORCE.get():
        yield
        return
    patches, token = Patches(), _IN_FORCE.set(True)
    refusals: list[CannotLower] = []
    try:
        for name, fix in FIXES.all():
            if format in fix.formats and name not in without:
                fix.install(patches, refusals.append)
        with in_full(refusals):
            yield
    finally:
        patches.undo()
        _IN_FORCE.reset(token)

"""What Paddle breaks while it traces, in every format: one file a part of Paddle.

What only a legacy program breaks is mended in `exporter.lower.pdmodel.mends`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from exporter.paddle.patches import Patches
from exporter.paddle.refusal import CannotLower, in_full
from exporter.trace.mends import appended, builtins, fold, grids, recurrent, signbit, sizes, unpool


@contextmanager
def mended() -> Iterator[None]:
    """Within it, trace one layer; everything is put back when it ends.

    Raises:
        CannotLower: a mended function met what no program can say, with the user's line.
    """
    patches = Patches()
    refusals: list[CannotLower] = []
    try:
        for part in (fold, grids, recurrent, signbit, sizes, unpool):
            part.install(patches, refusals.append)
        appended.install(patches)
        builtins.install(patches)
        with in_full(refusals):
            yield
    finally:
        patches.undo()

"""Which kind of program this process's Paddle works on: PIR, as by itself, or the legacy ProgramDesc."""

from __future__ import annotations

from contextlib import AbstractContextManager


def legacy_programs() -> AbstractContextManager[None]:
    """Have Paddle work on legacy programs inside, as with FLAGS_enable_pir_api=0 at its import (`pir_utils`, 3.0-3.3).

    A flag would need a process that imports Paddle for it alone; this is what Paddle's own tests switch with.
    """
    from paddle.pir_utils import DygraphOldIrGuard

    guard: AbstractContextManager[None] = DygraphOldIrGuard()
    return guard


def pir_programs() -> AbstractContextManager[None]:
    """Have Paddle work on PIR's programs inside, within :func:`legacy_programs` too."""
    from paddle.pir_utils import DygraphPirGuard

    guard: AbstractContextManager[None] = DygraphPirGuard()
    return guard

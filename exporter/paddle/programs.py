"""Programs in this process's Paddle: which kind it works on, and running one."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from exporter.tensors import Array


def legacy_programs() -> AbstractContextManager[None]:
    """Have Paddle work on legacy programs inside, as with FLAGS_enable_pir_api=0 at its import (`pir_utils`, 3.0-3.3).

    A flag would need a process that imports Paddle for it alone; this is what Paddle's own tests switch with.
    """
    from exporter.paddle.private import DygraphOldIrGuard

    guard: AbstractContextManager[None] = DygraphOldIrGuard()
    return guard


def pir_programs() -> AbstractContextManager[None]:
    """Have Paddle work on PIR's programs inside, within :func:`legacy_programs` too."""
    from exporter.paddle.private import DygraphPirGuard

    guard: AbstractContextManager[None] = DygraphPirGuard()
    return guard


def run_program(path: Path) -> list[Array]:
    """What the `fetch` operators of a PIR program give on the CPU; it has no inputs and no parameters."""
    import paddle

    from exporter.paddle.private import core

    paddle.enable_static()
    try:
        program = paddle.static.Program()
        core.deserialize_pir_program(str(path), program)
        with paddle.static.scope_guard(paddle.static.Scope()):
            return list(paddle.static.Executor(paddle.CPUPlace()).run(program, fetch_list=[]))
    finally:
        paddle.disable_static()

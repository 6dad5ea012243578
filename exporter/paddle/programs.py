"""Programs in this process's Paddle: which kind it works on, adding an operator to one, and running one."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from exporter.base.tensors import Array


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


def append(operator: str, inputs: dict[str, Any], attributes: dict[str, Any], dtype: Any, output: str = "Out") -> Any:
    """Append an operator with one output of `dtype` to the block in work; the Variable it writes."""
    from exporter.paddle.private import LayerHelper

    helper = LayerHelper(operator)
    result = helper.create_variable_for_type_inference(dtype=dtype)
    helper.append_op(type=operator, inputs=inputs, outputs={output: [result]}, attrs=attributes)
    if result.dtype != dtype:
        # Type inference of some operators copies the input's dtype, whatever the kernel returns (reduce_all, isclose).
        result.desc.set_dtype(dtype)
    return result


def run_program(path: Path) -> list[Array] | None:
    """What a PIR program without inputs and parameters fetches on the CPU; None if it draws.

    It draws if Paddle's generator has moved since, or if it gives other values the second time. Measured on 3.3.1 of 17
    operators that draw: each moves the generator but `class_center_sample`, which is seeded by the clock.
    """
    import paddle

    from exporter.paddle.private import core

    generator = core.default_cpu_generator()
    kept = generator.get_state()
    paddle.enable_static()
    try:
        program = paddle.static.Program()
        core.deserialize_pir_program(str(path), program)
        unmoved = generator.manual_seed(0).random()
        generator.manual_seed(0)
        first, second = (_fetched(program) for _ in range(2))
        drew = generator.random() != unmoved
    finally:
        paddle.disable_static()
        generator.set_state(kept)
    return None if drew or any(map(_differ, first, second)) else first


def _fetched(program: Any) -> list[Array]:
    import paddle

    with paddle.static.scope_guard(paddle.static.Scope()):
        return list(paddle.static.Executor(paddle.CPUPlace()).run(program, fetch_list=[]))


def _differ(left: Array, right: Array) -> bool:
    return left.tobytes() != right.tobytes()

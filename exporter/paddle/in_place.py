"""What an operator in place gave is what its operand means from then on.

`y.tanh_()` writes an operator whose result nobody reads: the user's `y` still names the value before it. Most of these
functions call their other self while tracing, with a warning; some write an operator in place, which Paddle drops when
it saves. Either way the file computes without it (utils/inplace_utils.py and `jit.save`, 3.0 to 3.3).
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from exporter.paddle.patches import Patches

#: They end like operators in place; their first operand keeps its meaning.
_OTHERS = ("batch_norm_", "array_write_", "assign_out_", "share_data_")
#: (written, result) of the functions that did not write in place, in the trace that is going on.
_WRITES: ContextVar[list[tuple[Any, Any]] | None] = ContextVar("writes", default=None)


@contextmanager
def remembering_writes() -> Iterator[None]:
    """Within it, trace to PIR and call :func:`follow_in_place`.

    All functions that end in `_` call their other self through one line, `eval("module.name")(*args)`.
    """
    from paddle.utils import inplace_utils

    patches, token = Patches(), _WRITES.set([])
    try:
        patches.attribute(inplace_utils, "eval", _resolve)
        yield
    finally:
        patches.undo()
        _WRITES.reset(token)


def remember(written: Any, result: Any) -> None:
    """Say that `result` is what `written` means from now on, where an operator in place was written otherwise."""
    writes = _WRITES.get()
    if writes is not None:
        writes.append((written, result))


def _resolve(name: str) -> Any:
    import paddle

    function = builtins.eval(name, {"paddle": paddle})  # noqa: S307 - Paddle's own text, the name of its function

    def write(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        written = args[0] if args else next(iter(kwargs.values()))
        if isinstance(written, paddle.pir.Value) and isinstance(result, paddle.pir.Value):
            remember(written, result)
        return result

    return write


def follow_in_place(static: Any) -> None:
    """Let every later use, and every output, of a traced PIR program be the changed value.

    A change within a branch or a loop is not seen outside it; `exporter check` names such lines.
    """
    import paddle

    program = static.forward.concrete_program
    now: dict[int, Any] = {}
    written = {result.id: value.id for value, result in _WRITES.get() or () if not value.is_same(result)}
    _follow(program.main_program.global_block(), now, written)
    if now:
        program.outputs = paddle.utils.map_structure(lambda one: _latest(one, now), program.outputs)


def _follow(block: Any, now: dict[int, Any], written: dict[int, int]) -> None:
    for operator in block.ops:
        for operand in operator.operands():
            latest = _latest(operand.source(), now)
            if latest is not operand.source():
                operand.set_source(latest)
        for inner in operator.blocks():
            _follow(inner, dict(now), written)
        name = operator.name().removeprefix("pd_op.")
        if name.endswith("_") and name not in _OTHERS and operator.name().startswith("pd_op."):
            now[operator.operands()[0].source().id] = operator.results()[0]
        for result in operator.results():
            if result.initialized() and result.id in written:
                now[written[result.id]] = result


def _latest(value: Any, now: dict[int, Any]) -> Any:
    import paddle

    while now and isinstance(value, paddle.pir.Value) and value.initialized() and value.id in now:
        value = now[value.id]
    return value

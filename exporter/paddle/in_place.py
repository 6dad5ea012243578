"""What an operator in place gave is what its operand means from then on.

`y.tanh_()` writes an operator whose result nobody reads: the user's `y` still names the value before it. Most of these
functions call their other self while tracing, with a warning; some write an operator in place, which Paddle drops when
it saves. Either way the file computes without it (utils/inplace_utils.py and `jit.save`, 3.0 to 3.3).

In a legacy program later reads get the new value by Paddle's own map (:func:`now_means`); a PIR program is changed
after it was traced (:func:`follow_in_place`).
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterator
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
    """Within it, trace to PIR and call :func:`follow_in_place`."""
    from exporter.paddle.private import Value

    def note(written: Any, result: Any) -> None:
        if isinstance(written, Value) and isinstance(result, Value):
            remember(written, result)

    patches, token = Patches(), _WRITES.set([])
    try:
        tell_of_writes(patches, note)
        yield
    finally:
        patches.undo()
        _WRITES.reset(token)


def remember(written: Any, result: Any) -> None:
    """Say that `result` is what `written` means from now on, where an operator in place was written otherwise."""
    writes = _WRITES.get()
    if writes is not None:
        writes.append((written, result))


def now_means(written: Any, result: Any) -> None:
    """Later reads of `written`, of a legacy program, in the user's code get `result`, as by Paddle's own setitem."""
    from exporter.paddle.private import ProgramTranslator

    program = written.block.program
    ProgramTranslator.get_instance()._inplace_map.add(program, written.desc.id(), result)


def tell_of_writes(patches: Patches, note: Callable[[Any, Any], None]) -> None:
    """Let functions that should write in place tell `note` what they should have written, and what they gave.

    All of them call their other self through one line, `eval("module.name")(*args)` (utils/inplace_utils.py, 2.6-3.3).
    """
    from exporter.paddle.private import inplace_utils

    patches.attribute(inplace_utils, "eval", functools.partial(_resolve, note))


def _resolve(note: Callable[[Any, Any], None], name: str) -> Any:
    import paddle

    function = builtins.eval(name, {"paddle": paddle})  # noqa: S307 - Paddle's own text, the name of its function

    def write(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        written = args[0] if args else next(iter(kwargs.values()))
        note(written, result)
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
    from exporter.paddle.private import Value

    while now and isinstance(value, Value) and value.initialized() and value.id in now:
        value = now[value.id]
    return value

"""What an operator in place gave is what its operand means from then on.

`y.tanh_()` writes an operator whose result nobody reads: the user's `y` still names the value before it. Most of these
functions call their other self while tracing, with a warning; some write an operator in place, which Paddle drops when
it saves. Either way the file computes without it (utils/inplace_utils.py and `jit.save`, 3.0 to 3.3).

In a legacy program later reads get the new value by Paddle's own map (:func:`now_means`); a PIR program is changed
after it was traced (:func:`follow_in_place`). What a branch or a loop writes of a tensor from outside is one
more result of it (:func:`with_writes`).
"""

from __future__ import annotations

import builtins
import functools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from exporter.paddle.patches import Patches
from exporter.paddle.static_function import give

#: What an assignment to items writes with, by the name in `_C_ops`. A predictor computes a constant once, and the
#: second run finds in it what the first wrote (`b = paddle.zeros([4]); b[at] = values`, 3.3.1).
_ITEMS = ("set_value_", "set_value_with_tensor_")
#: They end like operators in place; their first operand keeps its meaning.
_OTHERS = ("batch_norm_", "array_write_", "assign_out_", "share_data_")
#: (written, result) of the functions that did not write in place, in the trace that is going on.
_WRITES: ContextVar[list[tuple[Any, Any]] | None] = ContextVar("writes", default=None)


@contextmanager
def remembering_writes() -> Iterator[None]:
    """Within it, trace to PIR: :func:`follow_in_place` then knows of what did not write in place."""
    from exporter.paddle.private import Value, c_ops

    def note(written: Any, result: Any) -> None:
        if isinstance(written, Value) and isinstance(result, Value):
            remember(written, result)

    patches, token = Patches(), _WRITES.set([])
    try:
        tell_of_writes(patches, note)
        for name in _ITEMS:
            stock = getattr(c_ops, name), getattr(c_ops, name.removesuffix("_"))
            patches.attribute(c_ops, name, functools.partial(_written_apart, *stock))
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


def _written_apart(in_place: Callable[..., Any], apart: Callable[..., Any], written: Any, *args: Any) -> Any:
    """What an assignment to items gives: of a value of PIR another value, and the first keeps what it was."""
    from exporter.paddle.private import Value

    if not isinstance(written, Value):
        return in_place(written, *args)
    result = apart(written, *args)
    remember(written, result)
    return result


def follow_in_place(static: Any) -> None:
    """Let every later use, and every output, of a traced PIR program be the changed value."""
    import paddle

    program = static.forward.concrete_program
    now: dict[int, Any] = {}
    _follow(program.main_program.global_block().ops, now, _written())
    if now:
        give(static, paddle.utils.map_structure(lambda value: latest(value, now), program.outputs))
    paddle.enable_static()
    try:
        with paddle.static.program_guard(program.main_program):
            _keep_what_is_read_behind(program.main_program.global_block(), paddle.utils.flatten(program.outputs))
    finally:
        paddle.disable_static()


def _keep_what_is_read_behind(block: Any, read: Sequence[Any]) -> None:
    """Let a loop start from a copy of what is read behind it, too: it takes the memory of what it starts from (3.3.1).

    Not from copies of all: with them the default predictor (oneDNN) ends in std::exception.
    """
    import paddle

    from exporter.paddle.private import Value

    behind = {value.id for value in read if isinstance(value, Value) and value.initialized()}
    for operator in reversed(block.ops):
        for inner in operator.blocks():
            _keep_what_is_read_behind(inner, ())
        if operator.name() == "pd_op.while":
            for operand in operator.operands()[1:]:
                if operand.source().initialized() and operand.source().id in behind:
                    paddle.pir.set_insertion_point(operator)
                    operand.set_source(paddle.assign(operand.source()))
        behind |= _read(operator)


def _read(operator: Any) -> set[int]:
    """The values that an operator reads, or one of its blocks."""
    inner = (_read(inner) for block in operator.blocks() for inner in block.ops)
    sources = (operand.source() for operand in operator.operands())  # an optional one may not be there
    return {source.id for source in sources if source.initialized()}.union(*inner)


def followed(make: Callable[[], Any], now: dict[int, Any]) -> Any:
    """What `make` gives in PIR; its operators read, and its values are, what each value means by then.

    `now` holds meanings by the number of a value, before and afterwards.
    """
    import paddle

    block = paddle.pir.get_current_insertion_point().block()
    before = len(block.ops)
    made = make()
    _follow(block.ops[before:], now, _written())
    return paddle.utils.map_structure(lambda value: latest(value, now), made) if now else made


def with_writes(write: Callable[[Sequence[Any]], tuple[Any, Sequence[Any]] | None]) -> Any:
    """What a branch or a loop of PIR gives, whose blocks may write values from outside.

    `write(values)` appends the operator to the current block, and gives what it gives and what each of the `values`
    means behind it. It is called again, and what it appended is removed, until `values` has all that the blocks write:
    only a trace of them finds it. So it is where it gives None, as it wants to be.
    """
    import paddle

    log = _WRITES.get()
    values: list[Any] = []
    while True:
        before = len(log or ())
        written = write(values)
        block = paddle.pir.get_current_insertion_point().block()
        operator = next(operator for operator in reversed(block.ops) if operator.blocks())
        known = {value.id for value in values}
        missed = [value for value in _written_outside(operator) if value.id not in known]
        if written is not None and not missed:
            given, meanings = written
            for value, meaning in zip(values, meanings, strict=True):
                remember(value, meaning)
            return given
        block.remove_op(operator)
        del (log or [])[before:]
        values += missed


def _written_outside(operator: Any) -> list[Any]:
    """The values that the blocks of an operator write and do not make, each once."""
    made, outside, written = set[int](), dict[int, Any](), _written()
    blocks = list(operator.blocks())
    while blocks:
        block = blocks.pop()
        made |= {argument.id for argument in block.args()}
        for inner in block.ops:
            blocks += inner.blocks()
            results = [result.id for result in inner.results() if result.initialized()]
            made |= set(results)
            targets = [written[result] for result in results if result in written]
            targets += [inner.operands()[0].source()] if _writes_in_place(inner) else []
            outside |= {target.id: target for target in targets}
    return [value for number, value in outside.items() if number not in made]


def _written() -> dict[int, Any]:
    """By the number of what a function gave that did not write in place: what it should have written."""
    return {result.id: value for value, result in _WRITES.get() or () if not value.is_same(result)}


def _writes_in_place(operator: Any) -> bool:
    name = operator.name()
    return name.startswith("pd_op.") and name.endswith("_") and name.removeprefix("pd_op.") not in _OTHERS


def _follow(operators: Sequence[Any], now: dict[int, Any], written: dict[int, Any]) -> None:
    for operator in operators:
        for operand in operator.operands():
            source = operand.source()
            meaning = latest(source, now)
            if meaning is not source:
                operand.set_source(meaning)
        for inner in operator.blocks():
            _follow(inner.ops, dict(now), written)
        if _writes_in_place(operator):
            now[operator.operands()[0].source().id] = operator.results()[0]
        for result in operator.results():
            if result.initialized() and result.id in written:
                now[written[result.id].id] = result


def latest(value: Any, now: dict[int, Any]) -> Any:
    """What a value of PIR means by now."""
    from exporter.paddle.private import Value

    while now and isinstance(value, Value) and value.initialized() and value.id in now:
        value = now[value.id]
    return value

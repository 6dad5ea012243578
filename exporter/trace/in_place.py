"""What an operator in place gave is what its operand means from then on.

`y.tanh_()` writes an operator whose result nobody reads: the user's `y` still names the value before it. Paddle drops
what nobody reads when it saves, and the file computes without it, without a word (`jit.save`, 3.0 to 3.3).
"""

from __future__ import annotations

from typing import Any

#: They end like operators in place; their first operand keeps its meaning.
_OTHERS = ("batch_norm_", "array_write_", "assign_out_", "share_data_", "print")


def follow_in_place(static: Any) -> None:
    """Let every later use, and every output, of a traced PIR program be the changed value.

    A change within a branch or a loop is not seen outside it; `exporter check` names such lines.
    """
    import paddle

    program = static.forward.concrete_program
    now: dict[int, Any] = {}
    _follow(program.main_program.global_block(), now)
    if now:
        program.outputs = paddle.utils.map_structure(lambda one: _latest(one, now), program.outputs)


def _follow(block: Any, now: dict[int, Any]) -> None:
    for operator in block.ops:
        for operand in operator.operands():
            latest = _latest(operand.source(), now)
            if latest is not operand.source():
                operand.set_source(latest)
        for inner in operator.blocks():
            _follow(inner, dict(now))
        name = operator.name().removeprefix("pd_op.")
        if name.endswith("_") and name not in _OTHERS and operator.name().startswith("pd_op."):
            now[operator.operands()[0].source().id] = operator.results()[0]


def _latest(value: Any, now: dict[int, Any]) -> Any:
    import paddle

    while now and isinstance(value, paddle.pir.Value) and value.initialized() and value.id in now:
        value = now[value.id]
    return value

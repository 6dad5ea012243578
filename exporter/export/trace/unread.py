"""Inputs that no output of a traced program is computed from: Paddle refuses them, and of a PIR program names none."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

#: What Paddle 3.3 says of them, in PIR and in a legacy program (`static/pir_io.py`, `static/io.py`).
_SAID = re.compile(r"not involved in the target_vars|The feeded_var_names\[\d+\]: '(\w+)'")


def unread(message: str, static: Any) -> list[str]:
    """The inputs that Paddle's message is about, in the order of `forward`; none if it is about something else."""
    import paddle

    from exporter.paddle.private import Value

    said = _SAID.search(message)
    if said is None:
        return []
    if said.group(1):
        return [said.group(1)]
    program = static.forward.concrete_program
    outputs = [one for one in paddle.utils.flatten(program.outputs) if isinstance(one, Value)]
    reached = _before(outputs)
    block = program.main_program.global_block()
    data = [one for one in block.ops if one.name() == "pd_op.data"]
    return [str(one.attrs()["name"]) for one in data if one.result(0).id not in reached]


def _before(outputs: list[Any]) -> set[str]:
    """The ids of all values that the outputs are computed from, and of the outputs."""
    waiting, seen = list(outputs), set[str]()
    while waiting:
        value = waiting.pop()
        if value.id in seen:
            continue
        seen.add(value.id)
        operator = value.get_defining_op()
        writers = [one for one in value.all_used_ops() if one.name().endswith("_")]
        for one in [*([operator] if operator is not None else []), *writers]:
            waiting.extend(_read(one))
    return seen


def _read(operator: Any) -> Iterator[Any]:
    """What an operator reads, within its blocks too; an operand that it does without, as a seed, is no value."""
    yield from (value for value in operator.operands_source() if value.initialized())
    for block in operator.blocks():
        for inner in block.ops:
            yield from _read(inner)

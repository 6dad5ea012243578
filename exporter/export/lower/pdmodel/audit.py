"""The table against the installed Paddle: a wrong operator, slot or attribute is found before it is written."""

from __future__ import annotations

import inspect
from collections.abc import Iterator

from exporter.export.lower.pdmodel.call import signature_of
from exporter.export.lower.pdmodel.entry import Sunk
from exporter.export.lower.pdmodel.table import TABLE
from exporter.paddle.private import differs
from exporter.paddle.sunk import documented, plainly, sunk_apis


def demand_table() -> None:
    """Refuse a Paddle that contradicts the table.

    Raises:
        EnvironmentLacks: with each API that differs, and how.
    """
    if found := mistakes():
        raise differs(found)


def mistakes() -> tuple[str, ...]:
    """What the table says that the installed Paddle contradicts; empty when the two agree."""
    found = [f"paddle.{api} (only in C++ now)" for api in sunk_apis() if api not in TABLE]
    for api in sunk_apis():
        if api in TABLE:
            found += [f"paddle.{api} ({problem})" for problem in (*_operator(TABLE[api]), *_signature(TABLE[api]))]
    return tuple(found)


def _operator(entry: Sunk) -> Iterator[str]:
    from exporter.paddle.private import OpProtoHolder

    holder = OpProtoHolder.instance()
    if entry.operator not in holder.op_proto_map:
        yield f"no operator {entry.operator}"
        return
    proto = holder.get_op_proto(entry.operator)
    slots = {slot.name: slot for slot in proto.inputs}
    for slot in (*entry.inputs, *entry.tensors.values()):
        if slot not in slots:
            yield f"{entry.operator} has no input {slot}"
    for slot in slots.values():
        if not slot.dispensable and slot.name not in entry.inputs:
            yield f"{entry.operator} needs the input {slot.name}"
    if [entry.output] != [output.name for output in proto.outputs if not output.dispensable]:
        yield f"{entry.operator} does not write {entry.output} alone"
    for name in set(entry.attributes) - {attribute.name for attribute in proto.attrs}:
        yield f"{entry.operator} has no attribute {name}"


def _signature(entry: Sunk) -> Iterator[str]:
    """Names, order and defaults as in the signature that Paddle documents for its C++ function."""
    signature = documented(entry.api)
    if signature is None:
        return
    theirs = [_plain(parameter) for parameter in signature.parameters.values() if parameter.name not in ("name", "out")]
    ours = [_plain(parameter) for parameter in signature_of(entry.signature).parameters.values()]
    names = [name for name, _ in ours]
    if more := [name for name, _ in theirs if name not in names]:
        yield f"takes {', '.join(more)} too"
    elif theirs != ours:
        yield f"its signature is {plainly(signature)}, not ({entry.signature})"
    if unknown := set(entry.inputs.values()) - set(names):
        yield f"no parameter {unknown}"


def _plain(parameter: inspect.Parameter) -> tuple[str, object]:
    return parameter.name, parameter.default

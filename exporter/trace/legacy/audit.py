"""The table against the installed Paddle: a wrong operator, slot or attribute is found before it is written."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from exporter.trace.legacy.call import signature_of
from exporter.trace.legacy.entry import Sunk
from exporter.trace.legacy.table import TABLE


def sunk_apis() -> tuple[str, ...]:
    """The APIs that the installed Paddle has only in C++; none before 3.2."""
    from exporter.paddle.private import sunk

    return () if sunk is None else tuple(sorted({name for name, _ in _entries(sunk)}))


def sunk_methods() -> tuple[str, ...]:
    """Those of them that are also methods of Tensor."""
    from exporter.paddle.private import sunk

    return () if sunk is None else tuple(sorted(name for name, _ in sunk.methods_map))


def _entries(sunk: Any) -> list[tuple[str, Any]]:
    return [*sunk.methods_map, *sunk.funcs_map, *sunk.nn_funcs_map]


def mistakes() -> tuple[str, ...]:
    """What the table says that the installed Paddle contradicts; empty when the two agree."""
    found = [f"{api}: sunk in this Paddle, and not in the table" for api in sunk_apis() if api not in TABLE]
    for api in sunk_apis():
        if api in TABLE:
            found += [f"{api}: {problem}" for problem in (*_operator(TABLE[api]), *_signature(TABLE[api]))]
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
    from exporter.paddle.private import sunk

    wrapper = dict(_entries(sunk))[entry.api]
    theirs = getattr(wrapper, "__signature__", None)
    if theirs is None:
        return
    known = [_plain(parameter) for parameter in theirs.parameters.values() if parameter.name not in ("name", "out")]
    ours = [_plain(parameter) for parameter in signature_of(entry.signature).parameters.values()]
    if known != ours:
        yield f"the signature is {known}, not {ours}"
    unknown = set(entry.inputs.values()) - {name for name, _ in ours}
    if unknown:
        yield f"no parameter {unknown}"


def _plain(parameter: inspect.Parameter) -> tuple[str, object]:
    return parameter.name, parameter.default

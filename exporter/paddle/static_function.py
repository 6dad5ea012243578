"""What `to_static` has put into a layer: read, and taken back."""

from __future__ import annotations

from typing import Any, TypeAlias

#: A layer, or what Paddle keeps of one that was traced.
Traced: TypeAlias = Any


def unused_inputs(layer: Traced) -> set[str]:
    """The names of inputs that no traced program of a layer reads or returns; none where it was not traced yet.

    PIR's programs alone, in which an input is a `pd_op.data`.
    """
    by_program = [_unused(concrete) for concrete in layer.forward._program_cache.concrete_programs()]
    return set.intersection(*by_program) if by_program else set()


def _unused(concrete: Traced) -> set[str]:
    import paddle

    returned = {value.id for value in paddle.utils.flatten(concrete.outputs) if hasattr(value, "get_defining_op")}
    data = [op for op in concrete.main_program.global_block().ops if op.name() == "pd_op.data"]
    unread = [op for op in data if op.result(0).use_empty() and op.result(0).id not in returned]
    return {op.attrs()["name"] for op in unread}


def give(static: Traced, outputs: Traced) -> None:
    """Let a traced layer give other values of its program of PIR: when saved, and when called."""
    _, (concrete, partial) = static.forward.program_cache.last()
    concrete.outputs = outputs
    partial._outputs = type(partial._outputs)(outputs)  # which its executor reads when it first runs (3.3.1)


def take_back(layer: Traced) -> list[Traced]:
    """Make a layer eager again whose `forward` was given to `to_static`; returns the input specs of that call.

    Its public `function_spec` refuses where `full_graph` is false, which is the default
    (jit/dy2static/program_translator.py, 3.3.1).
    """
    specs = layer.forward._function_spec.input_spec
    layer.forward.rollback()
    return list(specs or ())

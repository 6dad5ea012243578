"""The tensors that a traced program stores, and whether they are the layer's: Paddle finds them by the layer alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from exporter.base.errors import ModelError
from exporter.paddle.user_line import quoted_line

#: What Paddle's functions take and give: a tensor, what stands for it in a program, or a number.
Value: TypeAlias = Any


def refuse_strangers(layer: Value) -> None:
    """Make sure that every tensor of a traced layer's program is a parameter or buffer of the layer.

    `jit.save` looks each up in `state_dict()` and ends in a KeyError of Paddle's name for it, without a line (3.3.1).

    Raises:
        ModelError: one is not; with the line that reads it.
    """
    own = {tensor.name for tensor in (*layer.state_dict().values(), *layer.buffers())}
    program = layer.forward.concrete_program
    for tensor in _stored(program.parameters):
        if tensor.name not in own and tensor._is_initialized():
            raise ModelError(
                f"forward reads {_described(tensor)}, which is no parameter or buffer of the layer",
                where=_first_use(program.main_program, tensor.name),
                hint=_cure(tensor),
            )


def _stored(parameters: Value) -> list[Value]:
    """The eager tensors of a program: of PIR they come in a pair with its values (3.3.1)."""
    return list(parameters[0] if parameters and isinstance(parameters[0], (list, tuple)) else parameters)


def _described(tensor: Value) -> str:
    dtype = str(tensor.dtype).removeprefix("paddle.")
    kind = "the parameter" if _is_parameter(tensor) else "a tensor"
    name = f" '{tensor.name}'" if _is_parameter(tensor) else ""
    return f"{kind}{name} of {dtype}{list(map(int, tensor.shape))}"


def _cure(tensor: Value) -> str:
    if _is_parameter(tensor):
        return (
            "hold the layer that has it under a name of its own: in an nn.LayerList, or by `add_sublayer` with a name "
            "that no other takes"
        )
    return 'make it a buffer: `self.register_buffer("name", tensor)` in `__init__`, and read `self.name` in forward'


def _is_parameter(tensor: Value) -> bool:
    from exporter.paddle.private import EagerParamBase

    return isinstance(tensor, EagerParamBase)


def _first_use(program: Value, name: str) -> str:
    """The user's line of the first operator that reads a stored tensor; empty where none tells one."""
    for operator in _operators(program):
        if name in _read(operator) and (line := quoted_line("\n".join(_callstack(operator)))):
            return line
    return ""


def _operators(program: Value) -> Iterator[Value]:
    """The operators of a program, legacy or PIR, with those of inner blocks where they stand."""
    blocks = getattr(program, "blocks", None)
    if blocks and hasattr(blocks[0], "vars"):
        for block in blocks:
            yield from block.ops
        return
    yield from _within(program.global_block())


def _within(block: Value) -> Iterator[Value]:
    for operator in block.ops:
        for inner in operator.blocks():
            yield from _within(inner)
        yield operator


def _read(operator: Value) -> set[str]:
    if hasattr(operator, "input_arg_names"):
        return set(operator.input_arg_names)
    sources = (source.get_defining_op() for source in operator.operands_source() if source.initialized())
    return {str(maker.attrs()["parameter_name"]) for maker in sources if maker and maker.name() == "builtin.parameter"}


def _callstack(operator: Value) -> list[str]:
    if hasattr(operator, "input_arg_names"):
        return list(operator.attr("op_callstack") or ()) if operator.has_attr("op_callstack") else []
    return list(operator.callstack)

"""In a child: the traced program (PIR) as plain values, with every size known: what the rules of channels read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from exporter.base.errors import EnvironmentLacks
from exporter.base.tensors import TensorSpec
from exporter.export.trace.traced import trace
from exporter.paddle.user_line import is_users

if TYPE_CHECKING:
    import paddle

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')


@dataclass
class Operation:
    """One operator: its name without dialect and in-place mark, and its values by number (None: not given).

    Lists are spread: `concat` of two reads three values, the last being the axis. `nested` says that it stands in a
    branch or a loop. `line` is the user's, where it is known.
    """

    name: str
    inputs: tuple[int | None, ...]
    outputs: tuple[int, ...]
    attributes: Mapping[str, Any]
    line: str
    nested: bool


@dataclass
class Program:
    """Operators in order. `parameters` gives for a value the tensor's names in the layer, `constants` its numbers.

    `names` are those of the leaves that `forward` returns, in its author's order.
    """

    operations: list[Operation] = field(default_factory=list)
    shapes: dict[int, tuple[int, ...]] = field(default_factory=dict)
    parameters: dict[int, tuple[str, ...]] = field(default_factory=dict)
    constants: dict[int, tuple[int, ...]] = field(default_factory=dict)
    outputs: tuple[int, ...] = ()
    names: tuple[str, ...] = ()


def read_program(layer: paddle.nn.Layer, inputs: Sequence[TensorSpec], dims: Mapping[str, int]) -> Program:
    """Trace a layer (which is wrapped by that) at these sizes of all named dims, and read the program.

    Raises:
        EnvironmentLacks: this Paddle traces into the old form of programs.
        UsageError, ModelError: as :func:`exporter.export.trace.traced.trace`.
    """
    import paddle

    from exporter.paddle.private import in_pir_mode

    if not in_pir_mode() and not paddle.get_flags("FLAGS_enable_pir_api")["FLAGS_enable_pir_api"]:
        raise EnvironmentLacks("pruning reads PIR programs", where="FLAGS_enable_pir_api", hint="do not switch it off")
    tensors = {**layer.state_dict(), **dict(layer.named_buffers())}
    names: dict[str, list[str]] = {}
    for name, tensor in tensors.items():
        names.setdefault(tensor.name, []).append(name)
    traced = trace(layer, inputs, None, dims)
    concrete = traced.layer.forward.concrete_program
    reader = _Reader(names)
    reader.block(concrete.main_program.global_block(), nested=False)
    program = reader.program
    program.names = tuple(one.name for one in traced.outputs)
    program.outputs = tuple(
        reader.number(one) for one in paddle.utils.flatten(concrete.outputs) if hasattr(one, "get_defining_op")
    )
    return program


class _Reader:
    def __init__(self, names: Mapping[str, Sequence[str]]) -> None:
        self.program = Program()
        self._names = names
        self._numbers: dict[Any, int] = {}
        self._alive: list[Any] = []  # so that no id is given twice
        self._lists: dict[int, tuple[int, ...]] = {}
        self._makers: dict[int, Operation] = {}

    def number(self, value: Any) -> int:
        if value.id not in self._numbers:
            self._numbers[value.id] = len(self._numbers)
            self._alive.append(value)
        number = self._numbers[value.id]
        if value.is_dense_tensor_type():
            self.program.shapes[number] = tuple(int(size) for size in value.shape)
        return number

    def block(self, block: Any, *, nested: bool) -> None:
        for op in block.ops:
            self._read(op, nested)
            for inner in op.blocks():
                self.block(inner, nested=True)

    def _read(self, op: Any, nested: bool) -> None:
        name = op.name().rpartition(".")[2].rstrip("_")
        outputs = tuple(self.number(one) for one in op.results() if one.initialized())
        if name == "parameter":
            self.program.parameters[outputs[0]] = tuple(self._names.get(op.attrs()["parameter_name"], ()))
            return
        given = [self.number(one) if one.initialized() else None for one in op.operands_source()]
        if op.name() == "builtin.combine":
            self._lists[outputs[0]] = tuple(one for one in given if one is not None)
            return
        if op.name() == "builtin.split":
            if given[0] is not None and given[0] in self._makers:  # a list that was combined is split no more
                self._makers[given[0]].outputs = outputs
            return
        inputs = tuple(one for value in given for one in self._lists.get(-1 if value is None else value, (value,)))
        attributes = {key: value for key, value in op.attrs().items() if key != "op_callstack"}
        one = Operation(name, inputs, outputs, attributes, _line(op), nested)
        self._makers.update(dict.fromkeys(outputs, one))
        self._keep_constant(one)
        self.program.operations.append(one)

    def _keep_constant(self, one: Operation) -> None:
        value = one.attributes.get("value")
        if one.name == "full" and isinstance(value, (int, float)):
            self.program.constants[one.outputs[0]] = (int(value),) if float(value).is_integer() else ()
        elif one.name == "full_int_array":
            self.program.constants[one.outputs[0]] = tuple(int(item) for item in one.attributes["value"])


def _line(op: Any) -> str:
    """The innermost line of the user's that made an operator, from what Paddle recorded."""
    frames = _FRAME.findall("\n".join(op.attrs().get("op_callstack") or ()))
    for path, line in reversed(frames):
        if is_users(path):
            return f"{path}:{line}"
    return ""

"""`.pdmodel`, edited through the protobuf classes that Paddle ships (`paddle/base/proto/framework_pb2.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from exporter.base.errors import EnvironmentLacks
from exporter.bundle.drill.programs.base import (
    NOISE,
    Attribute,
    Node,
    Operation,
    Program,
    Unplantable,
    insert,
    place_of,
)
from exporter.engines.paddle import INSTALL

#: Protobuf messages are made at run time and have no types of their own.
_Message: TypeAlias = Any

_INT32, _INT64, _F16, _F32, _F64, _UINT8 = 2, 3, 4, 5, 6, 20
_DTYPES = {_F32: "float32", _F64: "float64", _INT64: "int64", _INT32: "int32"}
#: AttrType -> the field that holds the value (`framework.proto`).
_FIELDS = {0: "i", 1: "f", 2: "s", 3: "ints", 4: "floats", 6: "b", 9: "l", 11: "longs", 12: "float64s", 15: "float64"}
_TYPES = {bool: 6, int: 0, float: 1, str: 2}
_DTYPE_ATTRIBUTES = ("dtype", "in_dtype", "out_dtype")
_SIMPLE: dict[Operation, tuple[str, dict[str, Attribute]]] = {
    Operation.IDENTITY: ("assign", {}),
    Operation.RELU: ("relu", {}),
    Operation.RELU6: ("relu6", {"threshold": 6.0}),
    Operation.SIGMOID: ("sigmoid", {}),
    Operation.HARD_SIGMOID: ("hard_sigmoid", {"slope": 0.1666667, "offset": 0.5}),
    Operation.HARD_SWISH: ("hard_swish", {"threshold": 6.0, "scale": 6.0, "offset": 3.0}),
    Operation.SOFTSIGN: ("softsign", {}),
    Operation.TANH: ("tanh", {}),
}


class PdmodelProgram(Program):
    """A ProgramDesc; values are variables, told apart by their names."""

    constants = frozenset({"fill_constant", "assign_value"})

    def __init__(self, desc: _Message) -> None:
        self._desc = desc
        self._fresh_names = 0
        self._index()

    def _index(self) -> None:
        desc = self._desc
        self._variables = {one.name: one for block in reversed(desc.blocks) for one in block.vars}
        self._nodes = [
            (block, operator)
            for block in desc.blocks
            for operator in block.ops
            if operator.type not in ("feed", "fetch")
        ]

    @classmethod
    def parse(cls, content: bytes) -> PdmodelProgram:
        try:
            from exporter.paddle.private import framework_pb2
        except ImportError as error:
            what = f"paddle cannot be imported: {error}"
            raise EnvironmentLacks(what, where="drill on pdmodel", hint=INSTALL) from error
        desc = framework_pb2.ProgramDesc()
        desc.ParseFromString(content)
        return cls(desc)

    def encode(self) -> bytes:
        content: bytes = self._desc.SerializeToString(deterministic=True)
        return content

    def nodes(self) -> Sequence[Node]:
        return [_node(at, operator) for at, (_, operator) in enumerate(self._nodes)]

    def dtype(self, value: str) -> str:
        variable = self._variables.get(value)
        tensor = _tensor(variable) if variable is not None else None
        return _DTYPES.get(tensor.data_type, "") if tensor is not None else ""

    def set(self, node: Node, name: str, value: Attribute) -> None:
        _, operator = self._at(node)
        (attribute,) = [one for one in operator.attrs if one.name == name]
        _write(attribute, value)

    def follow(self, node: Node, operation: Operation) -> None:
        block, operator = self._at(node)
        old = node.outputs[0]
        fresh = self._fresh(block, old)
        inserted = self._operation(block, operation, fresh, old)
        _rename_result(operator, old, fresh)
        insert(block.ops, place_of(block.ops, operator) + 1, inserted)

    def become(self, node: Node, operation: Operation, operand: int = 0) -> None:
        block, operator = self._at(node)
        at = place_of(block.ops, operator)
        inserted = self._operation(block, operation, node.inputs[operand], node.outputs[0])
        del block.ops[at]
        insert(block.ops, at, inserted)

    def outputs(self) -> dict[str, str]:
        return {one.inputs[0].arguments[0]: one.inputs[0].arguments[0] for one in self._fetches()}

    def rename_outputs(self, names: dict[str, str]) -> None:
        for block in self._desc.blocks:
            for variable in block.vars:
                variable.name = names.get(variable.name, variable.name)
            for operator in block.ops:
                for slot in (*operator.inputs, *operator.outputs):
                    slot.arguments[:] = [names.get(one, one) for one in slot.arguments]
        # The fetches keep their order, so that only the names trade places and not the values.
        self._index()

    def repeat_output(self, name: str, again: str) -> None:
        block = self._desc.blocks[0]
        fetch = next(one for one in self._fetches() if one.inputs[0].arguments[0] == name)
        twin = type(fetch)()
        twin.CopyFrom(fetch)
        twin.inputs[0].arguments[0] = again
        _write(next(one for one in twin.attrs if one.name == "col"), len(self._fetches()))
        self._declare(block, name, again)
        block.ops.append(self._operator("assign", name, again, {}))
        block.ops.append(twin)

    def freeze_batch(self, rows: int) -> None:
        found = False
        for feed in (one for one in self._desc.blocks[0].ops if one.type == "feed"):
            tensor = _tensor(self._variables[feed.outputs[0].arguments[0]])
            if tensor is not None and tensor.dims and tensor.dims[0] == -1:
                tensor.dims[0], found = rows, True
        if not found:
            raise Unplantable("no input has a first size that varies")

    def cut_rows(self, output: str, rows: int) -> None:
        node = self.maker(output)
        block, operator = self._at(node)
        fresh = self._fresh(block, output)
        _rename_result(operator, output, fresh)
        cut = self._operator("slice", "", output, {})
        slot = cut.inputs.add()
        slot.parameter = "Input"
        slot.arguments.append(fresh)
        for name, value in (("axes", 0), ("starts", 0), ("ends", rows), ("infer_flags", 1)):
            attribute = cut.attrs.add()
            attribute.name, attribute.type = name, 3
            attribute.ints.append(value)
        insert(block.ops, place_of(block.ops, operator) + 1, [cut])

    def train(self, norm: Node) -> None:
        block, operator = self._at(norm)
        for name in ("is_test", "use_global_stats"):
            self.set(norm, name, False)
        # In training the kernel wants this output, which an exported program has not.
        saved = next(one for one in operator.outputs if one.parameter == "SavedMean")
        slot = operator.outputs.add()
        slot.parameter = "ReserveSpace"
        slot.arguments.append(self._fresh(block, saved.arguments[0]))

    def wake(self, dropout: Node) -> None:
        block, operator = self._at(dropout)
        super().wake(dropout)
        # Without it the operator passes everything on, whatever it is told.
        if all(one.parameter != "Mask" for one in operator.outputs):
            mask = self._fresh(block, dropout.outputs[0])
            _tensor(self._variables[mask]).data_type = _UINT8
            slot = operator.outputs.add()
            slot.parameter = "Mask"
            slot.arguments.append(mask)

    def wear(self, tensor: str) -> None:
        attributes: dict[str, Attribute] = {"scale": 1.5, "bias": 0.0, "bias_after_scale": True}
        block = self._desc.blocks[0]
        first_fetch = next(at for at, one in enumerate(block.ops) if one.type == "fetch")
        insert(block.ops, first_fetch, [self._operator("scale", tensor, tensor, attributes)])

    def widen(self) -> None:
        for block in self._desc.blocks:
            for variable in block.vars:
                tensor = _tensor(variable)
                if tensor is not None and tensor.data_type == _F32:
                    tensor.data_type = _F64
            for operator in block.ops:
                _widen(operator)

    def _at(self, node: Node) -> tuple[_Message, _Message]:
        return self._nodes[int(node.site.partition("@")[2])]

    def _fetches(self) -> list[_Message]:
        return [one for one in self._desc.blocks[0].ops if one.type == "fetch"]

    def _fresh(self, block: _Message, like: str) -> str:
        """A new variable like another one, which its block or the root declares."""
        self._fresh_names += 1
        name = f"drill_{self._fresh_names}"
        self._declare(block, like, name)
        return name

    def _declare(self, block: _Message, like: str, name: str) -> None:
        variable = block.vars.add()
        variable.CopyFrom(self._variables[like])
        variable.name, variable.persistable = name, False
        self._variables[name] = variable

    def _operation(self, block: _Message, operation: Operation, source: str, target: str) -> list[_Message]:
        if operation in _SIMPLE:
            kind, attributes = _SIMPLE[operation]
            return [self._operator(kind, source, target, dict(attributes))]
        if operation is Operation.HALF:
            half = self._fresh(block, source)
            _tensor(self._variables[half]).data_type = _F16
            return [self._cast(source, half, (_F32, _F16)), self._cast(half, target, (_F16, _F32))]
        if operation is Operation.NOISE:
            return self._noise(block, source, target)
        dtype = _tensor(self._variables[source]).data_type
        other = {_F32: _F64, _INT64: _INT32}.get(dtype)
        if other is None:
            raise Unplantable("only float32 and int64 outputs get another dtype")
        _tensor(self._variables[target]).data_type = other
        return [self._cast(source, target, (dtype, other))]

    def _noise(self, block: _Message, source: str, target: str) -> list[_Message]:
        noise = self._fresh(block, source)
        _tensor(self._variables[noise]).dims[:] = [1]
        drawn = self._operator(
            "uniform_random", "", noise, {"min": NOISE[0], "max": NOISE[1], "seed": 0, "dtype": _F32}
        )
        shape = drawn.attrs.add()
        shape.name, shape.type = "shape", 11
        shape.longs.append(1)
        added = self._operator("elementwise_add", source, target, {"axis": -1})
        slot = added.inputs.add()
        slot.parameter = "Y"
        slot.arguments.append(noise)
        return [drawn, added]

    def _cast(self, source: str, target: str, dtypes: tuple[int, int]) -> _Message:
        return self._operator("cast", source, target, {"in_dtype": dtypes[0], "out_dtype": dtypes[1]})

    def _operator(self, kind: str, source: str, target: str, attributes: dict[str, Attribute]) -> _Message:
        operator = type(self._desc.blocks[0].ops[0])()
        operator.type = kind
        for slots, parameter, name in ((operator.inputs, "X", source), (operator.outputs, "Out", target)):
            if name:
                slot = slots.add()
                slot.parameter = parameter
                slot.arguments.append(name)
        for name, value in attributes.items():
            attribute = operator.attrs.add()
            attribute.name, attribute.type = name, _TYPES[type(value)]
            _write(attribute, value)
        return operator


def _node(at: int, operator: _Message) -> Node:
    inputs = tuple(name for slot in operator.inputs for name in slot.arguments)
    outputs = tuple(name for slot in _main_first(operator.outputs) for name in slot.arguments)
    attributes = {one.name: _read(one) for one in operator.attrs if one.type in _FIELDS}
    return Node(operator.type, f"{operator.type}@{at}", inputs, outputs, attributes)


def _main_first(slots: Sequence[_Message]) -> list[_Message]:
    """The slot with the result before statistics and masks."""
    return sorted(slots, key=lambda slot: slot.parameter not in ("Out", "Y", "Output"))


def _rename_result(operator: _Message, old: str, new: str) -> None:
    for slot in operator.outputs:
        slot.arguments[:] = [new if one == old else one for one in slot.arguments]


def _tensor(variable: _Message) -> _Message:
    """The TensorDesc of a variable; None where it is no tensor. Paddle 3.2 renamed the fields, not their numbers."""
    if variable.type.type != 7:
        return None
    inner = getattr(variable.type, variable.type.DESCRIPTOR.fields_by_number[3].name)
    return inner.tensor


def _read(attribute: _Message) -> Attribute:
    value = getattr(attribute, _FIELDS[attribute.type])
    return value if isinstance(value, bool | int | float | str) else list(value)


def _write(attribute: _Message, value: Attribute) -> None:
    field = _FIELDS[attribute.type]
    if isinstance(value, list):
        getattr(attribute, field)[:] = value
    else:
        setattr(attribute, field, value)


def _widen(operator: _Message) -> None:
    for attribute in operator.attrs:
        if attribute.name in _DTYPE_ATTRIBUTES and attribute.type == 0 and attribute.i == _F32:
            attribute.i = _F64


plugin: type[Program] = PdmodelProgram

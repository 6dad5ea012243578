"""The program as Paddle wrote it, mended: what a reader refuses, an engine runs wrongly or tells of this machine."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from exporter.base.errors import ModelError
from exporter.base.files import write_draft
from exporter.base.tensors import TensorSpec
from exporter.paddle.declared import declare_variable

#: Where in whose source each operator was made: paths of this machine, in every operator (3.3.1). Nothing reads it.
_CALLSTACK = "op_callstack"
#: Operators whose bodies are blocks; their lists of outputs are variables of the block outside.
_WITH_BODIES = ("while", "conditional_block")


def blocks(program: Any) -> Iterator[Any]:
    """The main block, and the bodies of loops and branches."""
    return (program.block(index) for index in range(program.num_blocks()))


def operators(block: Any) -> list[Any]:
    """In order. They are gone with their program."""
    return [block.op(index) for index in range(block.op_size())]


def tensors(program: Any) -> Iterator[Any]:
    """The variables of all blocks that are tensors."""
    for block in blocks(program):
        for variable in block.all_vars():
            if str(variable.type()).endswith(("LOD_TENSOR", "DENSE_TENSOR")):
                yield variable


def mend(path: Path, names: tuple[str, ...], promised: Sequence[TensorSpec] = ()) -> None:
    """Rewrite a `.pdmodel` in place; `names` are those of its outputs, and what is `promised` of them is declared.

    Raises:
        ModelError: the name of an output is already that of another variable.
    """
    from exporter.paddle.private import core

    program = core.ProgramDesc(path.read_bytes())
    for block in blocks(program):
        for operator in operators(block):
            if operator.has_attr(_CALLSTACK):
                operator.remove_attr(_CALLSTACK)
    for variable in tensors(program):
        # InstanceNorm's saved statistics have -1 times 4 channels, -4, where the batch varies (3.3.1).
        if min(sizes := variable.shape(), default=0) < -1:
            variable.set_shape([max(size, -1) for size in sizes])
    for number in range(program.num_blocks()):
        _part(program, number)
    _hold(program)
    _name_outputs(program, names, path.name)
    for output in promised:
        declare_variable(program.block(0).find_var(output.name.encode()), output)
    write_draft(path, program.serialize_to_string())


def _part(program: Any, number: int) -> None:
    """Copy the parts that `split`, `unbind` and their kin give, where the body of a loop or a branch reads them.

    In `paddle.jit.load`, which runs the file as PIR, they hold no memory from the second turn of a loop on (3.3.1).
    """
    block, read = program.block(number), _read_within(program, number)
    for index in reversed(range(block.op_size())):
        operator = block.op(index)
        parts = [name for slot in _lists(operator) for name in operator.output(slot) if name in read]
        for name in dict.fromkeys(parts):
            like, part = block.find_var(name.encode()), block.var(f"{name}.part".encode())
            part.set_type(like.type())
            part.set_dtype(like.dtype())
            part.set_shape(like.shape())
            operator._rename_output(name, part.name())
            copy = block._insert_op(index + 1)
            copy.set_type("assign")
            copy.set_input("X", [part.name()])
            copy.set_output("Out", [name])


def _hold(program: Any) -> None:
    """Let bodies write to copies of buffers, as a cache that `forward` makes anew where a length is beyond it.

    A buffer is a parameter of the file: `paddle.jit.load` refuses a branch that gives it another value (two values of
    one name, 3.3.1), and in the predictor it would stay so for the next run.
    """
    main = program.block(0)
    written = {
        name for block in blocks(program) if block.id for operator in operators(block)
        for name in operator.output_arg_names()
    }  # fmt: skip
    held = [variable.name() for variable in main.all_vars() if variable.persistable() and variable.name() in written]
    for name in sorted(held):
        like, copy = main.find_var(name.encode()), main.var(f"{name}.held".encode())
        copy.set_type(like.type())
        copy.set_dtype(like.dtype())
        copy.set_shape([-1] * len(like.shape()))  # what a branch gives may be larger
        for operator in operators(main):
            operator._rename_input(name, copy.name())
            operator._rename_output(name, copy.name())
        _rename_within(program, 0, name, copy.name())
        first = next((at for at, operator in enumerate(operators(main)) if operator.type() != "feed"), 0)
        assign = main._insert_op(first)
        assign.set_type("assign")
        assign.set_input("X", [name])
        assign.set_output("Out", [copy.name()])


def _lists(operator: Any) -> list[str]:
    """The outputs of an operator that are lists, of one part too."""
    from exporter.paddle.private import OpProtoHolder

    kind = operator.type()
    if kind in ("feed", "fetch", *_WITH_BODIES):
        return []
    slots = OpProtoHolder.instance().get_op_proto(kind).outputs
    return [slot.name for slot in slots if slot.duplicable and slot.name in operator.output_names()]


def _read_within(program: Any, parent: int) -> set[str]:
    """The names of what the bodies within a block read."""
    read = set[str]()
    for number, block in enumerate(blocks(program)):
        if number and block.parent == parent:
            read |= {name for operator in operators(block) for name in operator.input_arg_names()}
            read |= _read_within(program, number)
    return read


def _name_outputs(program: Any, names: tuple[str, ...], where: str) -> None:
    """Rename the variables that are fetched, so that the predictor shows our names."""
    fetches = [operator for operator in operators(program.block(0)) if operator.type() == "fetch"]
    fetches.sort(key=lambda operation: int(operation.attr("col")))
    for operation, name in zip(fetches, names, strict=True):
        old = operation.input("X")[0]
        if old == name:
            continue
        if any(block.has_var(name.encode()) for block in blocks(program)):
            raise ModelError(
                f"output name '{name}' is already that of a variable in the program",
                where=where,
                hint="give the output another name under outputs",
            )
        program.block(0)._rename_var(old.encode(), name.encode())
        _rename_within(program, 0, old, name)


def _rename_within(program: Any, parent: int, old: str, new: str) -> None:
    """Rename a variable of an outer block where the bodies of loops and branches use it: it may be what a loop carries.

    A body that has a variable `old` of its own means that one.
    """
    for number, block in enumerate(blocks(program)):
        if number and block.parent == parent and not block.has_var(old.encode()):
            for operator in operators(block):
                operator._rename_input(old, new)
                operator._rename_output(old, new)
            _rename_within(program, number, old, new)

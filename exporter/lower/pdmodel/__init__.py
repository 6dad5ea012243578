"""Legacy programs (`.pdmodel` + `.pdiparams`): what Paddle Inference 2.x and 3.x, Serving, Lite and OpenVINO read.

Since 3.2 Paddle moves the bodies of its most common functions to C++, and their C++ entries know eager mode and PIR
only: "must be Value, but got Variable". This room puts the missing branch back, from the outside and only while
exporting. What is wrong with one API has a file of its own in `exporter.trace.fixes`.

    session      the context manager around all of it
    dispatch     what stands in for the C++ entries: lower, compose or refuse
    table/       one line an API: signature, legacy operator, slots, attributes, dtype rule
    audit        the table against the operators and signatures of the installed Paddle
    call, dtypes, attributes, lowering      from a call to an operator
    composed     functions that never had a legacy operator, made of others
    pipeline     the steps of every operator before it is appended:
        older        what older runtimes lack, made of what they have
        exact        numbers that would be rounded
        promotion    operands of two dtypes
    files        the written files, made fit for old runtimes
    runtimes     which versions of Paddle can load a file, and why not the others
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from packaging.version import Version

from exporter.errors import ModelError
from exporter.files import write_draft
from exporter.lower._paddle_save import save
from exporter.lower.base import Format, Wish
from exporter.lower.pdmodel.files import finish
from exporter.lower.pdmodel.runtimes import blocks, runtimes, tensors
from exporter.lower.pdmodel.session import legacy_export
from exporter.trace.traced import Traced


class Pdmodel(Format):
    """The legacy program; stock Paddle 3.2 and 3.3 cannot write it for most networks, see docs/legacy.md."""

    model = "model.pdmodel"
    parameters = "model.pdiparams"

    def session(self, target: str | None) -> AbstractContextManager[None]:
        return legacy_export(Version(target) if target else None)

    def write(self, traced: Traced | None, source: Path | None, into: Path, wish: Wish) -> Mapping[str, Any]:
        assert traced is not None  # noqa: S101  # `after` is None, so the caller traced
        save(traced, into, ".pdmodel")
        _mend(into / self.model, traced.native_outputs)
        finish(into / self.model, into / "model.pdiparams", Version(wish.target) if wish.target else None)
        able = {version: why or "loads it" for version, why in runtimes(into / self.model).items()}
        return {"paddle_versions": able}


#: Where in whose source each operator was made: paths of this machine, in every operator (3.3.1). Nothing reads it.
_CALLSTACK = "op_callstack"


def _mend(path: Path, names: tuple[str, ...]) -> None:
    """Take this machine's paths out of the program, declare sizes that readers take, and give its outputs our names."""
    from exporter.paddle.private import core

    program = core.ProgramDesc(path.read_bytes())
    for block in blocks(program):
        for operator in _operators(block):
            if operator.has_attr(_CALLSTACK):
                operator.remove_attr(_CALLSTACK)
    for variable in tensors(program):
        # InstanceNorm's saved statistics have -1 times 4 channels, -4, where the batch varies (3.3.1).
        if min(sizes := variable.shape(), default=0) < -1:
            variable.set_shape([max(size, -1) for size in sizes])
    _name_outputs(program, names, path.name)
    write_draft(path, program.serialize_to_string())


def _name_outputs(program: Any, names: tuple[str, ...], where: str) -> None:
    """Rename the variables that are fetched, so that the predictor shows our names.

    Raises:
        ModelError: the name is already that of another variable.
    """
    fetches = [operator for operator in _operators(program.block(0)) if operator.type() == "fetch"]
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
        if block.parent == parent and number and not block.has_var(old.encode()):
            for operator in _operators(block):
                operator._rename_input(old, new)
                operator._rename_output(old, new)
            _rename_within(program, number, old, new)


def _operators(block: Any) -> list[Any]:
    return [block.op(index) for index in range(block.op_size())]


plugin: Format = Pdmodel()

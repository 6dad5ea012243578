"""The files as Paddle wrote them, made fit for the runtimes that have to read them."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from packaging.version import Version

from exporter.base.files import write_draft
from exporter.export.lower.pdmodel.runtimes import demand

#: A predictor refuses an empty parameter file, so a model without parameters gets one that nothing reads.
PLACEHOLDER = "no_parameters"


def finish(model: Path, parameters: Path, target: Version | None = None) -> None:
    """Rewrite a `.pdmodel` in place: in the form that Paddle 2.6 reads, and with a parameter if it has none.

    `legacy_format` is what makes `assign_value` (every constant of paddle.to_tensor) readable before 3.0, and it
    records version 2.4.2 as the writer's (paddle/fluid/pybind/protobuf.cc, 3.3.1).

    Raises:
        CannotLower: `target`, or a version since, cannot run the program; with the reasons.
    """
    from exporter.paddle.private import core

    program = core.ProgramDesc(model.read_bytes())
    if not parameters.exists() or parameters.stat().st_size == 0:
        _add_placeholder(program)
        write_draft(parameters, _tensor_file())
    write_draft(model, program.serialize_to_string(legacy_format=True))
    if target is not None:
        demand(model, target)


def _add_placeholder(program: Any) -> None:
    from exporter.paddle.private import core

    variable = program.block(0).var(PLACEHOLDER.encode())
    variable.set_type(core.VarDesc.VarType.LOD_TENSOR)
    variable.set_dtype(core.VarDesc.VarType.FP32)
    variable.set_shape([1])
    variable.set_persistable(True)


def _tensor_file() -> bytes:
    """One float32 tensor of shape [1], as save_combine writes it (framework/lod_tensor.cc and tensor_util.cc)."""
    description = bytes([0x08, 5, 0x10, 1])  # TensorDesc: data_type FP32, dims [1]
    header = struct.pack("<IQIi", 0, 0, 0, len(description))  # version, levels of detail, tensor version, size
    return header + description + struct.pack("<f", 0.0)

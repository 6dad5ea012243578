"""A PIR program as an ONNX file in canonical form, at the opset that is asked for, or what its operators need."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from exporter.base.errors import UsageError
from exporter.base.files import write_draft
from exporter.base.readers.external import data_of
from exporter.base.readers.undecided import reach_in
from exporter.export.lower.base import Details, Wish
from exporter.export.lower.onnx_program.call import NeedsOpset
from exporter.export.lower.onnx_program.passes.encode import Beside
from exporter.export.lower.onnx_program.passes.opset import IR_VERSIONS, spoken_for
from exporter.export.lower.onnx_program.passes.run import canonical_model
from exporter.export.lower.onnx_program.write import Program, from_program

#: Every onnxruntime since 1.12 runs it, and paddle2onnx 2.1.0 knows no newer one well.
DEFAULT_OPSET = 17


def write_onnx(program: Program, file: Path, wish: Wish, digests: Mapping[str, str] = MappingProxyType({})) -> Details:
    """Write the file and return details for the manifest; `digests` of what the program stores, where known.

    Raises:
        UsageError: an opset that is not written.
        ModelError: as :func:`exporter.export.lower.onnx_program.write.from_program`, or the opset cannot say it.
    """
    asked = wish.opset or DEFAULT_OPSET
    if asked not in IR_VERSIONS:
        hint = f"ask for one of {min(IR_VERSIONS)} to {max(IR_VERSIONS)}, or for none"
        raise UsageError(f"opset {asked} is not written", where="opset", hint=hint)
    data = data_of(file)
    beside = Beside(data.name) if wish.data_over is None else Beside(data.name, wish.data_over)
    opset, made = asked, None
    while made is None:
        try:
            written = from_program(program, spoken_for(opset), wish.inputs)
            made = canonical_model(*written, wish.inputs, beside, opset, digests)
        except NeedsOpset as error:
            if wish.opset is not None:
                raise
            opset = error.opset
    write_draft(file, *made.files.model)
    if made.files.beside:
        write_draft(data, *made.files.beside)
    return {
        "writer_asked": "program",
        "opset_asked": asked,
        "opset": made.opset,
        "folded": dict(made.folded),
        "computed": list(made.computed),
        "reach": reach_in(program.block),
    }

"""A PIR program as an ONNX file in canonical form, at the opset that is asked for, or what its operators need."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from exporter.base.files import write_draft
from exporter.base.readers.undecided import undecided_in
from exporter.export.lower.base import Details, Wish
from exporter.export.lower.onnx_program.call import NeedsOpset
from exporter.export.lower.onnx_program.passes.run import canonical_model
from exporter.export.lower.onnx_program.write import Program, from_program

#: Every onnxruntime since 1.12 runs it, and paddle2onnx 2.1.0 knows no newer one well.
DEFAULT_OPSET = 17


def write_onnx(program: Program, file: Path, wish: Wish, digests: Mapping[str, str] = MappingProxyType({})) -> Details:
    """Write the file and return details for the manifest; `digests` of what the program stores, where known.

    Raises:
        UsageError, ModelError: as :func:`exporter.export.lower.onnx_program.write.from_program`.
    """
    asked = wish.opset or DEFAULT_OPSET
    opset, made = asked, None
    while made is None:
        try:
            made = canonical_model(*from_program(program, opset, wish.inputs), wish.inputs, digests)
        except NeedsOpset as error:
            if wish.opset is not None:
                raise
            opset = error.opset
    write_draft(file, *made.pieces)
    return {
        "writer_asked": "program",
        "opset_asked": asked,
        "opset": made.opset,
        "folded": dict(made.folded),
        "computed": list(made.computed),
        "undecided": sorted(undecided_in(program.block)),
    }

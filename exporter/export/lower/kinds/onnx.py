"""ONNX from the PIR files, written operator by operator, or as paddle2onnx writes it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from exporter.base.files import write_draft
from exporter.base.readers.kinds.onnx import read_onnx
from exporter.export.lower.base import Details, Format, Wish
from exporter.export.lower.onnx_program.call import NeedsOpset
from exporter.export.lower.onnx_program.passes.run import canonical_model
from exporter.export.lower.onnx_program.write import from_program
from exporter.export.lower.paddle2onnx import convert
from exporter.export.trace.traced import Traced
from exporter.paddle.in_place import remembering_writes

#: Every onnxruntime since 1.12 runs it, and paddle2onnx 2.1.0 knows no newer one well.
DEFAULT_OPSET = 17


class Onnx(Format):
    """One self-contained `model.onnx`; an operator may raise the opset, and the manifest records both."""

    after = "pir"
    folds = True
    model = "model.onnx"

    def chosen(self, wish: Wish) -> Format:
        return ByPaddle2Onnx() if wish.writer == "paddle2onnx" else self

    def session(self, target: str | None) -> AbstractContextManager[None]:
        del target
        return remembering_writes()

    def write(self, traced: Traced | None, source: Path | None, into: Path, wish: Wish) -> Details:
        del traced
        assert source is not None  # noqa: S101  # `after` is pir, so the caller made it
        asked = wish.opset or DEFAULT_OPSET
        opset, made = asked, None
        while made is None:
            try:
                made = canonical_model(*from_program(source, opset, wish.inputs), wish.inputs)
            except NeedsOpset as error:
                if wish.opset is not None:
                    raise
                opset = error.opset
        write_draft(into / self.model, *made.pieces)
        return {
            "writer_asked": "program",
            "opset_asked": asked,
            "opset": made.opset,
            "folded": dict(made.folded),
            "computed": list(made.computed),
        }


class ByPaddle2Onnx(Onnx):
    """What paddle2onnx writes, as it is: a second opinion that the same gate judges."""

    def write(self, traced: Traced | None, source: Path | None, into: Path, wish: Wish) -> Details:
        del traced
        assert source is not None  # noqa: S101  # `after` is pir, so the caller made it
        asked = wish.opset or DEFAULT_OPSET
        write_draft(into / self.model, convert(source, asked))
        facts = read_onnx(into / self.model)
        return {
            "writer_asked": "paddle2onnx",
            "opset_asked": asked,
            "opset": facts.versions["opset"],
        }


plugin: Format = Onnx()

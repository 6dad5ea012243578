"""ONNX from the PIR files, written operator by operator, or as paddle2onnx writes it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

from exporter.base.files import write_draft
from exporter.base.readers.external import DATA
from exporter.export.lower.base import Details, Format, Wish
from exporter.export.trace.traced import Traced
from exporter.paddle.in_place import remembering_writes


class Onnx(Format):
    """One self-contained `model.onnx`; an operator may raise the opset, and the manifest records both."""

    after = "pir"
    folds = True
    model = "model.onnx"
    parameters = f"model.onnx{DATA}"

    def chosen(self, wish: Wish) -> Format:
        return ByPaddle2Onnx() if wish.writer == "paddle2onnx" else self

    def session(self, target: str | None) -> AbstractContextManager[None]:
        del target
        return remembering_writes()

    def write(self, traced: Traced | None, source: Path | None, into: Path, wish: Wish) -> Details:
        del traced
        assert source is not None  # noqa: S101  # `after` is pir, so the caller made it
        from exporter.export.lower.onnx_program.file import write_onnx  # for children; it takes 20 ms
        from exporter.export.lower.onnx_program.write import program_in

        return write_onnx(program_in(source), into / self.model, wish)


class ByPaddle2Onnx(Onnx):
    """What paddle2onnx writes, as it is: a second opinion that the same gate judges."""

    def write(self, traced: Traced | None, source: Path | None, into: Path, wish: Wish) -> Details:
        from exporter.base.readers.kinds.onnx import read_onnx
        from exporter.base.readers.undecided import reach
        from exporter.export.lower.onnx_program.file import DEFAULT_OPSET
        from exporter.export.lower.paddle2onnx import convert

        del traced
        assert source is not None  # noqa: S101  # `after` is pir, so the caller made it
        asked = wish.opset or DEFAULT_OPSET
        write_draft(into / self.model, convert(source, asked))
        facts = read_onnx(into / self.model)
        return {
            "writer_asked": "paddle2onnx",
            "opset_asked": asked,
            "opset": facts.versions["opset"],
            "reach": reach(source / "model.json") or {},
        }


plugin: Format = Onnx()

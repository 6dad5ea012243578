"""ONNX from the PIR files, by paddle2onnx or by the writer of ours, brought into canonical form."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from exporter.files import write_draft
from exporter.lower._lengths import with_lengths
from exporter.lower._paddle2onnx import convert
from exporter.lower._scopes import with_own_names
from exporter.lower.base import Format, Wish
from exporter.lower.canonical.apply import Canonical, canonical_model, parsed
from exporter.lower.onnx_program.call import NeedsOpset
from exporter.lower.onnx_program.write import from_program
from exporter.readers.onnx import read_onnx
from exporter.trace.in_place import remembering_writes
from exporter.trace.legacy.onnx import convertible
from exporter.trace.legacy.onnx.constants import fold_constants
from exporter.trace.legacy.onnx.spectra import drop_pairs
from exporter.trace.legacy.onnx.supported import refuse_unsupported
from exporter.trace.legacy.onnx.untouched import untouched
from exporter.trace.structure import leaves
from exporter.trace.traced import Traced

#: The newest opset that paddle2onnx 2.1.0 knows well, and that every onnxruntime since 1.12 runs.
DEFAULT_OPSET = 17


class Onnx(Format):
    """One self-contained `model.onnx`; paddle2onnx may raise the opset, and the manifest records both."""

    #: Without it paddle2onnx's optimizer pip-installs packages while it converts (polygraphy, paddle2onnx 2.1.0).
    after = "pir"
    folds = True
    model = "model.onnx"

    def chosen(self, wish: Wish) -> Format:
        return FromProgram() if wish.writer == "program" else self

    def session(self, target: str | None) -> AbstractContextManager[None]:
        del target
        return _rewritten()

    def prepare(self, traced: Traced) -> None:
        """Store what no input decides and ONNX has no operator for."""
        concrete = traced.layer.forward.concrete_program
        drop_pairs(concrete.main_program, (value for _, value in leaves(concrete.outputs)))
        fold_constants(concrete.main_program)

    def takes(self, source: Path) -> bool:
        """Where tracing with the rewrites would give the same: the parts of paddle2onnx that need none of them."""
        return untouched((source / "model.json").read_bytes())

    def write(self, traced: Traced | None, source: Path | None, into: Path, wish: Wish) -> Mapping[str, Any]:
        assert source is not None  # noqa: S101  # `after` is pir, so the caller made it
        if traced is not None:
            refuse_unsupported(traced.layer.forward.concrete_program.main_program)
        asked = wish.opset or DEFAULT_OPSET
        target = into / self.model
        model = parsed(convert(source, asked))
        with_own_names(model)
        with_lengths(model)
        return _kept(target, canonical_model(model, wish.inputs), asked)

    def interface(self, folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
        facts = read_onnx(folder / self.model)
        return tuple(one.name for one in facts.inputs), tuple(one.name for one in facts.outputs)


class FromProgram(Onnx):
    """Straight from the program: nothing is traced anew, rewritten or mended, and paddle2onnx takes no part."""

    def session(self, target: str | None) -> AbstractContextManager[None]:
        del target
        return remembering_writes()

    def prepare(self, traced: Traced) -> None:
        del traced

    def takes(self, source: Path) -> bool:
        del source
        return True

    def write(self, traced: Traced | None, source: Path | None, into: Path, wish: Wish) -> Mapping[str, Any]:
        del traced
        assert source is not None  # noqa: S101  # `after` is pir, so the caller made it
        asked = wish.opset or DEFAULT_OPSET
        try:
            model, constants = from_program(source, asked, wish.inputs)
        except NeedsOpset as error:
            if wish.opset is not None:
                raise
            model, constants = from_program(source, error.opset, wish.inputs)
        details = _kept(into / self.model, canonical_model(model, wish.inputs, constants), asked)
        return {**details, "writer_asked": wish.writer}


@contextmanager
def _rewritten() -> Iterator[None]:
    with remembering_writes(), convertible():
        yield


def _kept(target: Path, made: Canonical, asked: int) -> dict[str, Any]:
    """Write the file; what it says of itself, for the manifest."""
    write_draft(target, made.content)
    return {
        "writer": made.writer,
        "opset_asked": asked,
        "opset": made.opset,
        "folded": dict(made.folded),
    }


plugin: Format = Onnx()

"""ONNX, by paddle2onnx from the PIR files."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, ClassVar

from exporter.errors import ModelError
from exporter.files import write_bytes
from exporter.lower.base import Format, Wish
from exporter.readers.onnx import read_onnx
from exporter.readers.pir import read_pir
from exporter.trace.legacy.onnx import REWRITES, convertible
from exporter.trace.traced import Traced

#: The newest opset that paddle2onnx 2.1.0 knows well, and that every onnxruntime since 1.12 runs.
DEFAULT_OPSET = 17


class Onnx(Format):
    """One self-contained `model.onnx`; paddle2onnx may raise the opset, and the manifest records both."""

    #: Without it paddle2onnx's optimizer pip-installs packages while it converts (polygraphy, paddle2onnx 2.1.0).
    environment: ClassVar = {"POLYGRAPHY_AUTOINSTALL_DEPS": "0"}
    after = "pir"
    folds = True
    model = "model.onnx"

    def session(self, target: str | None) -> AbstractContextManager[None]:
        return convertible()

    def takes(self, source: Path) -> bool:
        """Programs with operators that paddle2onnx refuses, aborts on or gets wrong are traced anew, without them."""
        return not set(read_pir(source / "model.json").operators) & set(REWRITES)

    def write(self, traced: Traced | None, source: Path | None, into: Path, wish: Wish) -> Mapping[str, Any]:
        assert source is not None  # noqa: S101  # `after` is pir, so the caller made it
        asked = wish.opset or DEFAULT_OPSET
        target = into / self.model
        write_bytes(target, _convert(source, asked))
        facts = read_onnx(target)
        return {"writer": facts.writer, "opset_asked": asked, "opset": facts.versions["opset"]}

    def interface(self, folder: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
        facts = read_onnx(folder / self.model)
        return tuple(one.name for one in facts.inputs), tuple(one.name for one in facts.outputs)


def _convert(source: Path, opset: int) -> bytes:
    """Return the bytes of the ONNX file; paddle2onnx logs its errors instead of raising them (2.1.0)."""
    import paddle2onnx

    said = _Collector()
    logging.getLogger().addHandler(said)
    try:
        content = paddle2onnx.export(
            os.fspath(source / "model.json"),
            os.fspath(source / "model.pdiparams"),
            opset_version=opset,
            auto_upgrade_opset=True,
            enable_onnx_checker=True,
            optimize_tool="None",
        )
    except (RuntimeError, ValueError, AssertionError, OSError, UnboundLocalError) as error:
        raise _refusal(said.text or str(error)) from error
    finally:
        logging.getLogger().removeHandler(said)
    if not isinstance(content, bytes) or not content:
        raise _refusal(said.text)
    return content


class _Collector(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.text = ""

    def emit(self, record: logging.LogRecord) -> None:
        self.text += record.getMessage() + "\n"


def _refusal(text: str) -> ModelError:
    operators = sorted(set(re.findall(r"(?:pd_op|cf|builtin)\.\w+", text)))
    named = f"operator {', '.join(operators)} has no conversion" if operators else text.strip().splitlines()[0][:300]
    return ModelError(
        f"paddle2onnx: {named}" if text.strip() else "paddle2onnx gave nothing and no reason",
        where="onnx",
        hint="leave onnx out of formats, or write that part of forward with other operators",
    )


plugin: Format = Onnx()

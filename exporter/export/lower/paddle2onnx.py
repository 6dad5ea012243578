"""paddle2onnx 2.1.0: how it is called, and how it says no."""

from __future__ import annotations

import logging
import os
import re
from pathlib import Path

from exporter.base.distribution import how_to_install
from exporter.base.errors import EnvironmentLacks, ModelError


def convert(source: Path, opset: int) -> bytes:
    """The bytes of an ONNX file from `model.json` and `model.pdiparams` in the folder `source`.

    It logs its errors instead of raising them, and leaves the interpreter after some.

    Raises:
        EnvironmentLacks: paddle2onnx is not installed.
        ModelError: paddle2onnx refuses the program. It may also take the process down.
    """
    try:
        import paddle2onnx
    except ImportError as error:
        raise EnvironmentLacks(
            f"paddle2onnx cannot be imported: {error}",
            where="writer: paddle2onnx",
            hint=f"{how_to_install('paddle2onnx')} (Python 3.13 has no wheel of it), or leave `writer` out of the spec",
        ) from error

    parameters = source / "model.pdiparams"
    said = _Collector()
    logging.getLogger().addHandler(said)
    try:
        content = paddle2onnx.export(
            os.fspath(source / "model.json"),
            os.fspath(parameters) if parameters.is_file() else "",
            opset_version=opset,
            auto_upgrade_opset=True,
            enable_onnx_checker=True,
            optimize_tool="None",  # others pip-install packages while they convert (polygraphy)
        )
    except (RuntimeError, ValueError, AssertionError, OSError, UnboundLocalError, SystemExit) as error:
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
        hint="take `writer: paddle2onnx` out of the spec, or leave onnx out of formats",
    )

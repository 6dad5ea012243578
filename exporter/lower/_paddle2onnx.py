"""paddle2onnx 2.1.0: what has to be done to its input, and how it says no."""

from __future__ import annotations

import json
import logging
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from exporter.errors import ModelError
from exporter.trace.legacy.onnx.supported import SUPPORTED

#: Attributes that it reads in float64; every other that is float64 it reads as float32, or not at all.
_STAYS_DOUBLE = ("value", "values")
#: They end like those that are: their first operand keeps its meaning.
_NOT_IN_PLACE = ("batch_norm_", "array_write_", "assign_out_", "share_data_")


def convert(source: Path, opset: int) -> bytes:
    """The bytes of an ONNX file from `model.json` and `model.pdiparams` in the folder `source`.

    Raises:
        ModelError: paddle2onnx refuses the program. It may also take the process down.
    """
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "model.json"
        program.write_bytes(readable((source / "model.json").read_bytes()))
        parameters = source / "model.pdiparams"
        return _convert(program, os.fspath(parameters) if parameters.is_file() else "", opset)


def readable(content: bytes) -> bytes:
    """The program as paddle2onnx understands it.

    Paddle 3.3 declares as float64 what was float32 before (`scale` of interpolation, the slope of leaky relu, the
    padding's value, epsilon of group norm). paddle2onnx then stops, or computes with memory that nobody set. What an
    operator in place gave is also what its first operand means from then on: ONNX knows values and no memory.
    """
    program = json.loads(content)
    _drop_assertions(program["program"])
    now: dict[int, int] = {}
    for operator in _operators(program["program"]):
        dialect, _, name = str(operator["#"]).partition(".")
        _follow(operator, now)
        if dialect == "1" and name.endswith("_") and name not in _NOT_IN_PLACE:
            now[operator["I"][0]["%"]] = operator["O"][0]["%"]
            if name not in SUPPORTED and name[:-1] in SUPPORTED:
                operator["#"] = f"{dialect}.{name[:-1]}"
        for attribute in operator["A"] if dialect == "1" else ():
            if attribute["N"] not in _STAYS_DOUBLE:
                _narrow(attribute["AT"])
            if attribute["N"] == "perm":
                _count_from_the_front(attribute["AT"]["D"])
    return json.dumps(program, separators=(",", ":")).encode()


def _count_from_the_front(axes: list[dict[str, Any]]) -> None:
    """ONNX knows no negative axis in a transposition, and the converter hands it on."""
    for one in axes:
        one["D"] %= len(axes)


def _drop_assertions(owner: dict[str, Any]) -> None:
    """They compute nothing, and ONNX has none."""
    for region in owner.get("regions", ()):
        for block in region["blocks"]:
            block["ops"] = [one for one in block["ops"] if one["#"] != "1.assert"]
            for operator in block["ops"]:
                _drop_assertions(operator)


def _follow(operator: dict[str, Any], now: dict[int, int]) -> None:
    for operand in operator.get("I", ()):
        while operand["%"] in now:
            operand["%"] = now[operand["%"]]


def _narrow(value: dict[str, Any]) -> None:
    if value["#"] == "0.a_f64":
        value["#"] = "0.a_f32"
    elif value["#"] == "0.a_array":
        for one in value["D"]:
            _narrow(one)


def _operators(owner: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for region in owner.get("regions", ()):
        for block in region["blocks"]:
            for operator in block["ops"]:
                yield operator
                yield from _operators(operator)


def _convert(program: Path, parameters: str, opset: int) -> bytes:
    """It logs its errors instead of raising them, and leaves the interpreter after some."""
    import paddle2onnx

    said = _Collector()
    logging.getLogger().addHandler(said)
    try:
        content = paddle2onnx.export(
            os.fspath(program),
            parameters,
            opset_version=opset,
            auto_upgrade_opset=True,
            enable_onnx_checker=True,
            optimize_tool="None",
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
        hint="leave onnx out of formats, or write that part of forward with other operators",
    )

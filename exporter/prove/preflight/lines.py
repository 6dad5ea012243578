"""The sublayer and the line of the user's code behind each tensor of a program, where that code is at hand."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from exporter.base.errors import ExporterError
from exporter.base.readers.program import read_operators
from exporter.engines.base import SourceModel
from exporter.process.workers import PADDLE, SINGLE_THREAD, Setting, call
from exporter.prove.root_cause.own.sound import PlacesRequest, computed, find_places, placed


def lines_of(source: SourceModel, program: Path, setting: Setting) -> Mapping[str, tuple[str, str]]:
    """Trace the source, and pair its operators with those of a `.json` program that was written from it.

    Tensors are called as in an ONNX file of ours, `%57` or by the name of an output, and `operator 12` after the number
    of the operator. Nothing where the source cannot be traced: what is looked for has been found all the same.
    """
    setting.say("tracing the model's code for its lines")
    try:
        request = PlacesRequest(source)
        answer = call(find_places, request, setting.limits, environment=SINGLE_THREAD, imports=PADDLE)
    except ExporterError:
        return {}
    block = read_operators(program)
    operators = list(computed(block))
    lines: dict[str, tuple[str, str]] = {}
    for index, place in placed(answer.places, operators).items():
        lines[f"operator {index}"] = (place.sublayer, place.line)
    for operator in operators:
        if (known := lines.get(f"operator {operator.index}")) is not None:
            lines |= {f"%{result.id}": known for result in operator.results}
    for operator in block.operators:
        if operator.name == "fetch" and (known := lines.get(f"%{operator.operands[0]}")) is not None:
            lines[str(operator.attributes["name"])] = known
    return lines

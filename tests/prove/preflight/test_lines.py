"""The user's line behind a tensor of a program, where the code can be traced."""

from __future__ import annotations

from pathlib import Path

from exporter.base.tensors import TensorSpec
from exporter.engines.base import SourceModel
from exporter.engines.consumers.program import Place, Program, SizedValue, with_lines
from exporter.process.workers import Setting
from exporter.prove.preflight.lines import lines_of
from exporter.prove.root_cause.own.sound import traced_anew

IMAGE = TensorSpec("image", "float32", ("batch", 1, 8, 8))


def source(model: str = "recipes.digits:build") -> SourceModel:
    return SourceModel(model, None, 3, (IMAGE,), ("output_0",), {})


def test_values_outputs_and_operators_have_the_line_that_calls_them(tmp_path: Path) -> None:
    traced_anew(source(), "pir", tmp_path)
    lines = lines_of(source(), tmp_path / "model.json", Setting())
    code = Path("recipes/digits.py").read_text().splitlines()
    layer, line = lines["output_0"]
    assert layer == "linear" and "self.linear(" in code[int(line.rpartition(":")[2]) - 1]
    norms = {layer for name, (layer, _) in lines.items() if name.startswith("operator ") and "norm" in layer}
    assert norms == {"norm1", "norm2"}
    told = [line for _, line in lines.values() if line]  # sizes of a pooling are made by C++, of no line
    assert len(told) > 10 and all(line.startswith("recipes/digits.py:") for line in told)


def test_where_the_code_cannot_be_traced_there_is_none(tmp_path: Path) -> None:
    traced_anew(source(), "pir", tmp_path)
    assert lines_of(source("recipes.digits:nothing"), tmp_path / "model.json", Setting()) == {}


def test_every_place_of_a_program_gets_its_line() -> None:
    at = Place("Relu", "%3")
    program = Program(frozenset(("onnx",)), (), operators={"Relu": [at]}, values=[SizedValue(at, (1,))], attention=at)
    told = with_lines(program, {"%3": ("head", "net.py:7")})
    assert (
        told.operators["Relu"][0] == told.values[0].place == told.attention == Place("Relu", "%3", "head", "net.py:7")
    )
    assert with_lines(program, {}) == program

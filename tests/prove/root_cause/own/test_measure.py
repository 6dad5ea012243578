"""A fault in a file of each format is the own error of the operator that holds it, and of no other."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest

from exporter.base.readers.program import read_operators
from exporter.base.tensors import TensorSpec, save
from exporter.engines.base import SourceModel
from exporter.export.lower.base import Wish
from exporter.export.lower.kinds.onnx import plugin as onnx_format
from exporter.process.workers import PADDLE, SINGLE_THREAD, Limits, call
from exporter.prove.root_cause.own.child import OwnAnswer, OwnRequest, measure
from exporter.prove.root_cause.own.sound import traced_anew
from exporter.prove.verdict.blame import OperatorError, darkest, first_wrong
from tests.faults import scale_tensor

IMAGE = TensorSpec("image", "float32", ("batch", 1, 8, 8))
SOURCE = SourceModel("recipes.digits:build", None, 3, (IMAGE,), ("output_0",), {})
ALLOWED = 16.0


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The digits in three formats, and one case."""
    folder = tmp_path_factory.mktemp("written")
    for form in ("pir", "pdmodel", "onnx"):
        (folder / form).mkdir()
    for form in ("pir", "pdmodel"):
        traced_anew(SOURCE, form, folder / form)
    onnx_format.write(None, folder / "pir", folder / "onnx", Wish(inputs=(IMAGE,)))
    image = np.random.default_rng(0).standard_normal((2, 1, 8, 8)).astype("float32")
    save(folder / "golden.safetensors", {"case/input/image": image})
    return folder


def measured(file: Path, golden: Path, **more: object) -> OwnAnswer:
    forms = {".json": "pir", ".pdmodel": "pdmodel", ".onnx": "onnx"}
    request = OwnRequest(file, forms[file.suffix], golden / "golden.safetensors", "case", **more)  # type: ignore[arg-type]
    return call(measure, request, Limits(), environment=SINGLE_THREAD, imports=PADDLE)


def copy(written: Path, form: str, to: Path) -> Path:
    for path in (written / form).iterdir():
        (to / path.name).write_bytes(path.read_bytes())
    return next(path for path in to.iterdir() if path.suffix in (".json", ".pdmodel", ".onnx"))


def wrong(operators: Sequence[OperatorError]) -> list[str]:
    return [operator.kind for operator in operators if operator.wrong(ALLOWED)]


@pytest.mark.parametrize("form", ["pir", "pdmodel"])
def test_a_scaled_tensor_is_its_operators_own_error_and_is_handed_on(written: Path, form: str, tmp_path: Path) -> None:
    file = copy(written, form, tmp_path)
    scale_tensor(tmp_path / "model.pdiparams", 3)
    operators = measured(file, written, source=SOURCE).operators
    assert wrong(operators) == ["batch_norm_"]
    dark = darkest(operators)
    assert dark is not None and dark == first_wrong(operators, ALLOWED)
    assert dark.line.partition(":")[0] == "recipes/digits.py" and dark.sublayer.endswith("norm1")
    after = operators[operators.index(dark) + 1]
    assert after.reads == (operators.index(dark),) and after.own is not None and after.own <= 1
    assert after.total is not None and after.total > ALLOWED


def test_a_sound_file_has_no_own_error(written: Path) -> None:
    operators = measured(written / "pir/model.json", written, source=SOURCE).operators
    assert len(operators) > 5 and wrong(operators) == []


def test_a_node_of_onnx_is_named_with_the_line_that_it_was_written_for(written: Path, tmp_path: Path) -> None:
    file = copy(written, "onnx", tmp_path)
    model = onnx.load(str(file))
    node = [node for node in model.graph.node if node.op_type == "MaxPool"][-1]
    node.op_type = "AveragePool"
    onnx.save(model, str(file))
    pir = written / "pir/model.json"
    operators = measured(file, written, source=SOURCE, program=pir).operators
    assert wrong(operators) == ["AveragePool"]
    dark = darkest(operators)
    assert dark is not None and dark.name == node.name and "digits.py:" in dark.line
    assert dark.values[0].removeprefix("%") in {str(one.results[0].id) for one in read_operators(pir).operators}
    alone = darkest(measured(file, written, program=pir).operators)
    assert alone is not None and alone.name == node.name and alone.line == ""


def test_an_operator_that_does_not_run_on_right_inputs_is_beyond_measure(written: Path, tmp_path: Path) -> None:
    file = copy(written, "pir", tmp_path)
    text = file.read_text()
    assert '"N":"strides"' in text
    first = text.index('"N":"strides"')
    start = text.rindex('"D":[', 0, first)
    file.write_text(text[:start] + text[start:first].replace('"D":1}', '"D":0}') + text[first:])
    operators = measured(file, written, source=SOURCE).operators
    dark = darkest(operators)
    assert dark is not None and dark.own == 1e18 and dark.kind in ("conv2d", "pool2d")


def test_a_file_of_another_model_says_why_nothing_is_known(written: Path, tmp_path: Path) -> None:
    file = copy(written, "onnx", tmp_path)
    model = onnx.load(str(file))
    for node in model.graph.node:
        node.input[:] = [name.replace("%", "v") for name in node.input]
        node.output[:] = [name.replace("%", "v") for name in node.output]
    for output in model.graph.output:
        output.name = "elsewhere"
    for node in model.graph.node:
        node.output[:] = ["elsewhere" if name == "output_0" else name for name in node.output]
    onnx.save(model, str(file))
    answer = measured(file, written, program=written / "pir/model.json")
    assert answer.operators == () and "names none of its values" in answer.why_not

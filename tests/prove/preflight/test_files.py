"""What files and the spec tell before anything runs: each that does not fit is named, with what to do."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from safetensors.numpy import save_file

from exporter.base.errors import BundleError, UsageError
from exporter.prove.preflight.files import foreign_format, refuse_files, refuse_waivers
from exporter.spec.model import Spec
from exporter.spec.read import validate
from tests.accepts import accepts

BATCH = {"batch": {"min": 1, "typical": 3, "max": 5}}
X = {"dtype": "float32", "shape": ["batch", 2]}


def described(**more: Any) -> Spec:
    plain = {"name": "n", "model": "m:f", "weights": "factory", "dims": BATCH, "inputs": {"x": X}}
    return validate({**plain, **more}, "test")


def stored(folder: Path, values: Any) -> Spec:
    """A spec whose input is read from a file that holds these values."""
    np.save(folder / "x.npy", values)
    return described(inputs={"x": {**X, "values": str(folder / "x.npy")}})


@pytest.mark.parametrize("shape", [(5, 2), (7, 2)])
def test_a_file_with_a_row_for_each_case_serves(shape: tuple[int, ...], tmp_path: Path) -> None:
    assert accepts(lambda: refuse_files(stored(tmp_path, np.zeros(shape, "float32"))))


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (np.zeros((5, 2)), "the file holds float64, the input 'x' is float32"),
        (np.zeros((4, 2), "float32"), r"the file holds \[4, 2\], the case batch=5 needs \[5, 2\] for 'x'"),
        (np.zeros((5, 3), "float32"), r"holds \[5, 3\], the case batch=3 needs \[3, 2\]"),
        (np.zeros((5, 2, 1), "float32"), r"holds \[5, 2, 1\]"),
        (np.zeros(5, "float32"), r"holds \[5\]"),
    ],
)
def test_a_file_of_an_input_that_does_not_fit_is_refused(values: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=said) as refusal:
        refuse_files(stored(tmp_path, values))
    assert refusal.value.where == str(tmp_path / "x.npy")


def test_a_scalar_is_stored_as_one(tmp_path: Path) -> None:
    np.save(tmp_path / "s.npy", np.zeros((), "float32"))
    assert accepts(
        lambda: refuse_files(
            described(inputs={"x": X, "s": {"dtype": "float32", "shape": [], "values": str(tmp_path / "s.npy")}})
        )
    )


def test_files_that_the_model_depends_on_are_there(tmp_path: Path) -> None:
    (tmp_path / "data/deep").mkdir(parents=True)
    (tmp_path / "data/deep/words.txt").touch()
    refuse_files(described(depends=[f"{tmp_path}/data/**/*.txt"]))
    with pytest.raises(UsageError, match=r"\*.csv' names no file") as refusal:
        refuse_files(described(depends=[f"{tmp_path}/data/**/*.txt", f"{tmp_path}/data/**/*.csv"]))
    assert refusal.value.where == "depends"


def calibrated(folder: Path, tensors: Mapping[str, Any], samples: int = 4) -> Spec:
    """A spec whose int8 is calibrated with these tensors."""
    file = folder / "rows.safetensors"
    save_file(dict(tensors), file)
    precisions = {"fp32": {}, "int8": {"data": str(file), "samples": samples}}
    return described(precisions=precisions, formats=["onnx"], engines=["onnxruntime"])


def test_as_many_samples_as_are_asked_for_serve(tmp_path: Path) -> None:
    assert accepts(lambda: refuse_files(calibrated(tmp_path, {"x": np.zeros((4, 2), "float32")})))


@pytest.mark.parametrize(
    ("tensors", "said", "hint"),
    [
        ({"y": np.zeros((4, 2), "float32")}, "it has no rows for 'x'", "one of: y"),
        ({"x": np.zeros((3, 2), "float32")}, "it has 3 rows for 'x', and 4 samples are asked for", "store more"),
        ({"x": np.zeros((), "float32")}, "it has 0 rows for 'x'", "store more"),
    ],
)
def test_calibration_samples_that_do_not_suffice_are_refused(
    tensors: Mapping[str, Any], said: str, hint: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=said) as refusal:
        refuse_files(calibrated(tmp_path, tensors))
    assert refusal.value.where == f"precisions.int8.data: {tmp_path}/rows.safetensors" and hint in refusal.value.hint


def test_calibration_samples_that_cannot_be_read_are_the_user_s(tmp_path: Path) -> None:
    spec = calibrated(tmp_path, {"x": np.zeros((4, 2), "float32")})
    (tmp_path / "rows.safetensors").write_bytes(b"no tensors")
    with pytest.raises(UsageError) as refusal:
        refuse_files(spec)
    assert refusal.value.where.startswith("precisions.int8.data: ") and refusal.value.hint
    (tmp_path / "rows.safetensors").unlink()
    with pytest.raises(UsageError, match="no such file of calibration samples"):
        refuse_files(spec)


def waived(claim: str) -> Spec:
    waiver = {"claim": claim, "reason": "known and accepted", "until": str(date.max)}
    return described(formats=["pir", "onnx"], precisions={"fp32": {}, "fp16": {"formats": ["onnx"]}}, waivers=[waiver])


@pytest.mark.parametrize(
    "claim", ["pir/outputs", "onnx-fp16/*", "source/static", "o*/outputs", "?ir/outputs", "[po]*/x", "onnx", "*"]
)
def test_a_waiver_that_names_a_variant_or_leaves_it_open_stands(claim: str) -> None:
    assert accepts(lambda: refuse_waivers(waived(claim)))


@pytest.mark.parametrize(
    ("claim", "hint"),
    [
        ("pdmodel/outputs", "one of: "),
        ("pir-fp16/*", "one of: pir, onnx, onnx-fp16, source"),
        ("onxx/weights", "'onnx'"),
    ],
)
def test_a_waiver_of_what_is_not_released_names_nothing(claim: str, hint: str) -> None:
    with pytest.raises(UsageError, match=f"the waiver '{claim.replace('*', '.')}' names no claim") as refusal:
        refuse_waivers(waived(claim))
    assert refusal.value.where == "waivers" and hint in refusal.value.hint


def test_a_waiver_may_name_a_candidate() -> None:
    waiver = {"claim": "theirs/outputs", "reason": "known and accepted", "until": str(date.max)}
    assert accepts(
        lambda: refuse_waivers(described(candidates=[{"name": "theirs", "file": "their.onnx"}], waivers=[waiver]))
    )


def written(file: Path, inputs: int = 1, outputs: int = 1) -> Path:
    """An ONNX file with so many inputs and outputs."""
    takes, gives = ([f"{kind}{at}" for at in range(count)] for kind, count in (("x", inputs), ("y", outputs)))
    nodes = [onnx.helper.make_node("Sum", takes, [name]) for name in gives]
    values = [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [None, 2]) for name in (*takes, *gives)]
    graph = onnx.helper.make_graph(nodes, "g", values[:inputs], values[inputs:])
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)]), file)
    return file


def test_a_file_of_another_tool_is_counted_before_anything_runs(tmp_path: Path) -> None:
    file = written(tmp_path / "their.onnx")
    assert foreign_format(described(), file, "--artifact") == "onnx"
    assert foreign_format(described(outputs=["y"]), file, "--artifact") == "onnx"
    refuse_files(described(candidates=[{"name": "theirs", "file": str(file)}]))


@pytest.mark.parametrize(
    ("inputs", "outputs", "said"),
    [(2, 1, "it has 2 inputs, and the model 1"), (1, 2, "it has 2 outputs, and the model 1")],
)
def test_a_file_of_another_tool_with_other_inputs_or_outputs_is_refused(
    inputs: int, outputs: int, said: str, tmp_path: Path
) -> None:
    file = written(tmp_path / "their.onnx", inputs, outputs)
    spec = described(outputs=["y"], candidates=[{"name": "theirs", "file": str(file)}])
    with pytest.raises(UsageError, match=said) as refusal:
        refuse_files(spec)
    assert refusal.value.where == str(file)


def test_a_damaged_candidate_is_refused(tmp_path: Path) -> None:
    (tmp_path / "their.onnx").write_bytes(b"no model")
    with pytest.raises(BundleError):
        refuse_files(described(candidates=[{"name": "theirs", "file": str(tmp_path / "their.onnx")}]))
    with pytest.raises(UsageError, match="no such file") as refusal:
        refuse_files(described(candidates=[{"name": "theirs", "file": str(tmp_path / "none.onnx")}]))
    assert refusal.value.where.startswith("candidates ")

"""The dtype that a program declares of each value is held against the one that its kernel gives."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import paddle
import pytest

from exporter.base.tensors import TensorSpec
from exporter.export.lower.base import Artifact, Wish
from exporter.export.lower.convert import Conversion
from exporter.export.lower.kinds.pir import plugin as pir
from exporter.export.trace.fixes import fixes_in_force
from exporter.export.trace.layer import load_layer
from exporter.export.trace.traced import trace
from exporter.process.workers import Setting
from exporter.prove.preflight import declared
from exporter.prove.preflight.cases import observed, trial
from exporter.prove.preflight.declared import OtherDtype, WrittenProgram, compare_dtypes, convert_and_compare
from exporter.spec.model import Spec
from exporter.spec.source import FACTORY
from tests.command import ROOT


class Halved(paddle.nn.Layer):
    """Compute in bfloat16, which a predictor gives as its bits."""

    def forward(self, x: Any) -> Any:
        return (x.astype("bfloat16") * 2).astype("float32")


@pytest.fixture(autouse=True)
def where_the_models_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)


def described(model: str = "tests.models.counted:Counted", **more: Any) -> Spec:
    plain = {
        "name": "counted",
        "model": model,
        "weights": "factory",
        "inputs": {"x": {"dtype": "float32", "shape": ["batch", 4]}},
        "dims": {"batch": {"min": 1, "typical": 2, "max": 4}},
        "formats": ["pir"],
    }
    return Spec.model_validate({**plain, **more})


def written(spec: Spec, into: Path, without: tuple[str, ...]) -> Spec:
    """Write a spec's layer, without some of the fixes of Paddle."""
    with fixes_in_force("pir", without), pir.session(None):
        traced = trace(load_layer(spec.factory, None, 0), spec.input_specs(), None, {})
        pir.write(traced, None, into, Wish())
    return spec


@pytest.mark.parametrize(("without", "operators"), [((), set()), (("declared",), {"unique"})])
def test_an_operator_that_is_declared_otherwise_is_named(
    without: tuple[str, ...], operators: set[str], tmp_path: Path
) -> None:
    others = compare_dtypes(WrittenProgram(tmp_path, written(described(), tmp_path, without))).others
    assert {other.operator for other in others} == operators
    assert {(other.declared, other.computed) for other in others} <= {("float32", "int64")}


def test_numbers_of_which_only_bits_are_seen_are_not_compared(tmp_path: Path) -> None:
    spec = written(described(f"{__name__}:Halved"), tmp_path, ())
    assert compare_dtypes(WrittenProgram(tmp_path, spec)).others == ()


def test_a_program_of_many_bytes_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = WrittenProgram(tmp_path, written(described(), tmp_path, ("declared",)))
    size = 4 * 4 + (tmp_path / "model.pdiparams").stat().st_size  # one row, at the smallest promised size
    assert declared._MOST_BYTES == 2**26
    monkeypatch.setattr(declared, "_MOST_BYTES", size)
    assert compare_dtypes(program).others
    monkeypatch.setattr(declared, "_MOST_BYTES", size - 1)
    assert not compare_dtypes(program).others
    (tmp_path / "model.pdiparams").unlink()
    monkeypatch.setattr(declared, "_MOST_BYTES", 4 * 4)
    assert compare_dtypes(program).others, "without parameters the inputs are all"


@pytest.fixture
def unmended(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the place of a conversion, one without the fix that declares what kernels give."""

    def convert(spec: Spec, _checkpoint: Path | None, into: Path, *_: object) -> Conversion:
        (into / "pir").mkdir()
        written(described() if spec.model == FACTORY else spec, into / "pir", ("declared",))
        names = ("pir/model.json",)
        made = Artifact("pir", "fp32", names, ("x",), ("y",), ("y",), {"writer": "paddle"})
        derived = replace(made, format="onnx", files=("onnx/model.onnx",))
        return Conversion((made, derived), (TensorSpec("y", "float32", (-1,)),), {})

    monkeypatch.setattr(declared, "convert_all", convert)


@pytest.mark.usefixtures("unmended")
def test_what_is_declared_otherwise_stands_in_the_details_of_the_program_and_is_said(tmp_path: Path) -> None:
    spec, heard = described(), list[str]()
    setting = Setting(say=heard.append)
    program, derived = convert_and_compare(spec, None, tmp_path, setting, None, trial(spec)).artifacts
    (told,) = program.details["declared_otherwise"]
    assert told.startswith("operator unique (number ")
    assert told.endswith(") is declared float32, and its kernel gives int64")
    assert program.details == {**derived.details, "declared_otherwise": [told]}
    assert derived.details == {"writer": "paddle"}
    assert heard == [f"pir: {told}"]


def test_where_all_is_as_declared_nothing_is_added(tmp_path: Path) -> None:
    heard = list[str]()
    converted = convert_and_compare(described(), None, tmp_path, Setting(say=heard.append), None, trial(described()))
    assert converted.artifacts and not any("declared_otherwise" in made.details for made in converted.artifacts)
    assert not any("is declared" in text for text in heard)


@pytest.mark.usefixtures("unmended")
@pytest.mark.parametrize("why", ["eager was not run", "a file", "no such format"])
def test_dtypes_are_not_compared_of_what_eager_says_nothing(why: str, tmp_path: Path) -> None:
    spec = described(model=FACTORY if why == "a file" else "tests.models.counted:Counted")
    spec = spec.model_copy(update={"formats": ("onnx",)}) if why == "no such format" else spec
    tried = None if why == "eager was not run" else observed(spec)
    for artifact in convert_and_compare(spec, None, tmp_path, Setting(), None, tried).artifacts:
        assert artifact.details == {"writer": "paddle"}


def test_a_program_that_does_not_run_is_the_engines_to_judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = Conversion((Artifact("pir", "fp32", ("pir/model.json",), ("x",), ("y",), ("y",)),), (), {})
    monkeypatch.setattr(declared, "convert_all", lambda *_: made)
    (tmp_path / "pir").mkdir()
    (tmp_path / "pir/model.json").write_text("{}")
    assert convert_and_compare(described(), None, tmp_path, Setting(), None, trial(described())) == made


def test_an_operator_is_told_by_its_number() -> None:
    assert str(OtherDtype("unique", 3, "float32", "int64")) == (
        "operator unique (number 3) is declared float32, and its kernel gives int64"
    )

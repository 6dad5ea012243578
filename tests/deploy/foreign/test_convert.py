"""What a converter is told: the inputs in the order of the bundle, with the sizes that they are fixed to."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import pytest

from exporter.base.errors import ModelError, UsageError
from exporter.bundle.open import open_bundle
from exporter.deploy.foreign.runtime import ForeignRuntime
from exporter.deploy.handoff.base import Chosen, OnDevice
from exporter.deploy.handoff.write import TARGETS
from exporter.process.workers import Limits
from tests.command import STORED

#: A converter that writes down what it was told, beside a copy of what it was given.
WRITES_IT_DOWN = """
import json, pathlib, shutil, sys
onnx, into = map(pathlib.Path, sys.argv[2:])
shutil.copyfile(into / "how.json", into / "told.json")
print(json.dumps({"main": "told.json"}))
"""


def runtime(name: str) -> ForeignRuntime:
    target = TARGETS[name]
    assert isinstance(target, ForeignRuntime)
    return target


def chosen(device: OnDevice | None = None) -> Chosen:
    return Chosen(open_bundle(STORED), "onnx", device=device or OnDevice())


def test_a_converter_is_told_of_each_input_in_the_bundles_order(tmp_path: Path) -> None:
    (tmp_path / "run.py").write_text(WRITES_IT_DOWN)
    (tmp_path / "engine.py").touch()
    target = runtime("onnxruntime_mobile")
    program = target.command(tmp_path, chosen(), Limits(60))
    cases = [
        {"inputs": [{"native": name, "shape": [1, size], "dtype": "float32"} for name, size in (("b", 2), ("a", 3))]}
    ]
    made, main = target._converted(
        program, STORED / "onnx/model.onnx", tmp_path / "model", target.planned(chosen()), cases
    )  # type: ignore[arg-type]
    told = json.loads(made[main])
    assert told["shapes"] == [["b", [1, 2], "float32"], ["a", [1, 3], "float32"]]
    assert (told["precision"], told["sizes"]) == ("fp32", {})


@pytest.mark.parametrize(("name", "sizes"), [("ncnn", {"batch": 1}), ("litert", {"batch": 1}), ("mnn", None)])
def test_a_runtime_of_one_size_is_asked_for_the_smallest_promised_one(name: str, sizes: dict[str, int] | None) -> None:
    plan = runtime(name).planned(chosen())
    assert plan.wanted.sizes == sizes and plan.precision == "fp32"
    assert plan.partial == ("only the sizes batch=1" if sizes else "")


def test_a_size_that_was_asked_for_is_taken() -> None:
    assert runtime("ncnn").planned(chosen(OnDevice(sizes={"batch": 3}))).wanted.sizes == {"batch": 3}


def test_a_precision_that_a_runtime_does_not_make_is_refused() -> None:
    assert runtime("mnn").planned(chosen(OnDevice(precision="int8"))).precision == "int8"
    with pytest.raises(UsageError, match="ncnn does not make int8 of the variant onnx"):
        runtime("ncnn").planned(chosen(OnDevice(precision="int8")))


def test_a_converter_that_refuses_is_told_with_its_last_words(tmp_path: Path) -> None:
    target = runtime("onnxruntime_mobile")
    for name, content in target.programs(chosen()).items():
        assert isinstance(content, bytes)
        (tmp_path / name).write_bytes(content)
    (tmp_path / "model").mkdir()
    shutil.copyfile(__file__, tmp_path / "model.onnx")
    (tmp_path / "model/how.json").write_text('{"precision": "fp32", "shapes": []}')
    program = target.command(tmp_path, chosen(OnDevice(using=Path(sys.executable))), Limits(60))
    with pytest.raises(ModelError, match=r"fails where it converts the model: .*INVALID_PROTOBUF") as caught:
        program.converted(tmp_path / "model.onnx", tmp_path / "model")
    assert "Traceback" not in str(caught.value)

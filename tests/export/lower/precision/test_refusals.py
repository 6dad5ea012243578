"""Every route that does not work is refused with its reason, before any work starts."""

from __future__ import annotations

from typing import Any

import pytest

from exporter.base.errors import UsageError
from exporter.export.lower.convert import refuse_precisions
from exporter.export.lower.precision.refused import REFUSED
from exporter.prove.goldens.calibrate import refuse_noise
from exporter.spec.model import Spec
from exporter.spec.read import validate


def spec(precisions: Any, values: str = "normal", formats: tuple[str, ...] = ("onnx", "pdmodel", "pir")) -> Spec:
    content = {
        "name": "net",
        "model": "models.sound:build",
        "weights": "factory",
        "inputs": {"x": {"dtype": "float32", "shape": ["batch", 4], "values": values}},
        "dims": {"batch": {"min": 1, "typical": 2, "max": 4}},
        "formats": list(formats),
        "precisions": precisions,
    }
    return validate(content, "here")


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_what_no_file_makes_is_refused_with_what_was_measured(name: str) -> None:
    with pytest.raises(UsageError, match=f"'{name}' is refused: ") as caught:
        refuse_precisions(spec({"fp32": {}, name: {}}))
    assert REFUSED[name] in caught.value.what


def test_int8_of_pir_is_refused_and_the_formats_that_work_are_named() -> None:
    with pytest.raises(UsageError, match=r"pir cannot be int8: .*garbage") as caught:
        refuse_precisions(spec(["fp32", "int8"]))
    assert "formats: [onnx, pdmodel]" in caught.value.hint
    refuse_precisions(spec({"fp32": {}, "int8": {"formats": ["onnx", "pdmodel"]}}))


def test_a_precision_that_nobody_knows_is_told_the_nearest() -> None:
    with pytest.raises(UsageError, match="unknown precision 'int9'") as caught:
        refuse_precisions(spec(["fp32", "int9"]))
    assert "int8" in caught.value.hint


def test_a_key_that_means_nothing_to_a_precision_is_refused() -> None:
    with pytest.raises(UsageError, match="'method' means nothing to fp16"):
        refuse_precisions(spec({"fp32": {}, "fp16": {"method": "entropy"}}, formats=("onnx",)))


def test_the_cpu_is_any_or_one_with_vnni_and_means_nothing_to_fp16() -> None:
    read = spec({"fp32": {}, "int8": {"cpu": "vnni"}}, formats=("onnx",))
    refuse_precisions(read)
    assert spec(["fp32", "int8"], formats=("onnx",)).precisions["int8"].cpu == "any"
    assert read.model_dump(mode="json")["precisions"]["int8"]["cpu"] == "vnni"
    with pytest.raises(UsageError, match="none of any, vnni"):
        spec({"fp32": {}, "int8": {"cpu": "avx2"}})
    with pytest.raises(UsageError, match="'cpu' means nothing to fp16"):
        refuse_precisions(spec({"fp32": {}, "fp16": {"cpu": "vnni"}}, formats=("onnx",)))


def test_noise_calibrates_nothing_unless_the_spec_says_so() -> None:
    with pytest.raises(UsageError, match="no samples to be calibrated with: input 'x' is filled with normal") as caught:
        refuse_noise(spec(["fp32", "int8"], formats=("onnx",)))
    assert "noise: true" in caught.value.hint
    for settings in ({"noise": True}, {"data": "rows.safetensors"}):
        refuse_noise(spec({"fp32": {}, "int8": settings}, formats=("onnx",)))
    refuse_noise(spec(["fp32", "int8"], values="rows.npy", formats=("onnx",)))

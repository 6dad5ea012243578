"""The digits in int8 through the command line: released within their budgets, and refused where calibrated badly."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from tests.command import exporter

SPEC = "specs/digits-int8.yaml"


@pytest.fixture(scope="module")
def workplace(released: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working folder in which the digits are trained already."""
    place = tmp_path_factory.mktemp("int8") / "work"
    shutil.copytree(released, place, ignore=shutil.ignore_patterns("artifacts"))
    return place


def budgets(bundle: Path) -> dict[str, Any]:
    checks = json.loads((bundle / "parity.json").read_text())["checks"]
    low = [one for one in checks if one["precision"] == "int8"]
    return {
        f"{one['format']}/{one['output']}": one for one in low if one["case"] == "budget" or one["engine"] == "size"
    }


def test_both_formats_keep_every_promise(workplace: Path) -> None:
    done = exporter("release", SPEC, "--json", cwd=workplace)
    assert done.code == 0, done.out + done.err
    found = budgets(workplace / "artifacts/digits-int8/1.0.0")
    kinds = ("snr_db:logits", "top1:logits", "metric", "bytes")
    assert set(found) == {f"{format}/{kind}" for format in ("onnx", "pdmodel") for kind in kinds}
    assert {one["outcome"] for one in found.values()} == {"match"}
    again = exporter("verify", "artifacts/digits-int8/1.0.0", cwd=workplace)
    assert again.code == 0, again.out + again.err


def calibration(workplace: Path, images: Any) -> str:
    save_file({"image": images.astype("float32")}, workplace / "bad.safetensors")
    return "precisions.int8.data=bad.safetensors"


def fails(workplace: Path, override: str) -> None:
    done = exporter("release", SPEC, "--json", "--set", override, cwd=workplace)
    assert done.code == 1, done.out + done.err
    found = budgets(workplace / "artifacts/digits-int8/failed")
    wrong = [one for one in found.values() if one["outcome"] == "mismatch" and one["output"] == "snr_db:logits"]
    assert {one["format"] for one in wrong} == {"onnx", "pdmodel"}
    assert all("the layer that suffers most is " in one["reason"] for one in wrong)


def images() -> Any:
    from sklearn.datasets import load_digits

    return load_digits().images[:128, None] / 16


def test_a_calibration_with_zeros_fails_and_names_the_layer(workplace: Path) -> None:
    fails(workplace, calibration(workplace, np.zeros((128, 1, 8, 8))))


@pytest.mark.slow
def test_a_calibration_with_one_image_fails_and_names_the_layer(workplace: Path) -> None:
    fails(workplace, calibration(workplace, np.repeat(images()[:1], 128, axis=0)))


@pytest.mark.slow
@pytest.mark.parametrize("factor", [16.0, 1 / 255])
def test_a_calibration_with_the_wrong_normalisation_fails_and_names_the_layer(workplace: Path, factor: float) -> None:
    fails(workplace, calibration(workplace, images() * factor))

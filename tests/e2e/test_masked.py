"""A network with masks of -inf passes the gate in every format and precision, and faults in it are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import exporter
from tests.conftest import working_folder

SPEC = """
name: masked
version: 1.0.0
model: models.masked:Svtr
recipe: recipes.masked:recipe
inputs:
  image: {dtype: float32, shape: [batch, 1, 8, 8], values: dataset}
dims:
  batch: {min: 1, typical: 4, max: 8}
formats: [pir, pdmodel, onnx]
precisions:
  fp32:
  fp16: {formats: [onnx]}
  int8: {formats: [onnx], samples: 64, budget: {min_snr_db: 5, min_top1: 0.5, max_metric_loss: 0.3, max_size: 0.9}}
"""
RECIPE = """
from dataclasses import replace

from models.masked import Svtr
from recipes import digits

recipe = replace(digits.recipe, build=Svtr, epochs=2, floor=None)
"""


@pytest.fixture(scope="module")
def masked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the network was trained and released."""
    place = working_folder(tmp_path_factory.mktemp("masked") / "work")
    (place / "net.yaml").write_text(SPEC)
    (place / "recipes/masked.py").write_text(RECIPE)
    done = exporter("release", "net.yaml", "--json", cwd=place)
    assert done.code == 0, done.out + done.err
    assert set(done.json()["variants"]) == {"pir", "pdmodel", "onnx", "onnx-fp16", "onnx-int8"}
    return place


@pytest.mark.slow
def test_it_is_verified_and_differs_in_nothing_from_itself(masked: Path) -> None:
    done = exporter("verify", "artifacts/masked/1.0.0", "--source", ".", "--json", cwd=masked)
    assert done.code == 0, done.out + done.err
    assert {one["outcome"] for one in done.json()["checks"]} == {"match"}
    assert exporter("diff", *["artifacts/masked/1.0.0"] * 2, "--json", cwd=masked).code == 0


@pytest.mark.slow
def test_no_fault_in_it_survives(masked: Path) -> None:
    done = exporter("drill", "artifacts/masked/1.0.0", "--source", ".", "--json", cwd=masked)
    assert done.code == 0 and done.json()["survived"] == [], done.out + done.err

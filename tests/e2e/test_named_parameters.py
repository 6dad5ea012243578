"""A network whose parameters have names of their own goes the whole way, though many steps build it more than once."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.command import exporter
from tests.conftest import working_folder
from tests.faults import copied, reseal, scale_tensor

SPEC = """
name: named
version: 1.0.0
model: models.named:Res2Net
recipe: recipes.named:recipe
inputs:
  image: {dtype: float32, shape: [batch, 1, 8, 8], values: dataset}
dims:
  batch: {min: 1, typical: 4, max: 8}
"""
RECIPE = """
from dataclasses import replace

from models.named import Res2Net
from recipes import digits

recipe = replace(digits.recipe, build=Res2Net, epochs=1, floor=None)
"""
INT8_ENGINES = "engines=[paddle_inference, paddle_inference_int8, onnxruntime]"
LOOSE = "{samples: 128, budget: {min_snr_db: 3, min_top1: 0.5, max_metric_loss: 0.5}}"


@pytest.fixture(scope="module")
def named(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the network was trained and released."""
    place = working_folder(tmp_path_factory.mktemp("named") / "work")
    (place / "net.yaml").write_text(SPEC)
    (place / "recipes/named.py").write_text(RECIPE)
    done = exporter("release", "net.yaml", "--json", cwd=place)
    assert done.code == 0, done.out + done.err
    return place


@pytest.mark.slow
def test_it_is_trained_released_and_verified_in_every_number_of_threads(named: Path) -> None:
    done = exporter("verify", "artifacts/named/1.0.0", "--source", ".", "--json", cwd=named)
    assert done.code == 0, done.out + done.err
    checks = done.json()["checks"]
    assert {one["outcome"] for one in checks} == {"match"}
    assert {one["engine"] for one in checks if "threads=2" in one["case"]} >= {"eager", "static", "jit_load"}


def test_a_fault_in_it_is_brought_down_to_its_sublayer(named: Path) -> None:
    bundle = copied(named / "artifacts/named/1.0.0", named / "faulty")
    scale_tensor(bundle / "pir/model.pdiparams", 3)  # by name: bn_conv1_mean, _offset, _scale, _variance
    reseal(bundle)
    narrow = ("--engines", "jit_load", "--case", "batch=1", "--source", ".")
    done = exporter("verify", bundle, *narrow, "--json", cwd=named)
    assert done.code == 1, done.out + done.err
    assert [(one["path"], one["class"]) for one in done.json()["blame"]] == [("stem.norm", "BatchNorm")]


@pytest.mark.slow
def test_no_fault_in_it_survives(named: Path) -> None:
    done = exporter("drill", "artifacts/named/1.0.0", "--json", cwd=named)
    assert done.code == 0 and done.json()["survived"] == [], done.out + done.err


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        ("prune={flops: 0.7, epochs: 1}",),
        ("formats=[pdmodel, onnx]", INT8_ENGINES, f"precisions={{fp32: , int8: {LOOSE}}}"),
    ],
    ids=["pruned", "int8"],
)
def test_it_is_pruned_and_quantised(named: Path, settings: tuple[str, ...]) -> None:
    options = [part for key in (*settings, "name=smaller") for part in ("--set", key)]
    done = exporter("release", "net.yaml", "--json", *options, cwd=named)
    assert done.code == 0, done.out + done.err

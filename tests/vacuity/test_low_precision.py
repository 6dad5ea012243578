"""Passes of low precision that were hollow: answers that do not depend on the input keep a share, and prove nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from exporter.base.errors import ExitCode
from tests.command import Done, environment, exporter
from tests.sampling import some

MISTREATING = Path(__file__).parent / "mistreating"
SHARE = 0.8


def release(workplace: Path, precision: str, way: str, budget: dict[str, Any]) -> Done:
    """Release the labels in fp32 and one lower precision; `way` is what ONNX Runtime does to the latter."""
    spec = {
        "name": "labels",
        "version": "1",
        "model": "models.skewed:Skewed",
        "weights": "factory",
        "inputs": {"x": {"dtype": "float32", "shape": ["batch", 16]}},
        "dims": {"batch": {"min": 1, "typical": 64, "max": 128}},
        "outputs": ["label"],
        "formats": ["onnx"],
        "engines": ["onnxruntime"],
        "device": "cpu",
        "precisions": {"fp32": None, precision: {"noise": True, "budget": {"max_size": 10, **budget}}},
    }
    if precision == "fp16":
        del spec["precisions"]["fp16"]["noise"]
    (workplace / "labels.yaml").write_text(json.dumps(spec))
    env = environment(PYTHONPATH=str(MISTREATING), EXPORTER_TEST_MISTREAT=way)
    return exporter("release", "labels.yaml", "--json", cwd=workplace, env=env)


@pytest.mark.parametrize("precision", some(["int8", "fp16"], 2))
def test_the_commonest_label_for_every_row_keeps_the_share_and_proves_nothing(workplace: Path, precision: str) -> None:
    done = release(workplace, precision, "commonest in low precision", {"min_top1": SHARE})
    assert done.code == ExitCode.REFUSED, done.out + done.err
    report = json.loads((workplace / "artifacts/labels/failed/parity.json").read_bytes())
    (answers,) = (check for check in report["checks"] if check["kind"] == "top1")
    assert answers["precision"] == precision and answers["outcome"] == "vacuous"
    assert "the commonest answer for every row would agree" in answers["reason"]


def test_a_share_that_no_impostor_reaches_is_a_promise(workplace: Path) -> None:
    done = release(workplace, "fp16", "nothing", {"min_top1": 0.99})
    assert done.code == 0, done.out + done.err


@pytest.mark.parametrize("precision", some(["int8", "fp16"], 2))
def test_a_promise_of_noise_without_a_float_output_is_not_kept(workplace: Path, precision: str) -> None:
    """There is nothing to measure it on, so it would be planned nowhere and vanish."""
    done = release(workplace, precision, "nothing", {"min_top1": 0.99, "min_snr_db": 20})
    assert done.code == ExitCode.REFUSED, done.out + done.err
    report = json.loads((workplace / "artifacts/labels/failed/parity.json").read_bytes())
    (noise,) = (check for check in report["checks"] if check["kind"] == "snr_db")
    assert noise["outcome"] == "missing" and "no output of floats" in noise["reason"]

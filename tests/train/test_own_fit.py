"""A recipe's own loop, by `paddle.Model.fit` and by a plain script, in real children."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from exporter.base.tensors import load, load_with_metadata
from exporter.export import trained_ranges
from exporter.train import run
from exporter.train.run import TrainRequest
from tests.command import exporter
from tests.sampling import slow

CLI = [sys.executable, "-c", "from exporter.cli import main; main()"]
FITS = ("model_fit", "script")


def of(fit: str) -> str:
    return f"tests.train.own_fits:{fit}"


def until_interrupted(fit: str, folder: Path) -> str:
    """Train, send SIGINT in the second epoch, and return what was said."""
    with subprocess.Popen([*CLI, "train", of(fit), "--out", str(folder)], stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = ""
        while "epoch 1/3  loss" not in said:
            line = process.stderr.readline()
            assert line, f"it ended early: {said}"
            said += line
        process.send_signal(signal.SIGINT)
        said += process.stderr.read()
    assert process.returncode == 130, said
    return said


@pytest.fixture(scope="module", params=FITS)
def whole(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """The loop's name, and the run of it that nobody disturbed."""
    folder = tmp_path_factory.mktemp(request.param) / "whole"
    run.train(TrainRequest(of(request.param), folder))
    return request.param, folder


def test_an_interrupted_loop_goes_on_to_the_bytes_of_an_undisturbed_one(
    whole: tuple[str, Path], tmp_path: Path
) -> None:
    fit, folder = whole
    stopped = tmp_path / "stopped"
    said = until_interrupted(fit, stopped)
    assert "fit is not rehearsed" in said and "saved; the same command with --resume" in said
    _, about = load_with_metadata(stopped / "last.safetensors")
    position = json.loads(about["position"])
    assert [row["epoch"] for row in position["history"]] == [1]
    assert fit == "script" or not position.get("extra"), "an epoch of Model.fit begins again"
    run.train(TrainRequest(of(fit), stopped), resume=True)
    names = {"best.safetensors", "last.safetensors", "loss.png", "metrics.jsonl", "run.json"}
    assert {path.name for path in stopped.iterdir()} == names
    assert not [name for name in names if (stopped / name).read_bytes() != (folder / name).read_bytes()]
    assert load(folder / "best.safetensors")["conv1.weight"].shape == (16, 1, 3, 3)


SPEC = """
name: stripes
version: 1.0.0
model: own_fits:Stripes
recipe: own_fits:{fit}
prune: {{flops: 0.7, multiple_of: 2, epochs: 1}}
inputs:
  image: {{dtype: float32, shape: [batch, 1, 8, 8], values: dataset}}
dims:
  batch: {{min: 1, typical: 4, max: 8}}
outputs: [logits]
formats: [onnx]
engines: [onnxruntime]
precisions:
  fp32:
  int8: {{ranges: trained, epochs: 1, budget: {{min_snr_db: 10, min_top1: 0.8, max_metric_loss: 0.1, max_size: 1.0}}}}
"""


@pytest.mark.parametrize("fit", [slow("model_fit"), "script"])
def test_what_it_trained_is_pruned_fine_tuned_with_rounding_and_released(fit: str, tmp_path: Path) -> None:
    shutil.copy(Path(__file__).with_name("own_fits.py"), tmp_path)
    (tmp_path / "stripes.yaml").write_text(SPEC.format(fit=fit))
    done = exporter("release", "stripes.yaml", cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.err.count("fit is not rehearsed") == 1
    assert f"training own_fits:{fit}\n" in done.err and f"fine-tuning own_fits:{fit} with 8-bit rounding" in done.err
    cut, rounded = (
        load(tmp_path / "runs" / place / "best.safetensors") for place in ("stripes.pruned/tuned", "stripes.qat")
    )
    assert cut["conv2.weight"].shape == rounded["conv2.weight"].shape != (32, 16, 3, 3)
    assert (cut["conv2.weight"] != rounded["conv2.weight"]).any()
    ranges = trained_ranges.ranges_in(tmp_path / "runs" / "stripes.qat" / "best.safetensors")
    assert ranges.keys() == {"conv1", "conv2", "linear"}
    told = json.loads((tmp_path / "artifacts/stripes/1.0.0/parity.json").read_bytes())
    assert any(check["kind"] == "metric" and check["outcome"] == "match" for check in told["checks"])

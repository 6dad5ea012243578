"""A sample of the zoo; all of it, in an environment with all families, is `python -m tests.zoo`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from tests.command import ROOT
from tests.zoo import nlp, ocr, quick, table
from tests.zoo.__main__ import report

SAMPLE = ("LeNet", "Transformer_encoder")


def zoo(*arguments: str | Path, seconds: float = 500) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tests.zoo", *map(str, arguments)]
    environment = os.environ | {"PYTHONWARNINGS": "ignore"}
    return subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=seconds, check=False
    )


def test_a_sample_passes_in_all_formats_and_stock_stands_beside_it(tmp_path: Path) -> None:
    rows_at, kept = tmp_path / "zoo.json", tmp_path / "kept"
    only = ("--families", "vision,sequence", "--only", ",".join(SAMPLE))
    done = zoo(
        *only, "--weights", "calibrated", "--engines", "paddle_inference,onnxruntime", "--json", rows_at, "--keep", kept
    )
    assert done.returncode == 0, done.stdout + done.stderr
    rows = {row["name"]: row for row in json.loads(rows_at.read_text())}
    assert set(rows) == set(SAMPLE)
    for row in rows.values():
        for one in row["formats"].values():
            assert one["word"] == "passed" and one["matches"] == one["checks"] > 8
    assert rows["LeNet"]["stock"]["pdmodel"]["word"] == "passed"
    assert "must be Value, but got Variable" in rows["Transformer_encoder"]["stock"]["pdmodel"]["why"]
    assert sorted(path.name for path in (kept / "vision-LeNet").iterdir()) == [
        "inputs.npz", "m.pdiparams", "m.pdmodel", "outputs.npz"
    ]  # fmt: skip
    again = zoo(*only, "--weights", "calibrated", "--resume", rows_at)
    assert again.returncode == 0 and "LeNet  pir" not in again.stdout, "what is there is not done again"


def test_a_quick_look_tells_a_wrong_file_from_a_right_one(tmp_path: Path) -> None:
    rows_at = tmp_path / "zoo.json"
    done = zoo("--quick", "--families", "vision", "--only", "LeNet", "--json", rows_at)
    assert done.returncode == 0, done.stdout + done.stderr
    (look,) = json.loads(rows_at.read_text())
    assert {name: file["word"] for name, file in look["formats"].items()} == dict.fromkeys(
        ("pir", "pdmodel", "onnx"), "right"
    )
    assert look["stock"]["pir"]["word"] == "right"
    expected, near, far = np.array([1.0, -np.inf]), np.array([1.005, -np.inf]), np.array([1.02, -np.inf])
    assert quick.difference(expected, near) < quick.NEAR < quick.difference(expected, far)
    assert quick.difference(expected, np.array([1.0, 0.0])) == np.inf, "an infinity that is lost is no small difference"


def test_without_a_checkout_there_is_no_ocr_and_a_wrong_one_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(ocr.CHECKOUT, raising=False)
    assert ocr.builders() == {}
    monkeypatch.setenv(ocr.CHECKOUT, str(tmp_path))
    with pytest.raises(SystemExit, match=r"holds no ppocr/modeling"):
        ocr.builders()


@pytest.mark.parametrize(
    ("model", "config"),
    [
        ("BertForMaskedLM", "BertConfig"),
        ("RoFormerModel", "RoFormerConfig"),
        ("GPTLMHeadModel", "GPTConfig"),
        ("T5EncoderModel", "T5Config"),
        ("LlamaForCausalLM", "LlamaConfig"),
    ],
)
def test_a_transformers_configuration_is_found_by_its_name(model: str, config: str) -> None:
    assert {transformer.config for transformer in nlp.TRANSFORMERS if transformer.model == model} == {config}


def row(word: str, matches: int, checks: int) -> dict[str, object]:
    one = {"word": word, "matches": matches, "checks": checks, "why": "w", "missed": {"claim": "mismatch: why"}}
    return {
        "family": "f",
        "name": "n",
        "weights": "random",
        "formats": {"pdmodel": one},
        "stock": {"pdmodel": {"word": "refused"}},
    }


@pytest.mark.parametrize(("passed", "failed", "code"), [(98, 2, 0), (97, 3, 1), (0, 1, 1)])
def test_the_exit_code_is_what_is_promised(
    capsys: pytest.CaptureFixture[str], passed: int, failed: int, code: int
) -> None:
    rows = [row("passed", 10, 10)] * passed + [row("failed", 9, 10)] * failed
    assert report(rows, ("pdmodel",)) == code
    said = capsys.readouterr().out
    assert f"{passed}/{passed + failed} passed, {failed} failed; stock 0/{passed + failed}" in said
    assert said.count("NO MATCH") == passed + failed


def test_what_stock_cannot_export_is_not_held_against_a_format(capsys: pytest.CaptureFixture[str]) -> None:
    lost = row("failed", 9, 10) | {"stock": {"pir": {"word": "refused"}}}
    sound = row("passed", 10, 10) | {"stock": {"pir": {"word": "passed"}}}
    assert report([lost, sound], ("pdmodel",)) == 0
    assert report([lost | {"stock": sound["stock"]}, sound], ("pdmodel",)) == 1
    lines = table.counts([lost, sound])
    assert lines[-1] == "| all | 2 | 1 | 0 of 1 | 1 of 1 | 0 of 1 |"
    assert table.misses([sound]) == table.misses([]) and "| n | refused | `.pdmodel` | w |" in table.misses([lost])


@pytest.mark.slow
@pytest.mark.timeout(6 * 3600)
@pytest.mark.parametrize("weights", ["random", "calibrated"])
def test_all_networks(weights: str, tmp_path: Path) -> None:
    packages = ("paddleclas", "paddleseg", "ppdet", "paddlenlp")
    missing = [name for name in packages if find_spec(name) is None] + ([] if ocr.checkout() else [ocr.CHECKOUT])
    if missing:
        pytest.skip(f"{', '.join(missing)} missing: docs/zoo.md describes the environment")
    done = zoo("--json", tmp_path / "zoo.json", "--weights", weights, seconds=6 * 3600)
    assert done.returncode == 0, done.stdout

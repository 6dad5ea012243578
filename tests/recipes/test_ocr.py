"""The OCR chain: its pages, and three released nets that read what the eager layers read."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from recipes.ocr import detect, direction, lines, pages, read
from tests.command import environment, exporter
from tests.recipes.fonts import needs_fonts


@needs_fonts
def test_held_out_lines_are_other_texts_in_other_sizes() -> None:
    assert not set(lines.SIZES["train"]) & set(lines.SIZES["held_out"])
    held_out = {tuple(line) for batch in read.data("held_out") for line in batch["characters"]}
    np.random.seed(0)
    train = {tuple(line) for batch in read.data("train") for line in batch["characters"]}
    assert len(held_out) > 300 and len(held_out & train) <= 2


@needs_fonts
def test_boxes_are_found_in_the_map_that_the_detector_learns() -> None:
    dice = np.random.RandomState(0)
    for _ in range(100):
        image, drawn = pages.page("held_out", dice)
        assert image.shape == (pages.HEIGHT, pages.WIDTH) and image.min() >= 0 and image.max() <= 1
        found = pages.boxes(pages.marked(drawn) - 0.5)
        told = [(line.top, line.left, line.bottom, line.right) for line in drawn]
        assert np.abs(np.array(found) - np.array(told)).max() <= 3


@needs_fonts
def test_a_line_of_perfect_logits_is_read_as_it_was_written() -> None:
    dice = np.random.RandomState(1)
    for _ in range(50):
        said = lines.text(dice)
        classes = [number for one in lines.numbers(said, len(said)) for number in (one, one, 0)]
        assert read.decode(np.eye(len(lines.ALPHABET) + 1)[classes]) == said
        assert lines.ink(said, "train", dice).shape[1] < lines.WIDTH, "no character is cut off"


def test_edits() -> None:
    pairs = (("", "ab"), ("abc", "abc"), ("abc", "xbcd"), ("中国", "国"))
    assert [lines.edits(*pair) for pair in pairs] == [2, 0, 2, 1]


def test_without_fonts_it_is_said_which_packages_have_them(workplace: Path) -> None:
    source = workplace / "recipes/ocr/lines.py"
    source.write_text(source.read_text().replace('Path("/usr/share/fonts")', 'Path("/nowhere")'))
    done = exporter("train", "recipes/ocr/read.py", "--doctor", cwd=workplace)
    assert done.code == 2 and "apt-get install fonts-noto-cjk fonts-dejavu-core" in done.err


def test_folders_of_real_images(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    drawn = np.full((30, 150), 255, np.uint8)
    drawn[4:14, 10:60] = 0
    points = [[10, 4], [60, 4], [60, 14], [10, 14]]
    for name, said in (("read", "国a?1"), ("direction", "180"), ("detect", json.dumps([{"points": points}]))):
        folder = tmp_path / "data" / name
        folder.mkdir(parents=True)
        Image.fromarray(drawn).save(folder / "one.png")
        for part in ("train", "held_out"):
            (folder / f"{part}.txt").write_text(f"one.png\t{said}\n", encoding="utf-8")
    batch = next(read.data("held_out"))
    assert batch["line"].shape == (1, 1, 24, 128) and batch["line"][0, 0, 5, 20] == 1
    assert batch["characters"].tolist() == [lines.numbers("国a1")]
    assert next(direction.data("held_out"))["turned"].tolist() == [1]
    batch = next(detect.data("held_out"))
    assert pages.boxes(batch["map"][0, 0] - 0.5) == [(3, 8, 15, 62)]


@needs_fonts
@pytest.mark.slow
def test_the_bundles_alone_read_held_out_pages_as_the_eager_layers_do(workplace: Path) -> None:
    for name in ("ocr-detect", "ocr-direction", "ocr-read"):
        done = exporter("release", f"specs/{name}.yaml", "--json", cwd=workplace)
        assert done.code == 0, done.out + done.err
        told = done.json()
        assert told["verdict"] == "passed" and sorted(told["variants"]) == ["onnx", "pdmodel", "pir"]
    command = [sys.executable, "-m", "recipes.ocr.chain", "--pages", "60"]
    ran = subprocess.run(command, cwd=workplace, env=environment(), capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    told = dict(re.findall(r"(\w+): ([0-9.]+) of \d+ characters right, 0 unlike eager", ran.stdout))
    assert told.keys() == {"eager", "onnx", "pir"} and all(float(share) >= 0.95 for share in told.values())

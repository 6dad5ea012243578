"""A first spec for a family's configuration: what its steps say, and what is marked as a guess."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from exporter.spec.read import validate
from tests.command import exporter

LINE = """
Global: {character_dict_path: %s, use_space_char: true, max_text_length: 25}
PostProcess: {name: CTCLabelDecode}
Eval: {dataset: {transforms: [{DecodeImage: {img_mode: BGR}}, {%s}]}}
"""
DETECTOR = """
num_classes: 3
TestReader:
  fuse_normalize: %s
  sample_transforms: &steps
  - Decode: {}
  - Resize: {target_size: [64, 96], keep_ratio: false}
  - NormalizeImage: {mean: [0, 0, 0], std: [1, 1, 1]}
  - Permute: {}
EvalReader: {sample_transforms: *steps}
"""
SEGMENTER = "val_dataset: {transforms: [{type: Normalize}]}"
CLASSIFIER = """
DataLoader:
  Eval: {dataset: {transform_ops: [{DecodeImage: {}}, {ResizeImage: {size: [40, 30]}}, {NormalizeImage: {}}]}}
"""
FORM = "Eval: {dataset: {transforms: [{DecodeImage: {}}, {VQATokenLabelEncode: {}}]}}"


def started(place: Path, family: str, text: str, *options: str) -> tuple[dict[str, Any], str]:
    """The spec that was written, and its text."""
    (place / "words.txt").write_text("a\nb\n")
    (place / "config.yml").write_text(text)
    done = exporter("init", "net", "--from", f"{family}:config.yml", *options, cwd=place)
    assert done.code == 0, done.err
    written = (place / "specs/net.yaml").read_text()
    content = yaml.safe_load(written)
    spec = validate(content, "specs/net.yaml")
    assert spec.model == "exporter.export.families.factory:build" and content["args"]["family"] == family
    return content, written


@pytest.mark.parametrize(
    ("family", "text", "inputs", "dims"),
    [
        (
            "paddleocr",
            LINE % ("words.txt", "RecResizeImg: {image_shape: [3, 48, 320]}"),
            {"x": [3, 48, "width"]},
            {"width"},
        ),
        (
            *("paddleocr", LINE % ("words.txt", "GrayRecResizeImg: {image_shape: [100, 32], resize_type: OpenCV}")),
            *({"x": [1, 32, 100]}, set[str]()),
        ),
        (
            *("paddleocr", LINE % ("words.txt", "RobustScannerRecResizeImg: {image_shape: [3, 48, 48, 160]}")),
            *({"x": [3, 48, 160], "valid_ratio": [], "word_positons": [25]}, set[str]()),
        ),
        ("paddledet", DETECTOR % "false", {"image": [3, 64, 96], "im_shape": [2], "scale_factor": [2]}, set[str]()),
        ("paddleseg", SEGMENTER, {"x": [3, "height", "width"]}, {"height", "width"}),
        ("paddleclas", CLASSIFIER, {"x": [3, 30, 40]}, set[str]()),
        ("paddleocr", FORM, {"x": [3, "height", "width"]}, {"height", "width"}),
    ],
    ids=["line", "gray", "beside", "detector", "segmenter", "classifier", "form"],
)
def test_the_steps_say_the_sizes(
    family: str, text: str, inputs: dict[str, list[Any]], dims: set[str], tmp_path: Path
) -> None:
    content, _ = started(tmp_path, family, text)
    assert {name: given["shape"] for name, given in content["inputs"].items()} == {
        name: ["batch", *shape] for name, shape in inputs.items()
    }
    assert set(content["dims"]) == {"batch", *dims}


def test_the_steps_around_the_model_wait_for_samples(tmp_path: Path) -> None:
    _, written = started(tmp_path, "paddledet", DETECTOR % "false")
    lines = [line.removeprefix("# ") for line in written.splitlines() if line.startswith(("# pipeline", "#   "))]
    said = yaml.safe_load("\n".join(line.removeprefix("#") for line in lines if "convert" not in line))["pipeline"]
    assert set(said) == {"samples", "preprocess", "postprocess"}
    assert said["preprocess"]["training"].endswith("config.yml#Eval")


def test_a_net_that_normalizes_itself_is_given_bytes(tmp_path: Path) -> None:
    content, written = started(tmp_path, "paddledet", DETECTOR % "true")
    assert "config.yml#Test" in written and "config.yml#Eval" not in written
    assert content["inputs"]["image"]["values"] == "uniform(0,255)"


def test_what_was_not_read_is_said(tmp_path: Path) -> None:
    _, written = started(tmp_path, "paddleocr", FORM)
    assert "# Not read, before the model: VQATokenLabelEncode takes texts" in written and "pipeline:" not in written
    (tmp_path / "specs/net.yaml").unlink()
    content, written = started(tmp_path, "paddleocr", LINE % ("no.txt", "RecResizeImg: {image_shape: [3, 48, 320]}"))
    assert "# Not read, after the model: it names the dictionary no.txt" in written and "#   preprocess:" in written
    assert content["inputs"]["x"]["values"] == "uniform(-1,1)"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--repo", "."), "--repo goes with --from"),
        (("--from", "paddleocr:no.yml"), "no configuration 'no.yml'"),
        (("--from", "paddle:no.yml"), "unknown family 'paddle'"),
        (("--from", "paddleocr:no.yml", "--model", "a:b"), "--from names a model already"),
        (("--from", "paddleocr:broken.yml"), "broken.yml:1:11"),
    ],
)
def test_options_that_do_not_fit_are_refused(options: tuple[str, ...], said: str, tmp_path: Path) -> None:
    (tmp_path / "broken.yml").write_text("Eval: [1, }\n")
    done = exporter("init", "net", *options, cwd=tmp_path)
    assert done.code == 2 and said in done.err
    assert not (tmp_path / "specs").exists()

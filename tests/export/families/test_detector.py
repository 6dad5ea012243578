"""A small package that stands for PaddleDetection: where its model fails, and inputs that no output depends on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.command import exporter, refused

TRAINER = """
import paddle
from ppdet.net import Net


def spec(name, *shape):
    return paddle.static.InputSpec([None, *shape], "float32", name)


class Trainer:
    def __init__(self, cfg, mode):
        self.net = Net()

    def export(self, into):
        inputs = {name: spec(name, 2) for name in ("im_shape", "scale_factor")}
        inputs["image"] = spec("image", 3, 8, 8)
        net = paddle.jit.to_static(self.net, input_spec=[inputs], full_graph=True)
        net.forward.main_program
        paddle.jit.save(net, into)
"""
HEADER = """\
import paddle


class Net(paddle.nn.Layer):
    def forward(self, inputs):
"""
READS = "        shape = inputs['im_shape']\n        return inputs['image'] * 2 + inputs['scale_factor'].sum()\n"
FAILS = "        rows = paddle.shape(inputs['image'])[2]\n        assert rows.shape[0] == 1\n        return rows\n"
RETURNS = "        return inputs['image'] * 2 + inputs['scale_factor'].sum(), inputs['im_shape']\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    root = tmp_path / "checkout"
    files = {
        "ppdet/__init__.py": "",
        "ppdet/engine/__init__.py": TRAINER,
        "ppdet/core/__init__.py": "",
        "ppdet/core/workspace.py": "def load_config(path):\n    return {}\n",
        "configs/a.yml": "a: 1\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


SOURCE = ("convert", "--from", "paddledet:configs/a.yml", "--repo", "checkout", "--out", "made", "--formats", "pir")


def test_a_failure_of_the_model_is_told_at_its_innermost_line_in_paddles_words(checkout: Path, tmp_path: Path) -> None:
    """And not at the line of the family's export that traces it."""
    (checkout / "ppdet/net.py").write_text(HEADER + FAILS)
    refused(exporter(*SOURCE, cwd=tmp_path), 4, "checkout/ppdet/net.py:7: ", "IndexError: list index out of range")


def test_a_failure_of_other_code_of_the_family_is_told_as_before(checkout: Path, tmp_path: Path) -> None:
    (checkout / "ppdet/net.py").write_text("raise ValueError('of the family')\n")
    refused(exporter(*SOURCE, cwd=tmp_path), 2, "net.py:1: ", "ValueError: of the family")


def test_an_input_that_forward_asks_for_in_vain_is_there_and_not_in_the_artifact(
    checkout: Path, tmp_path: Path
) -> None:
    (checkout / "ppdet/net.py").write_text(HEADER + READS)
    done = exporter(*SOURCE, cwd=tmp_path)
    assert done.code == 0, done.err
    manifest = json.loads((tmp_path / "made/manifest.json").read_text())
    assert [one["name"] for one in manifest["inputs"]] == ["scale_factor", "image"]


def test_an_input_that_is_returned_stays_an_input(checkout: Path, tmp_path: Path) -> None:
    (checkout / "ppdet/net.py").write_text(HEADER + RETURNS)
    done = exporter(*SOURCE, cwd=tmp_path)
    assert done.code == 0, done.err
    manifest = json.loads((tmp_path / "made/manifest.json").read_text())
    assert [one["name"] for one in manifest["inputs"]] == ["im_shape", "scale_factor", "image"]
    assert len(manifest["outputs"]) == 2

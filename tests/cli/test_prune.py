"""`exporter prune` as a user types it: what it says, what it leaves, what it refuses before any work."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.command import contents, exporter, refused


@pytest.fixture(scope="module")
def pruned(released: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the trained digits were pruned and released as their spec says."""
    place = tmp_path_factory.mktemp("pruned") / "work"
    shutil.copytree(released, place, ignore=shutil.ignore_patterns("artifacts"))
    done = exporter("release", "specs/digits-pruned.yaml", "--json", cwd=place)
    assert done.code == 0, done.out + done.err
    (place / "release.json").write_text(done.out)
    return place


def test_the_smaller_digits_pass_the_gate_in_every_format_within_a_point(pruned: Path, released: Path) -> None:
    said = json.loads((pruned / "release.json").read_text())
    whole = json.loads((released / "release.json").read_text())
    assert said["verdict"] == "passed" and set(said["variants"]) == {"pir", "pdmodel", "onnx"}
    assert said["training"]["accuracy"] >= whole["training"]["accuracy"] - 0.01
    manifest = json.loads((pruned / "artifacts/digits-pruned/1.0.0/manifest.json").read_text())
    told = manifest["provenance"]["weights"]["pruned"]
    assert told["flops"]["after"] <= 0.5 * told["flops"]["before"] and len(told["plan"]) == 64
    sizes = [manifest["files"]["onnx/model.onnx"]["size"]]
    sizes.append((released / "artifacts/digits/1.0.0/onnx/model.onnx").stat().st_size)
    assert sizes[0] < 0.7 * sizes[1]


def test_what_was_pruned_is_not_pruned_again(pruned: Path) -> None:
    before = contents(pruned / "runs")
    done = exporter("prune", "specs/digits-pruned.yaml", cwd=pruned)
    assert done.code == 0, done.err
    assert contents(pruned / "runs") == before
    assert "proven: equals the masked model" in done.out and "accuracy" in done.out
    assert done.out.splitlines()[-1] == "runs/digits-pruned.pruned/tuned/best.safetensors"


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        ((), 2, "how much is to be left"),
        (("--flops", "1.5"), 2, "prune.flops"),
        (("--flops", "0.5", "--importance", "l3"), 2, "unknown importance 'l3'"),
        (("--flops", "0.5", "--set", "prune.sparsity=0.5"), 2, "no engine here is faster"),
        (("--flops", "0.5", "--out", "recipes"), 2, "not of a pruned model"),
    ],
)
def test_a_mistake_is_found_before_any_work(arguments: tuple[str, ...], code: int, said: str, workplace: Path) -> None:
    before = contents(workplace)
    refused(exporter("prune", "specs/digits.yaml", *arguments, cwd=workplace), code, said)
    assert contents(workplace) == before


def test_a_share_that_cannot_be_reached_leaves_nothing(workplace: Path) -> None:
    (workplace / "narrow.py").write_text(
        "from paddle import nn\ndef build():\n    return nn.Sequential(nn.Linear(8, 12), nn.ReLU(), nn.Linear(12, 4))\n"
    )
    before = contents(workplace)
    model = ("narrow:build", "--input", "input=float32[batch,8]", "--dim", "batch=1..4")
    done = exporter("prune", *model, "--flops", "0.5", cwd=workplace)
    refused(done, 4, "100% of the FLOPs stay")
    found = {name: content for name, content in contents(workplace).items() if "__pycache__" not in name}
    assert found == before

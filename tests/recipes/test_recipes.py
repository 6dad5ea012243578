"""Each recipe by the command line: sound gradients, a release that passes in every format, a metric above its floor."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import pytest

from exporter.spec.read import read_spec
from tests.command import ROOT, exporter
from tests.recipes.fonts import needs_fonts
from tests.sampling import slow

#: By recipe: its metric, and an operator that the ONNX file must have kept.
FAST: dict[str, tuple[str, str]] = {
    "linear": ("r_squared", "Gemm"),
    "rows": ("accuracy", "Loop"),
    "softmax": ("accuracy", "If"),
    "text": ("accuracy", "GRU"),
}
SLOW: dict[str, tuple[str, str]] = {
    "policy": ("at_rest", "Tanh"),
    "shapes": ("f1", "NonMaxSuppression"),
    "tree": ("accuracy", "Loop"),
    "resnet": ("accuracy", "Conv"),
}
#: Released by tests/e2e/test_folded.py.
FOLDED = {"digits-folded", "resnet-folded"}
OCR = {"ocr-detect", "ocr-direction", "ocr-read"}
RELEASED = [*FAST, *map(slow, SLOW)]


def modules() -> Iterator[str]:
    """The modules that hold a recipe."""
    for path in (ROOT / "recipes").rglob("[a-z]*.py"):
        if "\nrecipe = Recipe(" in path.read_text("utf-8"):
            yield ".".join(path.relative_to(ROOT).with_suffix("").parts)


def test_every_recipe_is_tried() -> None:
    """The digits and the OCR chain have tests of their own."""
    specs = {path.stem: read_spec(path) for path in (ROOT / "specs").glob("*.yaml")}
    assert {spec.recipe for spec in specs.values()} == {f"{name}:recipe" for name in sorted(modules())}
    assert specs.keys() == FAST.keys() | SLOW.keys() | OCR | {"digits", "digits-int8", "digits-pruned"} | FOLDED


DRAWN = ("recipes.ocr.detect", "recipes.ocr.direction", "recipes.ocr.read")


def examined() -> Iterator[Any]:
    """The recipes; those whose releases are slow are examined with the slow tests."""
    for name in sorted(modules()):
        marks = [pytest.mark.slow] if name in DRAWN or name.rpartition(".")[2] in SLOW else []
        yield pytest.param(name, marks=[*marks, needs_fonts] if name in DRAWN else marks)


@pytest.mark.parametrize("name", list(examined()))
def test_the_gradient_doctor_finds_nothing(name: str, workplace: Path) -> None:
    done = exporter("train", name, "--doctor", "--json", cwd=workplace)
    assert done.code == 0, done.err
    told = done.json()
    assert told["findings"] == [] and told["gradients"]


@pytest.mark.parametrize("name", RELEASED)
def test_its_release_passes_in_every_format(name: str, workplace: Path) -> None:
    metric, operator = {**FAST, **SLOW}[name]
    told = released(name, workplace)
    assert told["verdict"] == "passed" and sorted(told["variants"]) == ["onnx", "pdmodel", "pir"]
    run = run_of(name, workplace)
    assert run["metric"]["name"] == metric
    assert told["training"][metric] > run["metric"]["floor"] + 0.01
    graph = onnx.load(str(workplace / told["bundle"] / "onnx/model.onnx")).graph
    assert operator in {node.op_type for node in graph.node}


def released(name: str, place: Path) -> dict[str, Any]:
    done = exporter("release", f"specs/{name}.yaml", "--json", cwd=place)
    assert done.code == 0, done.out + done.err
    told: dict[str, Any] = done.json()
    return told


def run_of(name: str, place: Path) -> dict[str, Any]:
    """What `run.json` says of the training that the release took."""
    runs = place / "runs" / name
    told: dict[str, Any] = json.loads((runs / (runs / "best").read_text().strip() / "run.json").read_text())
    return told

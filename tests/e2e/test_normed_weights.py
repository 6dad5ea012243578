"""Weights that hooks compute before each call are those of the checkpoint, in every format."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from exporter.base.tensors import load, save
from exporter.export.trace.layer import load_layer, parameters
from tests.command import exporter

MODEL = "models.normed:Normed"
INPUT = ("--input", "x=float32[batch,4]", "--dim", "batch=1..4")


@pytest.fixture
def checkpoint(workplace: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Weights of another seed, whose magnitudes are three times as large as what the factory makes."""
    monkeypatch.syspath_prepend(workplace)
    held = {name: tensor.numpy() for name, tensor in load_layer(MODEL, None, 5).state_dict().items()}
    place = workplace / "trained.safetensors"
    save(place, {name: 3 * value if name.endswith(("_g", "_orig")) else value for name, value in held.items()})
    return place


def test_they_are_computed_from_what_was_loaded(checkpoint: Path) -> None:
    stored, loaded = load(checkpoint), parameters(load_layer(MODEL, str(checkpoint), 0))
    v, g = stored["first.weight_v"], stored["first.weight_g"]
    assert np.allclose(loaded["first.weight"], g * v / np.linalg.norm(v, axis=0), rtol=1e-5)
    v, g = stored["last.weight_v"], stored["last.weight_g"]
    assert np.allclose(loaded["last.weight"], g * v / np.linalg.norm(v), rtol=1e-5)
    w, left, right = (stored[f"second.0.weight_{part}"] for part in ("orig", "u", "v"))
    assert np.allclose(loaded["second.0.weight"], w / (left @ w.T @ right), rtol=1e-5)


def test_a_converted_layer_computes_with_them_and_verifies(workplace: Path, checkpoint: Path) -> None:
    done = exporter(
        *("convert", MODEL, *INPUT, "--weights", checkpoint.name, "--formats", "pir,pdmodel,onnx"),
        *("--out", "out", "--json"),
        cwd=workplace,
    )
    assert done.code == 0, done.out + done.err
    assert [(one["code"], one["severity"]) for one in done.json()["findings"]] == [("EX130", "warning")]
    verified = exporter("verify", "out", "--source", ".", "--json", cwd=workplace)
    assert verified.code == 0, verified.out + verified.err
    assert {one["outcome"] for one in verified.json()["checks"]} == {"match"}

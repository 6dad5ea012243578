"""What is said where a checkpoint does not reach the recipe's floor."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from exporter.base.errors import ModelError
from exporter.base.tensors import save
from exporter.export import trained_ranges
from exporter.spec.read import validate
from exporter.train.run import TrainResult
from exporter.weights.measured import Measured, require_floor


def test_a_floor_that_is_missed_without_roundings_says_what_the_best_epoch_had_with_them(tmp_path: Path) -> None:
    checkpoint = tmp_path / "best.safetensors"
    ranges = {trained_ranges.KEY: trained_ranges.as_text({"conv": [0.0, 1.0]})}
    save(checkpoint, {"w": np.ones(2, "float32")}, {"seed": "0", **ranges})
    run = TrainResult(checkpoint, "accuracy", 0.9722, 5, 6, "recipes.digits:recipe", "", 0)
    found = Measured(checkpoint, "recipes.digits:recipe", "accuracy", 0.9333, missed=0.935, run=run)
    content = {
        "name": "net",
        "recipe": "recipes.digits:recipe",
        "model": "recipes.digits:build",
        "inputs": {"x": {"dtype": "float32", "shape": [2, 4]}},
        "formats": ["onnx"],
        "precisions": {"fp32": {}, "int8": {"ranges": "trained", "noise": True, "budget": {"max_metric_loss": 0.04}}},
    }
    with pytest.raises(ModelError, match=r"accuracy 0\.9333 does not reach the recipe's floor, 0\.935") as missed:
        require_floor(validate(content, "here"), found)
    assert "promised loss of 0.04" in missed.value.what
    assert "its best epoch had 0.9722 with the roundings" in missed.value.what
    assert "without them" in missed.value.what and missed.value.hint.startswith("fine-tune for more epochs")

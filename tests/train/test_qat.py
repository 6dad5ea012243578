"""The ranges in a checkpoint's header, and what is said where there are none."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from exporter.base.errors import UsageError
from exporter.base.tensors import save
from exporter.export import trained_ranges
from exporter.spec.model import Spec
from exporter.spec.read import validate
from exporter.train import qat


def checkpoint(place: Path, text: str | None) -> Path:
    path = place / "weights.safetensors"
    save(path, {"w": np.ones(2, "float32")}, {"seed": "0", **({trained_ranges.KEY: text} if text is not None else {})})
    return path


def spec(**more: object) -> Spec:
    content = {
        "name": "net",
        "model": "models.sound:build",
        **({} if {"checkpoint", "recipe"} & more.keys() else {"weights": "factory"}),
        "inputs": {"x": {"dtype": "float32", "shape": [2, 4]}},
        "formats": ["onnx"],
        "precisions": {"fp32": {}, "int8": {"ranges": "trained", "noise": True}},
        **more,
    }
    return validate(content, "here")


def test_ranges_come_back_bit_for_bit(tmp_path: Path) -> None:
    ranges = {"conv": [-0.1, 1 / 3], "": [0.0, 5e-324]}
    found = trained_ranges.ranges_in(checkpoint(tmp_path, trained_ranges.as_text(ranges)))
    assert found == {name: tuple(pair) for name, pair in ranges.items()}
    rounded = trained_ranges.rounded_in_training(tmp_path / "weights.safetensors")
    assert rounded is not None and rounded.to_json() == {"layers": ["", "conv"], "before": None}


def test_the_metric_before_is_a_number_or_none(tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    for text, expected in (("0.9875", 0.9875), (None, None)):
        save(path, {"w": np.ones(2, "float32")}, {"seed": "0", **({trained_ranges.BEFORE: text} if text else {})})
        assert trained_ranges.before(path) == expected
    save(path, {"w": np.ones(2, "float32")}, {trained_ranges.BEFORE: "good"})
    with pytest.raises(UsageError, match="is no number: good"):
        trained_ranges.before(path)


@pytest.mark.parametrize(
    "text",
    [
        *("", "[]", "{}", '{"schema": 2, "inputs": {}}', '{"schema": 1, "inputs": {"a": [1]}}', "{" * 100_000),
        *(
            json.dumps({"schema": 1, "inputs": {"a": pair}})
            for pair in ([1, 2], [0, float("inf")], [0, "x"], 3, [0, float("nan")], [0, 10**400])
        ),
    ],
    ids=lambda text: text[:40],
)
def test_damaged_ranges_are_said_to_be(text: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the trained ranges in it are damaged"):
        trained_ranges.ranges_in(checkpoint(tmp_path, text))


def test_a_checkpoint_without_ranges_does_where_a_recipe_can_train_them_and_else_is_refused(tmp_path: Path) -> None:
    path = checkpoint(tmp_path, None)
    assert trained_ranges.rounded_in_training(path) is None
    with pytest.raises(UsageError, match="holds no trained ranges") as caught:
        qat.finished(spec(checkpoint=str(path)), path)
    assert "exporter train RECIPE --qat CHECKPOINT" in caught.value.hint


def test_a_checkpoint_with_ranges_is_taken_as_it_is(tmp_path: Path) -> None:
    path = checkpoint(tmp_path, trained_ranges.as_text({"conv": [0.0, 1.0]}))
    assert qat.finished(spec(checkpoint=str(path)), path) == path


def test_what_is_no_safetensors_file_is_a_mistake_of_the_user_s(tmp_path: Path) -> None:
    path = tmp_path / "weights.safetensors"
    path.write_bytes(b"\x80\x04no pickle is read")
    with pytest.raises(UsageError, match="not a whole safetensors file"):
        trained_ranges.rounded_in_training(path)


@pytest.mark.parametrize(
    ("precision", "said"),
    [({"ranges": "trained"}, "needs a recipe to train by"), ({"epochs": 3}, "they need `ranges: trained`")],
)
def test_a_spec_that_cannot_be_meant_is_refused(precision: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        spec(precisions={"fp32": {}, "int8": precision})

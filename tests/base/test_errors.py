"""What the user reads when a name is unknown: one helper for all places."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.base.errors import closest, did_you_mean, did_you_mean_file


@pytest.mark.parametrize(
    ("name", "known", "near"),
    [
        ("onxx", ("pir", "onnx"), "onnx"),
        ("ONNX", ("pir", "onnx"), "onnx"),
        ("ex101", ("EX101", "EX110"), "EX101"),
        ("zebra", ("pir", "onnx"), ""),
        ("", ("pir",), ""),
        ("pir", (), ""),
    ],
)
def test_the_closest_name_whatever_its_case(name: str, known: tuple[str, ...], near: str) -> None:
    assert closest(name, known) == near


def test_a_hint_lists_few_names_and_suggests_among_many() -> None:
    assert did_you_mean("onxx", ("pir", "onnx")) == "did you mean 'onnx'? one of: pir, onnx"
    assert did_you_mean("zebra", ("pir", "onnx"), "it has: {}") == "it has: pir, onnx"
    many = [f"name{number}" for number in range(40)]
    assert did_you_mean("name7x", many) == "did you mean 'name7'?"
    assert did_you_mean("onxx", ("onnx",), "leave it out") == "did you mean 'onnx'?"
    assert did_you_mean("onxx", ()) == "one of: none"


def test_a_file_is_suggested_by_its_own_name_and_not_by_its_folder(tmp_path: Path) -> None:
    (tmp_path / "digits.yaml").touch()
    (tmp_path / "zebra.txt").touch()
    assert did_you_mean_file(tmp_path / "digit.yaml", "none") == f"did you mean '{tmp_path / 'digits.yaml'}'?"
    assert did_you_mean_file(tmp_path / "q.yaml", "none") == "none"
    assert did_you_mean_file(tmp_path / "zebra.yaml", "none", "*.yaml") == "none"

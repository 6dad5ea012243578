"""The JSON Schema that `init --schema` prints: it takes what `read_spec` takes, and refuses what it can."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from exporter.spec.model import Spec
from exporter.spec.schema import schema
from tests.command import ROOT, exporter


def errors(content: Any) -> list[str]:
    return [error.message for error in Draft202012Validator(schema()).iter_errors(content)]


def digits() -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load((ROOT / "specs/digits.yaml").read_text())
    return content


def test_every_spec_of_ours_is_valid_and_the_schema_is_one() -> None:
    Draft202012Validator.check_schema(schema())
    specs = sorted((ROOT / "specs").glob("*.yaml"))
    assert specs
    for path in specs:
        assert errors(json.loads(json.dumps(yaml.safe_load(path.read_text()), default=str))) == [], path


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("formts", ["pir"], "formts"),
        ("formats", ["tflite"], "tflite"),
        ("formats", [], "non-empty"),
        ("budget", 0, "0"),
        ("device", "tpu", "tpu"),
        ("model", "recipes.digits", "recipes.digits"),
        ("inputs", {"image": {"dtype": "float31", "shape": [1]}}, "float31"),
        ("inputs", {}, "non-empty"),
        ("dims", {"batch": {"min": 0, "typical": 1, "max": 2}}, "0"),
        ("waivers", [{"claim": "*", "reason": "short", "until": "2027-01-31"}], "short"),
    ],
)
def test_mistakes_that_an_editor_can_show(key: str, value: Any, said: str) -> None:
    found = errors({**digits(), key: value})
    assert found and said in " ".join(found)


def test_a_spec_needs_its_model() -> None:
    content = digits()
    del content["model"]
    assert errors(content) == ["'model' is a required property"]


def test_every_key_of_a_spec_is_in_the_schema() -> None:
    assert set(schema()["properties"]) == set(Spec.model_fields)


def test_the_command_prints_just_this(tmp_path: Path) -> None:
    assert exporter("init", "--schema", cwd=tmp_path).json() == schema()

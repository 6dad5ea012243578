"""An operator whose operands or attributes its function does not take, in programs that Paddle wrote."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from exporter.base.errors import BundleError
from exporter.export.sources.program import build
from tests.export.sources.networks import saved


def _mean(operators: list[Any]) -> Any:
    return next(operator for operator in operators if operator["#"] == "1.mean")


def _kept(operators: list[Any], kind: str, value: object) -> None:
    _mean(operators)["A"][0]["AT"] = {"#": kind, "D": value}


def _in_a_branch(operators: list[Any]) -> None:
    decides = next(operator for operator in operators if operator["#"] == "1.if")
    scaled = next(one for one in decides["regions"][1]["blocks"][0]["ops"] if one["#"] == "1.scale")
    scaled["A"][0]["AT"] = {"#": "0.a_str", "D": "much"}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda operators: _kept(operators, "0.a_str", "yes"),
            "2, mean: its attribute 'keepdim' holds 'yes', where bool",
        ),
        (lambda operators: _kept(operators, "0.a_i32", 1), "2, mean: its attribute 'keepdim' holds '1', where bool"),
        (lambda operators: _mean(operators)["I"].clear(), "2, mean: it has 0 operands, where 1 are due"),
        (lambda operators: _mean(operators)["I"].append({"%": 1}), "2, mean: it has 3 operands, where 1 are due"),
        (_in_a_branch, "scale: its attribute 'bias' holds 'much', where Scalar is due"),
    ],
)
def test_an_operator_that_does_not_fit_its_function_is_named(
    change: Callable[[list[Any]], None], said: str, tmp_path: Path
) -> None:
    saved("deciding", tmp_path)
    program = tmp_path / "inference.json"
    content = json.loads(program.read_text())
    assert build(str(program), ["x"]) is not None
    change(content["program"]["regions"][0]["blocks"][0]["ops"])
    program.write_text(json.dumps(content))
    with pytest.raises(BundleError) as error:
        build(str(program), ["x"])
    assert said in error.value.what and error.value.where == str(program)

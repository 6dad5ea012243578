"""The table against the installed Paddle, and the check that guards it."""

import dataclasses

import paddle
import pytest
from packaging.version import Version

from exporter.export.lower.pdmodel import audit
from exporter.export.lower.pdmodel.attributes import constant
from exporter.export.lower.pdmodel.table import TABLE
from exporter.paddle.sunk import sunk_apis


def test_the_table_agrees_with_the_installed_paddle():
    assert audit.mistakes() == ()


def test_every_sunk_api_has_a_line_and_every_line_that_is_not_newer_is_sunk():
    here = Version(paddle.__version__)
    assert set(sunk_apis()) == {api for api, entry in TABLE.items() if Version(entry.since) <= here}
    assert len(TABLE) >= 56, "lines are added, none is lost"


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"operator": "reduce_summ"}, "no operator reduce_summ"),
        ({"inputs": {"Input": "x"}}, "reduce_sum has no input Input"),
        ({"inputs": {}}, "reduce_sum needs the input X"),
        ({"output": "Output"}, "reduce_sum does not write Output alone"),
        ({"attributes": {"axis": constant(0)}}, "reduce_sum has no attribute axis"),
        ({"tensors": {"axis": "AxisTensor"}}, "reduce_sum has no input AxisTensor"),
        ({"signature": "x, axis=None, keepdim=False, dtype=None"}, "its signature is (x, axis=None, dtype=None"),
        ({"signature": "x, axis=None, dtype=None"}, "takes keepdim too"),
        ({"inputs": {"X": "input"}}, "no parameter {'input'}"),
    ],
)
def test_a_wrong_line_is_found(monkeypatch, change, complaint):
    monkeypatch.setitem(TABLE, "sum", dataclasses.replace(TABLE["sum"], **change))
    assert any(problem.startswith(f"paddle.sum ({complaint}") for problem in audit.mistakes())


def test_an_api_without_a_line_is_found(monkeypatch):
    monkeypatch.delitem(TABLE, "tanh")
    assert audit.mistakes() == ("paddle.tanh (only in C++ now)",)

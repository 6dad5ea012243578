"""EX123: a tensor that is the default of a parameter is made once, and the layer does not own it."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.check.run import check

NET = """
import paddle


def scaled(x, factor={default}):
    return x * factor


class Net(paddle.nn.Layer):
    def forward(self, x, scale={default}):
        return {result}


def build():
    return Net()
"""


def lines(place: Path, default: str, result: str) -> list[int]:
    (place / "net.py").write_text(NET.replace("{default}", default).replace("{result}", result))
    return [finding.location.line for finding in check([str(place / "net.py")]) if finding.code == "EX123"]


@pytest.mark.parametrize("result", ["x * scale", "scaled(x)", "scaled(x, factor=2.0)"])
def test_a_default_of_forward_is_blamed_where_it_is_made(result: str, tmp_path: Path) -> None:
    """A function that forward calls is made anew in the trace, and its default with it (measured on Paddle 3.3.1)."""
    assert lines(tmp_path, "paddle.full([4], 2.0)", result) == [10]


@pytest.mark.parametrize("default", ["2.0", "None", "(1, 2)"])
def test_a_default_that_is_no_tensor_is_none(default: str, tmp_path: Path) -> None:
    assert lines(tmp_path, default, "x * 2.0 if scale is None else x + 1.0") == []

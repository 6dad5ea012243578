"""An input that turns out to be a list or a dict is used by what its parts are used for."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.check.run import check

_MODEL = """import paddle
from paddle import nn


class Net(nn.Layer):
    def forward(self, given):
        {code}
        return {result}
"""


@pytest.mark.parametrize(
    ("code", "result", "codes"),
    [
        ("a, b = given", "paddle.concat([a, b], axis=-1)", []),
        ("a, b = given[:]", "nn.functional.relu(b)", []),
        ("a = given.get('past', paddle.empty([0]))", "paddle.tanh(a)", []),
        ("a = paddle.ones([2])", "paddle.tanh(a)", ["EX107"]),
    ],
)
def test_what_comes_of_the_parts_of_an_input_depends_on_it(
    code: str, result: str, codes: list[str], tmp_path: Path
) -> None:
    (tmp_path / "net.py").write_text(_MODEL.format(code=code, result=result))
    assert [finding.code for finding in check([str(tmp_path / "net.py")])] == codes

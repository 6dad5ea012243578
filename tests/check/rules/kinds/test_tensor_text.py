"""EX116: text of sizes that vary, and of none."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.check.run import check

NET = """
import paddle


class Net(paddle.nn.Layer):
    def forward(self, x):
        {line}
            return x * 2.0
        return x * 3.0


def build():
    return Net()


SPECS = [paddle.static.InputSpec({shape}, "float32", "x")]
"""
LINES = [
    'if str(list(x.shape)).startswith("[3,"):',
    'if f"{x.shape}" == "[3, 4]":',
    'if str(tuple(x.shape)) in ("(3, 4)", "(5, 4)"):',
    'if "%s" % (x.shape,) == "[3, 4]":',
    'if "{}".format([x.shape[0], 7]) == "[3, 7]":',
    'if repr({"rows": x.shape[0]}) == "{\'rows\': 3}":',
]


def codes(place: Path, line: str, shape: str) -> list[tuple[int, str]]:
    (place / "net.py").write_text(NET.replace("{line}", line).replace("{shape}", shape))
    return [(finding.location.line, finding.code) for finding in check([str(place / "net.py")])]


@pytest.mark.parametrize("line", LINES)
def test_text_of_a_container_of_sizes_that_vary_holds_no_number(line: str, tmp_path: Path) -> None:
    assert codes(tmp_path, line, "[None, 4]") == [(7, "EX116")]


@pytest.mark.parametrize("line", LINES)
def test_sizes_that_are_known_are_text_as_eager_has_it(line: str, tmp_path: Path) -> None:
    assert codes(tmp_path, line, "[3, 4]") == []

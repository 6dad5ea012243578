"""What stock Paddle does not convert and the exporter does: a note (EX118), or a warning (EX119)."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.check.run import examine

CODE = """import functools

import paddle

class Net(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.part = functools.partial(self.turn, limit=2.0)
        self.made = lambda t: t * 2.0 if t.mean() > 0 else t

    @paddle.jit.not_to_static
    def left(self, t):
        # as it is
        return t * 2.0 if t.mean() > 0 else t

    def turn(self, t, limit=1.0):
        return t * limit if t.mean() > limit else t

    def flat(self, t):
        return t.reshape([t.shape[0] * 4])

    def both(self, a, b):
        return a * b if a.mean() > 0 else a - b

    def forward(self, x):
        y = x * 2.0
        {}
        return y

SPECS = [{{"name": "x", "shape": [None, 4], "dtype": "float32"}}]
"""


@pytest.mark.parametrize(
    ("line", "finding"),
    [
        ("y = self.part(y)", ("EX118", "info", 17)),
        ("y = functools.partial(functools.partial(self.turn))(y)", ("EX118", "info", 17)),
        ("y = sum(map(self.turn, (x, y)))", ("EX118", "info", 17)),
        ("y = sum(map(self.flat, (x, y)))", ("EX118", "info", 27)),
        ("y = functools.reduce(self.both, (x, y))", ("EX118", "info", 23)),
        ("y = self.made(y)", ("EX118", "info", 9)),
        ("y = functools.partial(self.made)(y)", ("EX118", "info", 9)),
        ("y = functools.partial(self.left)(y)", ("EX118", "error", 14)),
    ],
)
def test_what_the_exporter_has_converted_is_a_note(line: str, finding: tuple[str, str, int], tmp_path: Path) -> None:
    assert _told(line, tmp_path) == [finding]


@pytest.mark.parametrize(
    ("line", "finding"),
    [
        (
            "for _ in range(5):\n            y = y + 1.0\n            if y.mean() > 9:\n                break",
            ("EX119", "warning", 30),
        ),
        (
            "on = True\n        while on:\n            y = y + 1.0\n            on = y.mean() < 9",
            ("EX119", "warning", 28),
        ),
        ("if y.mean() > 9:\n            raise ValueError('no')", ("EX119", "error", 28)),
    ],
)
def test_a_loop_that_may_go_on_in_the_program_is_a_warning(
    line: str, finding: tuple[str, str, int], tmp_path: Path
) -> None:
    assert _told(line, tmp_path) == [finding]


def _told(line: str, folder: Path) -> list[tuple[str, str, int]]:
    (folder / "net.py").write_text(CODE.format(line))
    findings = examine([str(folder / "net.py")]).findings
    return [(found.code, found.severity.value, found.location.line) for found in findings]

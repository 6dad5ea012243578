"""What stock Paddle cannot trace of sizes, and the exporter can: a note (EX114, EX117)."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.check.run import examine

CODE = """import paddle

class Net(paddle.nn.Layer):
    def forward(self, x):
        y = x * 2.0
        {}
        return y

SPECS = [{{"name": "x", "shape": [None, 4], "dtype": "float32"}}]
"""


@pytest.mark.parametrize(
    ("line", "finding"),
    [
        ("y = y[max(x.shape[0] - 2, 0) :]", ("EX114", "info")),
        ("y = y[: min(y.shape[0], x.shape[0], 3)]", ("EX114", "info")),
        ("y = y[: sorted([y.shape[0], 3])[0]]", ("EX114", "error")),
        ("y = y * max(y.sum(), x.shape[0])", ("EX114", "error")),
        ("y = y * max(x.shape[0], 0.5)", ("EX114", "error")),
        ("assert y.shape == [x.shape[0], 4]", ("EX117", "info")),
        ("if y.shape != [x.shape[0], 4]: raise ValueError(y.shape)", ("EX117", "info")),
        ("if y.shape != [x.shape[0], 4]: y = y + 1.0", ("EX117", "error")),
        ("assert [y.sum(), x.shape[0]] == [4, x.shape[0]]", ("EX117", "error")),
    ],
)
def test_of_sizes_that_the_exporter_writes_it_is_a_note(line: str, finding: tuple[str, str], tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(CODE.format(line))
    findings = examine([str(tmp_path / "net.py")]).findings
    assert [(found.code, found.severity.value) for found in findings] == [finding]

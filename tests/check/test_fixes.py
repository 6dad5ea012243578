"""What --fix writes: only what is asked, once, and with the same answer from the eager model."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.check.fixes import FIXERS, fix
from exporter.check.run import check

HEAD = "import paddle\nimport paddle as pd\n\n\nclass Net(paddle.nn.Layer):\n"
#: For each code: the body of the class, and what must stand there afterwards.
CASES = {
    "EX104": (
        """
    def forward(self, x):
        y = x * 2.0  # é
        return y, [y, x + 1]
""",
        "return y, [y.clone(), x + 1]",
    ),
    "EX105": (
        """
    def forward(self, x, m):
        return x * m, {'a': x, 'b': m}
""",
        "{'a': x.clone(), 'b': m.clone()}",
    ),
    "EX106": (
        """
    def forward(this, x):
        y = this.scale(x)
        return y

    def scale(self, x):
        return x * 3.0
""",
        "def forward(self, x):\n        y = self.scale(x)",
    ),
    "EX112": (
        """
    def forward(self, x):
        y = x * 2.0
        if isinstance(
            y, pd.Tensor
        ):
            y = y + 1
        return y
""",
        "if pd.is_tensor(y):",
    ),
    "EX117": (
        """
    def forward(self, x):
        m = x.mean()
        y = x * 2.0
        if not 0.0 < m < 1.0:
            y = y + 1.0
        return y
""",
        "if not (0.0 < m and m < 1.0):",
    ),
    "EX135": (
        """
    def forward(self, x):
        return paddle.tanh(x)


class Scaled(Net):
    def forward(self, x):
        return super().forward(x) * 2.0


class Last(Scaled):
    pass
""",
        "return super(Scaled, self).forward(x) * 2.0",
    ),
}


def test_every_fixer_has_a_case() -> None:
    assert set(CASES) == set(FIXERS)


@pytest.mark.parametrize("code", CASES)
def test_a_fix_is_written_and_is_enough(code: str, tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    before, expected = CASES[code]
    file.write_bytes((HEAD + before + "\n# the end, ünchanged\n").encode())
    found = [each for each in check([str(file)]) if each.code == code]
    assert fix(found).mended == len(found) == 1 or code == "EX105"
    after = file.read_text(encoding="utf-8")
    assert expected in after
    assert after.endswith("# the end, ünchanged\n")
    assert [each for each in check([str(file)]) if each.code == code] == []
    assert fix(check([str(file)])).mended == 0, "a second run finds nothing to do"
    assert file.read_text(encoding="utf-8") == after


def test_what_is_not_certain_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    alias = "    def forward(self, x):\n        y = x\n        return x * 2.0, y\n"
    rebound = "    def forward(this, x):\n        f = lambda this: this + 1\n        return f(x)\n"
    for body in (alias, rebound):
        file.write_text(HEAD + body)
        assert fix(check([str(file)])).mended == 0
        assert file.read_text() == HEAD + body


def test_each_finding_that_is_left_says_why(tmp_path: Path) -> None:
    file = tmp_path / "net.py"
    file.write_text(
        "import random\n" + HEAD + "    def forward(self, x):\n        y = x * random.random()\n"
        "        z = y.mean()\n        return y, y, (0.0 < self.scale(z) < 1.0)\n\n"
        "    def scale(self, x):\n        if 0.0 < x.sum() < 1.0:\n            return x * 2.0\n        return x\n"
    )
    found = check([str(file)])
    done = fix(found)
    whys = {finding.code: why for finding, why in done.left}
    assert done.mended + len(done.left) == len(found) and done.mended == 1
    assert "EX104" not in whys and "no rewrite" in whys["EX101"] and "reading `y` twice" in whys["EX117"]


SAME = """
import importlib.util, sys
import numpy as np, paddle
def answers(path):
    spec = importlib.util.spec_from_file_location("net", path); module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    x = paddle.to_tensor(np.linspace(-1, 2, 8, dtype="float32").reshape(2, 4))
    net = getattr(module, "Last", module.Net)()
    found = net.forward(*[x] * (type(net).forward.__code__.co_argcount - 1))
    return [each.numpy() for each in paddle.utils.flatten(found)]
for one, other in zip(sys.argv[1::2], sys.argv[2::2]):
    for a, b in zip(answers(one), answers(other), strict=True):
        assert (a == b).all(), (one, a, b)
print("same")
"""


def test_the_eager_model_answers_the_same(tmp_path: Path) -> None:
    import subprocess
    import sys

    files: list[str] = []
    for code, (before, _) in CASES.items():
        old, new = tmp_path / f"old_{code}.py", tmp_path / f"new_{code}.py"
        for file in (old, new):
            file.write_text(HEAD + before, encoding="utf-8")
        fix(check([str(new)]))
        assert new.read_bytes() != old.read_bytes()
        files += [str(old), str(new)]
    done = subprocess.run([sys.executable, "-c", SAME, *files], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "same", done.stderr[-2000:]

"""What real code does rightly has no error, and the wrong thing that looks like it still has one."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.check.run import examine
from tests.check.test_certainty import found

#: Code with `{}` for what is right and for what is wrong; seen in packages by `python -m evals.real`, and exported.
CASES = {
    "EX101": (
        "        start = time.time()\n        while paddle.device.is_compiled_with_cuda():\n"
        "            time.sleep(time.time() - start)\n        return x * {}\n",
        ("2.0", "(time.time() - start)"),
    ),
    "EX103": (
        "        self.mean = self.mean.{}\n        return x - self.mean\n",
        ("cast(x.dtype)", "cast(x.dtype) * 2.0"),
    ),
    "EX112": (
        "        limit = paddle.to_tensor(2.0, dtype=x.dtype)\n        if not isinstance(limit, paddle.Tensor):\n"
        "            limit = {}\n        return x * limit\n",
        ("paddle.to_tensor(limit, dtype=x.dtype)", "paddle.zeros([1])"),
    ),
    "EX112 of a number": (
        "        angle = float(x.mean())\n        return x * angle if isinstance(angle, {}) else x - angle\n",
        ("int", "float"),
    ),
    "EX117": (
        "        shape = [x.shape[0], x * 2.0]\n        return x if shape != {} else x * 2.0\n",
        ("[]", "[1, 2]"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_right_one_has_no_error_and_the_wrong_one_has(name: str, tmp_path: Path) -> None:
    code, forms = CASES[name]
    head = "import time\n\nclass Net(nn.Layer):\n    def __init__(self):\n        super().__init__()\n"
    head += "        self.mean = paddle.ones([4])\n\n    def forward(self, x):\n"
    right, wrong = (found(tmp_path, head + code.format(form)) for form in forms)
    assert "error" not in right.values(), right
    assert wrong.get(name[:5]) == "error", wrong


def test_a_buffer_that_gets_another_shape_holds_the_same(tmp_path: Path) -> None:
    code = """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("mask", paddle.ones([4, 4]))

    def forward(self, x):
        if self.mask.ndim == 2:
            self.mask.unsqueeze_(0)
        return x + self.mask
"""
    assert "error" not in found(tmp_path, code).values()
    assert found(tmp_path, code.replace("unsqueeze_(0)", "add_(x.mean())"))["EX103"] == "error"


def test_code_for_another_framework_is_not_judged(tmp_path: Path) -> None:
    code = """
class Net(Pretrained):
    def __init__(self, config):
        super().__init__(config)

    def forward(self, x):
        for place, (one, two) in enumerate(zip(x, x)):
            if place > 2:
                break
        return x.size(-1)
"""
    (tmp_path / "other.py").write_text("import torch\nfrom transformers import Pretrained\n" + code)
    assert [finding.code for finding in examine([str(tmp_path / "other.py")]).findings] == ["EX002"]

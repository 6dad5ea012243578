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
    "EX103 taken back": (
        "        if self.mask is None:\n            self.mask = (x > 0).astype('float32')\n        y = x * self.mask\n"
        "        {}\n        return y\n",
        ("if self.anew:\n            self.mask = None", "self.last = None"),
    ),
    "EX103 by keys": (
        "        {}\n        self.counts['seen'] += 1\n        y = x * self.counts['seen']\n"
        "        self.counts = dict.fromkeys(self.counts, 0)\n        return y\n",
        ("self.counts = dict.fromkeys(self.counts, 0)", "pass"),
    ),
    "EX112 of a type": (
        "        module = numpy if type(x) is {} else paddle\n        return module.exp(x)\n",
        ("numpy.ndarray", "paddle.Tensor"),
    ),
    "EX120": (
        "        if {}:\n            y = x * 2.0\n        return y\n",
        ("paddle.base.framework._non_static_mode()", "x.sum() > 0"),
    ),
    "EX122": (
        "        out = paddle.zeros([2, 3])\n        flat = paddle.flatten(out)\n        flat[0] = x.sum()\n"
        "        return paddle.reshape(flat, {}.shape)\n",
        ("out", "(out * 2.0)"),
    ),
    "EX132": (
        "        out, outer = [], []\n        for i in range(x.shape[0]):\n            parts = {}\n"
        "            for k in range(2):\n                parts.append(x[i] * k)\n            out.append(sum(parts))\n"
        "        return paddle.stack(out)\n",
        ("[]", "outer"),
    ),
    "EX132 in a branch": (
        "        if x.sum() > 0:\n            parts = [x]\n            {}\n"
        "            x = x + sum(parts)\n        return x\n",
        ("parts.extend([x * 2.0])", "if x.mean() > 0:\n                parts.append(x)"),
    ),
    "EX101 in no output": (
        "        noise = paddle.to_tensor(numpy.random.rand(4), dtype='float32')\n"
        "        for _ in range(3):\n            noise = noise * 2.0\n        return x * {}\n",
        ("2.0", "noise"),
    ),
    "EX103 of a size": (
        "        if self.mask is None:\n            self.mask = {}\n        return x * self.mask\n",
        ("x.shape[1]", "x.mean()"),
    ),
    "EX112 of a warning": (
        "        if not any(not each.stop_gradient for each in [x]):\n            {}\n        return x * 2.0\n",
        ("print('no gradient')", "x = x * 3.0"),
    ),
    "EX112 of a refusal": (
        "        x = x * 2.0\n        if isinstance(x, paddle.Tensor) and x.ndim == 2:\n            {}\n"
        "        return x\n",
        ("raise ValueError('rank')", "x = x * 3.0"),
    ),
    "EX103 of a choice": (
        "        self.chosen = {}\n        return [x.topk(k)[0] for k in self.chosen]\n",
        ("list(filter(lambda k: k < 4, self.chosen))", "[k + 1 for k in self.chosen]"),
    ),
    "EX101 in an object": (
        "        times = [time.time()]\n        y = x * 2.0\n        times.append(time.time())\n        return {}\n",
        ("Timed(y, times).y", "y * times[0]"),
    ),
    "EX112 of a check": (
        "        if not paddle.in_dynamic_mode():\n            {}\n        return x * 2.0\n",
        ("paddle.base.data_feeder.check_type(x, 'x', list, 'net')", "x = x * 3.0"),
    ),
    "EX113": (
        "        return x / numpy.linspace(1.0, 2.0, 5)[{}]\n",
        ("self.anew", ":4"),
    ),
    "EX103 of a table": (
        "        place = paddle.arange(x.shape[1]).unsqueeze(1) * paddle.arange(4)\n"
        "        table = paddle.zeros([x.shape[1], 4])\n        table[:, 0::1] = paddle.sin(place){}\n"
        "        self.mean = table\n        return x + self.mean\n",
        ("", " * x.mean()"),
    ),
    "EX122 of a column": (
        "        y = x * 2.0\n        part = y[:, 2:]\n        y[:, {}] = 0.0\n        return y + part.sum()\n",
        ("0:2", "1:3"),
    ),
    "EX103 of an order": (
        "        self.chosen.{}()\n        return x.topk(self.chosen[0])[0]\n",
        ("sort", "reverse"),
    ),
    "EX103 of names": (
        "        self.told.append(x.shape[1])\n        self.names.extend(self.told)\n        return x * {}\n",
        ("2.0", "len(self.names)"),
    ),
    "EX112 of code of its own": (
        "        y = x * 2.0\n        if isinstance(y, paddle.Tensor):\n            y = {}\n        return y\n",
        ("self.prepared(y)", "paddle.tanh(y)"),
    ),
    "EX112 of an array": (
        "        y = x * 2.0\n        if isinstance(y, paddle.Tensor):\n            {} = y.detach()\n"
        "        return y + x\n",
        ("y", "x"),
    ),
    "EX112 of two ways": (
        "        if x.is_leaf:\n            y = {}\n        else:\n            y = paddle.tanh(x)\n        return y\n",
        ("self.prepared(x)", "paddle.exp(x)"),
    ),
    "EX101 of a seed": ("        paddle.seed(3)\n        return paddle.{}\n", ("tanh(x)", "bernoulli(x)")),
    "EX103 of a time": (
        "        start = time.time()\n        self.spent += time.time() - start\n"
        "        self.spent += time.time() - start\n        return x * 2.0{}\n",
        ("", " * self.spent"),
    ),
    "EX103 of a message": (
        "        self.spent += 1\n        if self.mean.ndim and self.spent > 3:\n            {}\n"
        "        return x * 3.0\n",
        ("print(self.spent)", "x = x * 2.0"),
    ),
    "EX103 of the weights": (
        "        self.mean = {}\n        return x - self.mean\n",
        ("self.fc.weight.mean(0)", "x.mean(0)"),
    ),
    "EX118": (
        "        sizes = (x.shape[0], 4)\n        return x.reshape([functools.reduce({}, sizes, 1)])\n",
        ("operator.mul", "self.scaled"),
    ),
    "EX119 of a sparse one": (
        "        if {}:\n            if self.mask == 1:\n                return x\n            x = x * 2.0\n"
        "        return x + 1.0\n",
        ("x.is_sparse_coo()", "x.sum() > 0"),
    ),
    "EX120 of a key": (
        "        parts = dict(self.counts)\n        if x.sum() > 0:\n            parts['rows'] = {}\n"
        "        return parts['rows'] * x\n",
        ("parts['rows'] * 2.0", "x * 2.0"),
    ),
    "EX117": (
        "        shape = [x.shape[0], x * 2.0]\n        return x if shape != {} else x * 2.0\n",
        ("[]", "[1, 2]"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_right_one_has_no_error_and_the_wrong_one_has(name: str, tmp_path: Path) -> None:
    code, forms = CASES[name]
    head = "import functools\nimport operator\nimport sys\nimport time\n\nimport numpy\n\n"
    head += "class Timed:\n    def __init__(self, y, times):\n        self.y, self.times = y, times\n\n"
    head += "class Net(nn.Layer):\n"
    head += "    def prepared(self, x):\n        return x * 2.0\n\n    @paddle.jit.not_to_static\n"
    head += "    def scaled(self, one, other):\n        return one * other\n\n    def __init__(self):\n"
    head += "        super().__init__()\n        self.fc, self.spent = nn.Linear(4, 4), 0.0\n"
    head += "        self.chosen, self.told, self.names = [1, 9], [], []\n"
    head += "        self.mean = paddle.ones([4])\n        self.mask, self.anew = None, len(sys.argv) > 1\n"
    head += "        self.counts = {'seen': 0}\n\n    def forward(self, x):\n"
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


def test_a_layer_of_one_call_that_holds_one_of_the_model(tmp_path: Path) -> None:
    code = """
class Part(nn.Layer):
    def __init__(self, whole):
        super().__init__()
        self.whole = whole

    def forward(self, x):
        return self.whole.fc(x)

class Parts(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)

    def __getitem__(self, index):
        return Part(self)

class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.parts = Parts()

    def forward(self, x):
        return self.parts[0](x)
"""
    assert "error" not in found(tmp_path, code).values()
    assert found(tmp_path, code.replace("= whole\n", "= Parts()\n"))["EX102"] == "error"


def test_the_mode_that_a_constructor_sets_is_set_anew(tmp_path: Path) -> None:
    code = """
class Net(nn.Linear):
    def __init__(self):
        super().__init__(4, 4)
        self.training = True

    def forward(self, x):
        # here
        return super().forward(x)
"""
    assert "EX129" not in found(tmp_path, code)
    assert found(tmp_path, code.replace("# here", "self.training = True"))["EX129"] == "error"


def test_what_a_configuration_says_to_drop_may_be_nothing(tmp_path: Path) -> None:
    code = """
class Net(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.part = nn.Sequential(nn.Linear(4, 4), nn.Dropout(config.drop))

    def forward(self, x):
        self.part.train()
        return self.part(x)
"""
    assert found(tmp_path, code)["EX129"] == "warning"
    assert found(tmp_path, code.replace("config.drop", "0.5"))["EX129"] == "error"


def test_an_empty_tensor_stands_for_none(tmp_path: Path) -> None:
    code = """
class Part(nn.Layer):
    def forward(self, x, cache):
        return x + cache if cache.shape[0] > 0 else x

class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self, x, cache=paddle.zeros([0, 4])):
        return self.part(x, cache)
"""
    assert "error" not in found(tmp_path, code).values()
    assert found(tmp_path, code.replace("[0, 4]", "[1, 4]"))["EX123"] == "error"


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


def test_state_that_another_method_sets_anew_is_a_warning(tmp_path: Path) -> None:
    code = """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.last = paddle.zeros([4])

    def reset(self):
        # here

    def forward(self, x):
        y = x + self.last
        self.last = y.mean(0)
        return y
"""
    assert found(tmp_path, code.replace("# here", "pass"))["EX103"] == "error"
    assert found(tmp_path, code.replace("# here", "self.last = paddle.zeros([4])"))["EX103"] == "warning"


def test_what_a_function_of_paddle_gives_that_is_no_operator_is_not_known(tmp_path: Path) -> None:
    code = """
class Net(nn.Layer):
    def forward(self, x):
        if paddle.WHERE(x):
            raise ValueError("no")
        return x * 2.0
"""
    assert "error" not in found(tmp_path, code.replace("WHERE", "framework.asks")).values()
    assert found(tmp_path, code.replace("WHERE", "any"))["EX119"] == "error"


def test_the_function_of_an_operator_with_a_gradient_is_no_layer(tmp_path: Path) -> None:
    code = """
class Net(Kept):
    def __init__(self):
        super().__init__()

    def forward(ctx, x):
        return x * 2.0
"""
    assert "error" not in found(tmp_path, code).values()
    assert found(tmp_path, code.replace("ctx", "this"))["EX106"] == "error"

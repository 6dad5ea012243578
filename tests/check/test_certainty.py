"""An error stands only where the model surely goes, as it is configured; what real code does rightly has none."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.check.run import examine

HEAD = "import math\nimport random\n\nimport numpy as np\nimport paddle\nfrom paddle import nn\n\n\n"


def found(folder: Path, code: str) -> dict[str, str]:
    """Severity by code, of errors and warnings."""
    file = folder / "net.py"
    file.write_text(HEAD + code)
    order = {"error": 0, "warning": 1}
    every = [each for each in examine([str(file)]).findings if each.severity.value in order]
    return {each.code: each.severity.value for each in sorted(every, key=lambda each: -order[each.severity.value])}


UNDECIDED = {
    "an argument that nobody gave": """
class Net(nn.Layer):
    def __init__(self, flag, width):
        super().__init__()
        self.flag = flag

    def forward(self, x):
        y = x * 2.0
        if self.flag:
            y = paddle.to_tensor(np.sort(y))
        return y
""",
    "behind an early return": """
class Net(nn.Layer):
    def __init__(self, flag, width):
        super().__init__()
        self.flag = flag

    def forward(self, x):
        y = x * 2.0
        if self.flag:
            return y
        return paddle.to_tensor(np.sort(y))
""",
    "an input that need not be given": """
class Net(nn.Layer):
    def forward(self, x, mask=None):
        y = x * 2.0
        if mask is not None:
            y = paddle.to_tensor(np.sort(y))
        return y
""",
    "one of two functions": """
class Net(nn.Layer):
    def __init__(self, flag, width):
        super().__init__()
        self.last = np.sort if flag else paddle.sort

    def forward(self, x):
        return paddle.tanh(self.last(x * 2.0))
""",
    "a branch of a tensor's on the way": """
class Net(nn.Layer):
    def __init__(self, flag, width):
        super().__init__()
        self.flag = flag

    def forward(self, x):
        y = x * 2.0
        mask = y
        if self.flag:
            if y.mean() > 0:
                mask = None
        return y if mask is None else y * mask
""",
    "a hook that is there for some": """
class Net(nn.Layer):
    def __init__(self, flag, width):
        super().__init__()
        self.inner = nn.Linear(4, 4)
        if flag:
            self.inner.register_forward_post_hook(lambda layer, given, y: paddle.to_tensor(np.sort(y)))

    def forward(self, x):
        return self.inner(x)
""",
}


#: Behind it come the lines of a `forward` that has `y` and a `self.flag` of which nothing is known.
FLAGGED = """
class Net(nn.Layer):
    def __init__(self, flag, width):
        super().__init__()
        self.flag = flag

    def forward(self, x):
        y = x * 2.0
"""
FORMS = {
    "a case of a match": """
        match self.flag:
            case 1:
                y = paddle.to_tensor(np.sort(y))
        return y
""",
    "a handler": """
        try:
            y = y + 1.0
        except ValueError:
            y = paddle.to_tensor(np.sort(y))
        return y
""",
    "a conditional expression": """
        return paddle.to_tensor(np.sort(y)) if self.flag else y
""",
    "the right side of an and": """
        z = self.flag and paddle.to_tensor(np.sort(y))
        return y if z is None else z
""",
}


@pytest.mark.parametrize("lines", FORMS.values(), ids=FORMS.keys())
def test_every_form_of_a_condition_leaves_a_warning(tmp_path: Path, lines: str) -> None:
    assert found(tmp_path, FLAGGED + lines) == {"EX113": "warning"}


@pytest.mark.parametrize("code", UNDECIDED.values(), ids=UNDECIDED.keys())
def test_where_a_condition_is_not_known_a_fault_is_a_warning(tmp_path: Path, code: str) -> None:
    severities = set(found(tmp_path, code).values())
    assert severities == {"warning"}


def test_where_the_configuration_is_known_it_is_an_error(tmp_path: Path) -> None:
    code = UNDECIDED["an argument that nobody gave"] + "\n\ndef make():\n    return Net(True, 4)\n"
    assert found(tmp_path, code) == {"EX113": "error"}
    guarded = UNDECIDED["behind an early return"].replace("            return y\n", "            raise ValueError\n")
    assert found(tmp_path, guarded) == {"EX113": "error"}


RIGHT = {
    "type only for isinstance": """
class Net(nn.Layer):
    def forward(self, x):
        y = x * 2.0
        kind = type(y) if y is not None else type(x)
        z = (y, y + 1.0)
        return z if isinstance(z, type(y)) or isinstance(z, kind) else z[0]
""",
    "place handed on": """
class Net(nn.Layer):
    def forward(self, x):
        y = x * 2.0
        return y + paddle.to_tensor(1.0, place=y.place)
""",
    "parameters put into the layer's own table": """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.scales = []
        for at in range(3):
            scale = self.create_parameter([4])
            self.scales.append(scale)
            self._take(scale)

    def _take(self, scale):
        self._parameters[scale.name] = scale

    def forward(self, x):
        for scale in self.scales:
            x = x * scale
        return x
""",
    "a layer whose weight is an attribute": """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        inner = nn.Linear(4, 4, bias_attr=False)
        self.run = lambda x: inner(x)
        self.weight = inner.weight

    def forward(self, x):
        return self.run(x * 2.0)
""",
    "buffers registered one by one": """
class Net(nn.Layer):
    def __init__(self, sizes):
        super().__init__()
        self.grids = [paddle.arange(size) for size in sizes]
        [self.register_buffer(grid.name, grid) for grid in self.grids]

    def forward(self, x):
        for grid in self.grids:
            x = x + grid.mean()
        return x
""",
    "a draw that only training reads": """
class Net(nn.Layer):
    def forward(self, x):
        chance = random.uniform(0, 1)
        skip = self.training and chance < 0.5
        return x if skip else x * 2.0
""",
    "a layer without weights": """
class Sine(nn.Layer):
    def __init__(self, count):
        super().__init__()
        self.count = count

    def forward(self, x):
        return x * math.pi / self.count


class Net(nn.Layer):
    def forward(self, x):
        return Sine(4)(x * 2.0)
""",
    "a constructor runs as Python": """
class Out(dict):
    def __init__(self, **given):
        super().__init__(**given)


class Sub(Out):
    pass


class Net(nn.Layer):
    def forward(self, x):
        made = Sub(y=x * 2.0)
        return x * 3.0
""",
    "what keeps no statistics": """
class Net(nn.Layer):
    def forward(self, x):
        return nn.functional.batch_norm(x * 2.0, None, None, training=True)
""",
    "behind a break": """
class Net(nn.Layer):
    def forward(self, x):
        y = x * 2.0
        for _ in range(3):
            y = y * 2.0
            break
            y = paddle.to_tensor(np.sort(y))
        return y
""",
    "numbers by a recursion": """
class Net(nn.Layer):
    def _slopes(self, n):
        if n < 2:
            return [1.0]
        return self._slopes(n // 2) + self._slopes(n - 1)

    def forward(self, x):
        return x * np.array(self._slopes(4)).sum()
""",
}


RIGHT |= {
    "a draw beside what decides": """
class Net(nn.Layer):
    def forward(self, x):
        if np.random.rand() > 0.5 or not self.training:
            return x * 2.0
        return x * 3.0
""",
    "a question about the mode that only guards": """
class Net(nn.Layer):
    def forward(self, x):
        if paddle.in_dynamic_mode() and x.shape[1] != 4:
            raise ValueError("another size")
        return x * 2.0
""",
    "layers put into a LayerDict": """
class Net(nn.Layer):
    def __init__(self, names):
        super().__init__()
        self.parts = nn.LayerDict(sublayers={})
        for name in names:
            self.parts[name.strip()] = nn.Linear(4, 4)

    def forward(self, x):
        return self.parts["a"](x * 2.0)
""",
    "a global layer without weights": """
class Clipped(nn.Layer):
    def __init__(self):
        super().__init__()
        self.act = nn.functional.gelu

    def forward(self, x):
        return self.act(x)


gelu = Clipped()


class Net(nn.Layer):
    def forward(self, x):
        return gelu(x * 2.0)
""",
    "a view that is made afterwards": """
class Net(nn.Layer):
    def forward(self, x):
        mask = paddle.full((4, 4), -1.0)
        mask = mask.masked_fill_(x > 0, 0)
        return mask[None, None, :, :] + x
""",
    "a network around a cell that the layer has": """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(8, 8)

    def forward(self, x):
        self.rnn = nn.RNN(self.cell, time_major=True)
        return self.rnn(x)[0]
""",
    "an input that is an object": """
class Net(nn.Layer):
    def forward(self, nested):
        return paddle.cumsum((nested.mask < 0.5).astype("float32"), 1)


def make():
    return Net()
""",
    "a transform of torchvision": """
import torchvision.transforms as T


class Flip(T.Transform):
    def __init__(self):
        super().__init__()

    def forward(self, picture):
        return picture if random.random() < 0.5 else picture[::-1]
""",
    "training mode of what holds nothing that is known": """
from elsewhere import Encoder


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.encoder = Encoder()

    def forward(self, x):
        self.train()
        return self.encoder(x)
""",
    "a name that ends like what works in place": """
class Net(nn.Layer):
    def forward(self, x):
        y = x * 2.0
        z = y
        return nn.functional.scaled_dot_product_attention_(y, y, y) + z
""",
}


@pytest.mark.parametrize("code", RIGHT.values(), ids=RIGHT.keys())
def test_what_real_code_does_rightly_is_no_error(tmp_path: Path, code: str) -> None:
    assert "error" not in found(tmp_path, code).values(), found(tmp_path, code)


KEPT = """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.longest = 0

    def forward(self, x):
        longest = x.shape[0]
        if longest > self.longest:
            self.longest = longest
        return x * 2.0
"""
ANNOTATED = """
class Net(nn.Layer):
    def forward(self, x):
        return x * 2.0 if isinstance(x, paddle.Tensor) else x * 3.0
"""
CONFIGURED = """
class Net(nn.Layer):
    def forward(self, x, train_cfg):
        if train_cfg["now"] == train_cfg["first"] + 1:
            self.queue = paddle.zeros([3])
        return x + self.queue
"""


def test_a_key_of_what_is_kept_is_a_warning_and_a_value_that_is_used_an_error(tmp_path: Path) -> None:
    assert found(tmp_path, KEPT) == {"EX103": "warning"}
    assert found(tmp_path, KEPT.replace("x * 2.0", "x * self.longest"))["EX103"] == "error"


def test_parameters_are_what_their_annotations_and_names_say(tmp_path: Path) -> None:
    quoted = ANNOTATED.replace("x)", "x: 'paddle.Tensor')", 1)
    assert found(tmp_path, quoted) == {"EX112": "error"}
    assert found(tmp_path, ANNOTATED) == {"EX112": "warning"}
    assert "error" not in found(tmp_path, CONFIGURED).values()


LINES = {
    "whole shapes of unknown sizes": (
        """
class Net(nn.Layer):
    def __init__(self, config):
        super().__init__()
        self.heads = config.heads

    def forward(self, x):
        y = paddle.matmul(x.reshape([0, 0, self.heads, -1]), x)
        if y.shape != [self.heads, 2]:
            raise ValueError(y.shape)
        return y * 2.0
""",
        "y.shape != [",
    ),
    "view of an input": (
        """
class Net(nn.Layer):
    def forward(self, x):
        return x.view([-1, 4]) * 2.0
""",
        "x.view",
    ),
    "the fifth callback": (
        """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.calls = [paddle.tanh, paddle.sin, paddle.cos, paddle.exp, self.last]

    def last(self, x):
        return paddle.to_tensor(np.sort(x))

    def forward(self, x):
        y = x * 2.0
        for call in self.calls:
            y = call(y)
        return y
""",
        "np.sort",
    ),
}


@pytest.mark.parametrize(("code", "text"), LINES.values(), ids=LINES.keys())
def test_what_failed_in_real_code_has_a_finding_at_its_line(tmp_path: Path, code: str, text: str) -> None:
    file = tmp_path / "net.py"
    file.write_text(HEAD + code)
    lines = {each.location.line for each in examine([str(file)]).findings if each.severity.value != "info"}
    wanted = next(number for number, line in enumerate((HEAD + code).splitlines(), 1) if text in line)
    assert wanted in lines

"""Where nothing says the inputs and arguments of a model, it is run with those that its code suggests."""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.check.run import examine

HEAD = "import math\n\nimport paddle\nfrom paddle import nn\n\n\n"
SUGGESTED = {
    "float32[None, 3, None, None]": """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(3, 4, 1)

    def forward(self, x):
        return self.conv(x * 2.0) / math.atan(x.shape[2])
""",
    "float32[None, None, 8]": """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 4)

    def forward(self, x):
        return self.fc(x) / math.atan(x.shape[1])
""",
    "int64[None, None]": """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(9, 4)

    def forward(self, x):
        b, t = x.shape
        return self.emb(x) / math.atan(t)
""",
    "the constructor's arguments are its defaults": """
class Net(nn.Layer):
    def __init__(self, masked=False):
        super().__init__()
        self.masked = masked

    def forward(self, x, mask):
        return paddle.where(mask, x, -x) if self.masked else x * 2.0
""",
}
NONE = {
    "a list by its name": """
class Net(nn.Layer):
    def forward(self, feats):
        return paddle.concat([each * 2.0 for each in feats])
""",
    "a list by what its items are": """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(3, 4, 1)

    def forward(self, x):
        return paddle.concat([self.conv(each) for each in x])
""",
    "a size of features": """
class Net(nn.Layer):
    def forward(self, x):
        b, t, c = x.shape
        return x * (1.0 / math.atan(c))
""",
    "inputs that are declared": """
from paddle.static import InputSpec

SPECS = [InputSpec([None, 4, 8], "float32")]


class Net(nn.Layer):
    def forward(self, x):
        return x * (1.0 / math.atan(x.shape[1]))
""",
}


def _found(folder: Path, code: str) -> list[str]:
    (folder / "net.py").write_text(HEAD + code)
    return [f"{each.severity.value} {each.message}" for each in examine([str(folder / "net.py")]).findings]


@pytest.mark.parametrize(("suggested", "code"), SUGGESTED.items(), ids=SUGGESTED.keys())
def test_what_the_code_suggests_is_a_warning_that_says_so(tmp_path: Path, suggested: str, code: str) -> None:
    (finding,) = _found(tmp_path, code)
    assert finding.startswith("warning") and suggested in finding


@pytest.mark.parametrize("code", NONE.values(), ids=NONE.keys())
def test_what_is_known_or_no_tensor_is_left_alone(tmp_path: Path, code: str) -> None:
    assert not _found(tmp_path, code)


def test_in_a_folder_nothing_is_assumed(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(HEAD + SUGGESTED["float32[None, None, 8]"])
    assert not examine([str(tmp_path)]).findings

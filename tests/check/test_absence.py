"""What reading does not see is no proof that it is not there: lists that something fills, made-up names.

Each network is right. Reading it as if nothing filled its lists, `forward` would return its input untouched.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from exporter.base.diagnostics import Severity
from exporter.check.run import check

HEADER = "import paddle\nfrom paddle import nn\n\n\n"
ALIAS = """
class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.first, self.second, self.named = [], [], {{}}
        for at, (layers, sizes) in enumerate(((self.first, (4, 8)), (self.second, (8, 4)))):
            layer = nn.Linear(*sizes)
            self.add_sublayer(f"linear_{{at}}", layer)
            layers.append(layer)
        fill(self, self.named)

    def forward(self, x):
        for layer in {walked}:
            x = layer(x)
        return x


def fill(net, table):
    for at in range(3):
        vars(net)[f"block_{{at}}"] = nn.Linear(4, 4)


def build():
    return Net()
"""
GETATTR = """
class Net({bases}):
    def __init__(self):
        super().__init__()
        for at in range(3):
            {sets}

    def forward(self, x):
        for at in range(3):
            layer = getattr(self, {name}, None)
            if layer is not None:
                x = layer(x)
        return x


def build():
    return Net()
"""


def errors(text: str, place: Path, severity: Severity = Severity.ERROR) -> list[tuple[int, str]]:
    (place / "net.py").write_text(HEADER + text)
    findings = check([str(place / "net.py")])
    return [(finding.location.line, finding.code) for finding in findings if finding.severity is severity]


@pytest.mark.parametrize(
    "walked",
    [
        "self.first",
        "self.first + self.second",
        "[*self.first, *self.second]",
        "list(self.first)",
        "tuple(self.first)",
        "self.first[:]",
        "reversed(self.first)",
        "[layer for layer in self.first]",
        "self.named.values()",
        "[self.named.get('a', paddle.nn.Identity())]",
    ],
)
def test_a_list_that_is_filled_by_another_name_may_hold_anything(walked: str, tmp_path: Path) -> None:
    assert not errors(ALIAS.format(walked=walked), tmp_path)


@pytest.mark.parametrize(
    ("bases", "sets", "name"),
    [
        ("nn.Layer", 'setattr(self, f"layer_{at}", nn.Linear(4, 4))', 'f"layer_{at}"'),
        ("nn.Layer", 'self.add_sublayer(f"layer_{at}", nn.Linear(4, 4))', 'f"layer_{at}"'),
        ("nn.Layer", 'self.__setattr__(f"layer_{at}", nn.Linear(4, 4))', '"layer_0"'),
        ("nn.Layer", 'vars(self)[f"layer_{at}"] = nn.Linear(4, 4)', '"layer_0"'),
        ("nn.Layer", 'self.__dict__["layer_" + str(at)] = nn.Linear(4, 4)', '"layer_0"'),
        ("elsewhere.WithLayers, nn.Layer", "pass", '"layer_0"'),
    ],
)
def test_an_attribute_under_a_name_that_is_made_up_may_be_there(
    bases: str, sets: str, name: str, tmp_path: Path
) -> None:
    assert not errors("import elsewhere\n\n" + GETATTR.format(bases=bases, sets=sets, name=name), tmp_path)


def test_what_surely_is_not_there_proves_what_follows(tmp_path: Path) -> None:
    """A list that was made of no items, and an attribute that nothing sets."""
    made = """
class Net(nn.Layer):
    def __init__(self, depth=0):
        super().__init__()
        self.layers = nn.LayerList([nn.Linear(4, 4) for _ in range(depth)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def build():
    return Net()
"""
    assert errors(made, tmp_path, Severity.INFO) == [(14, "EX105")]
    nothing = GETATTR.format(bases="nn.Layer", sets="pass", name='"layer"')
    assert [code for _, code in errors(nothing, tmp_path, Severity.INFO)] == ["EX105"]

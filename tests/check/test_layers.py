"""Which classes of Paddle are layers, and that what a layer gives is followed, whatever its name looks like."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import pytest

from exporter.check.models.paddle import is_layer_class
from exporter.check.run import check

ROOMS = (
    "paddle.nn",
    "paddle.nn.initializer",
    "paddle.incubate.nn",
    "paddle.vision.datasets",
    "paddle.vision.models",
    "paddle.vision.ops",
    "paddle.vision.transforms",
)


@pytest.mark.parametrize("room", ROOMS)
def test_the_layer_classes_are_those_of_paddle(room: str) -> None:
    paddle = pytest.importorskip("paddle")
    module = importlib.import_module(room)
    classes = {name: cls for name in module.__all__ if inspect.isclass(cls := getattr(module, name))}
    layers = {name for name, cls in classes.items() if issubclass(cls, paddle.nn.Layer)} - {"Layer"}
    assert {name for name in classes if is_layer_class(f"{room}.{name}")} == layers
    assert len(classes) >= 4


@pytest.mark.parametrize("name", ["LSTM", "GRU", "GELU", "SELU", "Linear", "SimpleRNN"])
def test_what_a_layer_gives_is_a_tensor(name: str, tmp_path: Path) -> None:
    recurrent = name in ("LSTM", "GRU", "SimpleRNN")
    sizes = "8, 4" if recurrent or name == "Linear" else ""
    (tmp_path / "net.py").write_text(
        "import numpy as np\nimport paddle\nfrom paddle import nn\n\n\n"
        "class Net(nn.Layer):\n"
        f"    def __init__(self):\n        super().__init__()\n        self.inner = nn.{name}({sizes})\n\n"
        f"    def forward(self, x):\n        y{', _' if recurrent else ''} = self.inner(x)\n"
        "        return paddle.to_tensor(np.sort(y))\n"
    )
    assert [finding.code for finding in check([str(tmp_path / "net.py")])] == ["EX113"]


def test_a_cache_of_attention_is_a_tuple_and_no_layer(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text(
        "import paddle\nfrom paddle import nn\n\n\n"
        "class Net(nn.Layer):\n"
        "    def __init__(self):\n        super().__init__()\n        self.attention = nn.MultiHeadAttention(8, 2)\n\n"
        "    def forward(self, x, key, value):\n"
        "        grows = nn.MultiHeadAttention.Cache(key, value)\n"
        "        stays = self.attention.StaticCache(key, value)\n"
        "        x, grown = self.attention(x, x, x, None, grows)\n"
        "        return self.attention(x, x, x, None, stays)[0], grown.k\n"
    )
    assert [finding.code for finding in check([str(tmp_path / "net.py")])] == []

"""A tensor that forward reads and the layer does not own: its line, and a cure that works in branches and loops."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import paddle
import pytest

from exporter.base.errors import ModelError
from exporter.base.tensors import TensorSpec
from exporter.export.lower.pdmodel.session import legacy_export
from exporter.export.trace.traced import trace

SHIFT = paddle.full([4], 0.5)
X = [TensorSpec("x", "float32", ("n", 4))]


class Held(paddle.nn.Layer):
    """Reads a tensor in a list; with `cured`, the buffer that the hint says."""

    def __init__(self, *, cured: bool = False) -> None:
        super().__init__()
        tensor = paddle.full([4], 0.25)
        if cured:
            self.register_buffer("kept", tensor)
        self.held = [] if cured else [tensor]

    def read(self) -> Any:
        return self.held[0] if self.held else self.kept


class InBranch(Held):
    def forward(self, x: Any) -> Any:
        return paddle.static.nn.cond(x.mean() > 0, lambda: x + self.read(), lambda: x)


class InLoop(Held):
    def forward(self, x: Any) -> Any:
        def body(turn: Any, y: Any) -> list[Any]:
            return [turn + 1, y * self.read()]

        return paddle.static.nn.while_loop(lambda turn, y: turn < 3, body, [paddle.zeros([], "int64"), x])[1]


class InIf(Held):
    def forward(self, x: Any) -> Any:
        y = x * 2
        if x.mean() > 0:
            y = y + self.read()
        return y


class Global(paddle.nn.Layer):
    def forward(self, x: Any) -> Any:
        return paddle.static.nn.switch_case(x.mean().astype("int32"), {0: lambda: x, 1: lambda: x + SHIFT})


class Unlisted(paddle.nn.Layer):
    """One layer takes the other's name, and only a list of Python still holds the first."""

    def __init__(self) -> None:
        super().__init__()
        self.all = [paddle.nn.Linear(4, 4), paddle.nn.Linear(4, 4)]
        for layer in self.all:
            self.add_sublayer("linear", layer)

    def forward(self, x: Any) -> Any:
        for layer in self.all:
            x = layer(x)
        return x


@pytest.mark.parametrize("session", [nullcontext, legacy_export])
@pytest.mark.parametrize(
    ("make", "said", "hint"),
    [
        (InBranch, r"reads a tensor of float32\[4\]", "self.register_buffer"),
        (InLoop, r"reads a tensor of float32\[4\]", "self.register_buffer"),
        (InIf, r"reads a tensor of float32\[4\]", "self.register_buffer"),
        (Global, r"reads a tensor of float32\[4\]", "self.register_buffer"),
        (Unlisted, r"reads the parameter 'linear_\d+.[wb]_0' of float32", "nn.LayerList"),
    ],
)
def test_it_is_refused_at_a_line_of_the_users(
    session: Callable[[], Any], make: Callable[[], paddle.nn.Layer], said: str, hint: str
) -> None:
    layer = make()
    layer.eval()
    with session(), pytest.raises(ModelError, match=said) as refused:
        trace(layer, X, None, {})
    path, _, line = refused.value.where.rpartition(":")
    lines, first = inspect.getsourcelines(type(layer))
    owner = inspect.getsourcelines(Held) if issubclass(type(layer), Held) else (lines, first)
    inside = [range(start, start + len(text)) for text, start in ((lines, first), owner)]
    assert path == __file__ and any(int(line) in lines for lines in inside)
    assert hint in refused.value.hint


@pytest.mark.parametrize("session", [nullcontext, legacy_export])
@pytest.mark.parametrize("make", [InBranch, InLoop, InIf])
def test_the_cure_works(session: Callable[[], Any], make: Callable[..., paddle.nn.Layer]) -> None:
    layer = make(cured=True)
    layer.eval()
    with session():
        assert trace(layer, X, None, {}).outputs[0].dtype == "float32"

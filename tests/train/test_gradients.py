"""Faults of gradients, each planted in a sound net and named at its place with its cause; nothing of healthy nets."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import paddle
import pytest
from paddle import nn

from exporter.train.gradients import Examination, examine
from recipes import digits
from tests.train import own_fits, tiny

F = nn.functional
X = np.random.default_rng(1).normal(size=(16, 6)).astype("float32")
Y = np.random.default_rng(2).integers(0, 3, 16)


class Net(nn.Layer):
    """Three layers; `between` stands between the second and the third, `begin` changes the net when it is built."""

    def __init__(
        self, begin: Callable[[Any], Any] | None = None, between: Callable[[Any, Any], Any] | None = None
    ) -> None:
        super().__init__()
        self.first, self.body, self.last = nn.Linear(6, 8), nn.Linear(8, 8), nn.Linear(8, 3)
        self.between = between
        if begin:
            begin(self)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        x = self.body(F.tanh(self.first(x)))
        x = F.tanh(x) if self.between is None else self.between(self, x)
        return self.last(x)


class Unsound(nn.Layer):
    """A sublayer with a fault of its own."""

    def __init__(self, compute: Callable[[Any], Any]) -> None:
        super().__init__()
        self.scale = self.create_parameter([1], default_initializer=nn.initializer.Constant(1.0))
        self.compute = compute

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.compute(x * self.scale)


class Unused(nn.Linear):
    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return x * 2


class Detached(nn.Linear):
    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return F.linear(x, self.weight.detach(), self.bias)


class Shifted(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.shift = paddle.ones([8])
        self.shift.stop_gradient = False

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return x + self.shift


class Tied(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.raw = self.create_parameter([8])
        self.twice = self.raw * 2

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return x * self.twice + self.raw


class Silent(nn.Linear):
    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        with paddle.no_grad():
            return super().forward(x)


def put(name: str, value: Callable[[], nn.Layer]) -> Callable[[Any], Any]:
    return lambda net: setattr(net, name, value())


def examined(
    layer: nn.Layer, loss: Any = F.cross_entropy, optimizer: Any = None, x: Any = X, y: Any = Y
) -> Examination:
    return examine(layer, loss, [paddle.to_tensor(x)], [paddle.to_tensor(y)], optimizer)


def freeze(net: Any) -> None:
    net.body.weight.stop_gradient = True


def in_place(net: Any, x: Any) -> Any:
    made = F.sigmoid(x)
    made = net.body(made)
    squared = made * made
    made.add_(paddle.ones([8]))
    return squared


#: What is planted, the places that are named, a part of what is said of each.
FAULTS: dict[str, tuple[dict[str, Any], set[str], str]] = {
    "stop_gradient": ({"begin": freeze}, {"body.weight"}, "it is frozen: stop_gradient is set"),
    "detach between layers": (
        {"between": lambda net, x: F.tanh(x).detach()},
        {"first.weight", "first.bias", "body.weight", "body.bias"},
        "behind its layer the value goes on detached",
    ),
    "through numpy": (
        {"between": lambda net, x: paddle.to_tensor(np.tanh(x.numpy()))},
        {"first.weight", "first.bias", "body.weight", "body.bias"},
        "behind its layer the value goes on detached, as numpy",
    ),
    "an operator without a gradient": (
        {"between": lambda net, x: (x > 0).astype("float32")},
        {"first.weight", "first.bias", "body.weight", "body.bias"},
        "or through an operator without one",
    ),
    "no_grad": (
        {"begin": put("body", lambda: Silent(8, 8))},
        {"body.weight", "body.bias", "first.weight", "first.bias"},
        "no gradient: ",
    ),
    "whole numbers": (
        {"begin": put("body", lambda: Unsound(lambda x: x.argmax(-1))), "between": lambda net, x: F.one_hot(x, 8)},
        {"body.scale", "first.weight", "first.bias"},
        "no gradient: ",
    ),
    "never called": (
        {"begin": put("spare", lambda: nn.Linear(2, 2))},
        {"spare.weight", "spare.bias"},
        "forward never calls its layer",
    ),
    "a result that nobody uses": (
        {"begin": put("side", lambda: nn.Linear(8, 8)), "between": lambda net, x: (net.side(x), F.tanh(x))[1]},
        {"side.weight", "side.bias"},
        "the loss does not use what its layer gives",
    ),
    "a parameter that its layer does not use": (
        {"begin": put("body", lambda: Unused(8, 8))},
        {"body.weight", "body.bias"},
        "it is used in no result of its layer",
    ),
    "a detached weight": (
        {"begin": put("body", lambda: Detached(8, 8))},
        {"body.weight"},
        "it is used without a gradient: detached",
    ),
    "a tensor that is no parameter": ({"begin": put("body", Shifted)}, {"body.shift"}, "is no parameter"),
    "a tensor computed of parameters once": (
        {"begin": put("body", Tied)},
        {"body.twice"},
        "was computed of parameters once",
    ),
    "a write in place": ({"between": in_place}, {"body"}, "what it gave is written to in place"),
    "an exploding gradient": (
        {"between": lambda net, x: F.tanh(x) * 1e6 - (F.tanh(x) * (1e6 - 1)).detach()},
        {"first.weight", "body.weight"},
        "its gradient explodes",
    ),
    "a vanishing gradient": (
        {"between": lambda net, x: x * 1e-12 + 1.0},
        {"first.weight", "body.weight"},
        "its gradient vanishes",
    ),
    "a relu that is never on": (
        {"between": lambda net, x: F.relu(x - 1e3)},
        {"first.weight", "first.bias", "body.weight", "body.bias", "last.weight"},
        "its gradient is 0 in every element",
    ),
    "NaN in a layer": ({"begin": put("body", lambda: Unsound(paddle.log))}, {"body"}, "forward makes NaN"),
    "NaN between layers": ({"between": lambda net, x: paddle.sqrt(x)}, {"forward"}, "before it calls last"),
    "NaN in the backward pass": (
        {"begin": put("body", lambda: Unsound(lambda x: paddle.sqrt(F.relu(x))))},
        {"body"},
        "its backward pass makes NaN",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_named_at_its_place_with_its_cause(fault: str) -> None:
    changes, places, said = FAULTS[fault]
    paddle.seed(1)
    found = examined(Net(**changes)).findings
    assert {finding.place for finding in found} == places
    assert all(said in finding.what and finding.hint for finding in found)
    assert {finding.severity for finding in found} <= {"error", "warning", "note"}


def test_a_loss_and_an_optimizer_have_faults_of_their_own() -> None:
    net = Net()
    (nan,) = examined(net, lambda out, y: paddle.log(out.mean() * 0 - 1)).findings
    assert nan.place == "loss"
    assert re.fullmatch(r"it is NaN or infinite, of finite outputs \(test_gradients\.py:\d+\)", nan.what)
    (none,) = examined(net, lambda out, y: paddle.to_tensor(float(out.mean()))).findings
    assert (none.place, none.what) == ("loss", "it has no gradient at all")
    groups = [{"params": net.first.parameters()}, {"params": net.body.parameters()}]
    for parameters in (groups, [*net.first.parameters(), *net.body.parameters()]):
        found = examined(net, optimizer=paddle.optimizer.SGD(0.1, parameters=parameters)).findings
        assert {finding.place for finding in found} == {"last.weight", "last.bias"}
        assert {finding.what for finding in found} == {"the optimizer was not given it"}


@pytest.mark.parametrize(
    ("layer", "shape"),
    [(Net, (16, 6)), (tiny.Tiny, (16, 6)), (own_fits.Stripes, (16, 1, 8, 8)), (digits.Digits, (16, 1, 8, 8))],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_of_a_healthy_net_nothing_is_said_but_its_sizes(layer: Any, shape: tuple[int, ...]) -> None:
    paddle.seed(1)
    net = layer()
    x = np.random.default_rng(3).normal(size=shape).astype("float32")
    optimizer = paddle.optimizer.Adam(parameters=net.parameters())
    found = examined(net, optimizer=optimizer, x=x)
    assert found.findings == ()
    trained = [name for name, value in net.named_parameters() if not value.stop_gradient]
    assert [name for name, _, _ in found.sizes] == trained
    weights = {name: (weight, gradient) for name, weight, gradient in found.sizes}
    value = dict(net.named_parameters())[trained[0]].numpy()
    assert weights[trained[0]][0] == pytest.approx(float(np.sqrt((value**2).mean())), rel=1e-5)
    assert all(gradient > 0 for _, gradient in weights.values())
    assert all(value.grad is None for value in net.parameters()), "it leaves no gradient behind"

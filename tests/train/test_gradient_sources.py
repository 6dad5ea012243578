"""Where a fault of the gradients begins: a write in place, an operator that makes NaN, a weight's owner."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import paddle
import pytest
from paddle import nn

from exporter.train.gradients import examine
from tests.train.test_gradients import X, Y

F = nn.functional
IDS = np.random.default_rng(3).integers(0, 9, (16, 6))


class Net(nn.Layer):
    """An encoder, whose result `middle` turns into what the head reads."""

    def __init__(self, middle: Callable[[Any, Any], Any] | None = None) -> None:
        super().__init__()
        self.encoder, self.body, self.head = nn.Linear(6, 7), nn.Linear(7, 7), nn.Linear(7, 3)
        self.middle = middle or (lambda net, x: net.body(F.gelu(x)))

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.head(self.middle(self, self.encoder(x)))


def found(layer: nn.Layer, loss: Any = F.cross_entropy, x: Any = X) -> list[tuple[str, str, str]]:
    """The place, severity and words of each finding."""
    optimizer = paddle.optimizer.SGD(0.1, parameters=layer.parameters())
    examination = examine(layer, loss, [paddle.to_tensor(x)], [paddle.to_tensor(Y)], optimizer)
    assert all(finding.hint for finding in examination.findings)
    return [(finding.place, finding.severity, finding.what) for finding in examination.findings]


# ---- writes in place that break the backward pass: each is named by its line, others that are sound are not ----
def scaled(net: Any, x: Any) -> Any:
    x.add_(paddle.ones_like(x))  # sound: nothing reads what was there
    squared = net.body(F.sigmoid(x) ** 2)
    gate = F.sigmoid(squared)
    result = gate * gate
    gate.scale_(3.0)  # here
    return result


def activated(net: Any, x: Any) -> Any:
    return net.body(
        F.relu_(F.tanh(x))  # here
    )


def assigned(net: Any, x: Any) -> Any:
    share = F.softmax(x)
    weighed = net.body(share)
    share[:, 0] = 0.0  # here
    return weighed * share


class Gate(nn.Layer):
    """A sublayer that writes to what it has multiplied by."""

    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(7, 7)

    def forward(self, x: Any) -> Any:
        gate = F.sigmoid(self.inner(x))
        result = x * gate
        gate.zero_()  # here
        return result


class Decaying(nn.Linear):
    def forward(self, x: Any) -> Any:
        self.weight.scale_(0.9)  # here
        return super().forward(x)


def line_of(code: Any) -> str:
    lines, first = inspect.getsourcelines(code)
    (number,) = [first + offset for offset, text in enumerate(lines) if text.rstrip().endswith("# here")]
    return f"({__file__.rpartition('/')[2]}:{number})"


def with_body(body: Callable[[], nn.Layer], middle: Callable[[Any, Any], Any] | None = None) -> nn.Layer:
    net = Net(middle)
    net.body = body()
    return net


@pytest.mark.parametrize(
    ("net", "place", "code"),
    [
        (lambda: Net(scaled), "forward", scaled),
        (lambda: Net(activated), "forward", activated),
        (lambda: Net(assigned), "forward", assigned),
        (lambda: with_body(Gate), "body", Gate),
        (lambda: with_body(lambda: Decaying(7, 7)), "body", Decaying),
    ],
)
def test_a_write_in_place_is_named_by_its_line(net: Callable[[], nn.Layer], place: str, code: Any) -> None:
    ((where, severity, what),) = found(net())
    assert (where, severity) == (place, "error") and line_of(code) in what and "in place" in what


def test_a_write_in_the_loss_is_named_by_its_line() -> None:
    def loss(output: Any, label: Any) -> Any:
        del label
        share = F.softmax(output)
        squared = share * share
        share.subtract_(paddle.full_like(share, 0.1))  # here
        return (squared + share).mean()

    ((where, _, what),) = found(Net(), loss)
    assert where == "loss" and line_of(loss) in what


# ---- who owns a weight ----
def listed(net: Any, x: Any) -> Any:
    for block in net.blocks:
        x = F.gelu(block(x))
    return net.body(x)


def in_a_list() -> nn.Layer:
    net = Net(listed)
    net.blocks = [nn.Linear(7, 7), nn.Linear(7, 7)]
    return net


def in_a_dict() -> nn.Layer:
    net = Net(lambda net, x: net.body(x) * net.scales["gain"])
    net.scales = {"gain": net.create_parameter([7])}
    return net


def from_outside() -> nn.Layer:
    outside = nn.Linear(7, 7)
    return Net(lambda net, x: outside(net.body(x)))


@pytest.mark.parametrize(
    ("net", "places", "said"),
    [
        (in_a_list, [f"blocks[{n}].{name}" for n in (0, 1) for name in ("weight", "bias")], "does not own it"),
        (in_a_dict, ["scales['gain']"], "does not own it"),
        (from_outside, ["forward"], "calls a Linear that belongs to no layer"),
        (lambda: Net(lambda net, x: nn.Linear(7, 7)(net.body(x))), ["forward"], "makes a Linear each time it runs"),
    ],
)
def test_a_weight_that_no_layer_owns_is_named(net: Callable[[], nn.Layer], places: list[str], said: str) -> None:
    told = found(net())
    assert [place for place, _, _ in told] == places
    assert all(severity == "error" and said in what for _, severity, what in told)


# ---- sources of NaN, and gradients of 0 ----
class Broken(paddle.autograd.PyLayer):  # type: ignore[misc]
    """An operator of one's own that hands back zeros."""

    @staticmethod
    def forward(context: Any, x: Any) -> Any:
        del context
        return x * 1

    @staticmethod
    def backward(context: Any, gradient: Any) -> Any:
        del context
        return gradient * 0


def logged(net: Any, x: Any) -> Any:
    return net.body(x) * paddle.log(F.relu(x)) * F.relu(x)  # here


def rooted(net: Any, x: Any) -> Any:
    off = F.relu(x - 1e3)
    return net.body(x) + paddle.sqrt((off**2).sum(-1, keepdim=True))  # here


def chosen(net: Any, x: Any) -> Any:
    return net.body(paddle.where(x > 0, paddle.log(F.relu(x)), x))  # here


class Overflowing(nn.Linear):
    def forward(self, x: Any) -> Any:
        return paddle.exp(super().forward(x) * 1e4)  # here


def unsound(name: str) -> nn.Layer:
    net = Net()
    dict(net.named_parameters())[name].set_value(paddle.full([7], np.nan))
    return net


@pytest.mark.parametrize(
    ("net", "place", "said"),
    [
        (lambda: Net(logged), "forward", f"before it calls head {line_of(logged)}"),
        (lambda: Net(rooted), "forward", f"makes NaN or infinity in sqrt {line_of(rooted)}"),
        (lambda: Net(chosen), "forward", f"makes NaN or infinity in log {line_of(chosen)}"),
        (
            lambda: with_body(lambda: Overflowing(7, 7), lambda net, x: net.body(x) / net.body(x).sum()),
            "body",
            f"of finite inputs {line_of(Overflowing)}",
        ),
        (lambda: unsound("body.bias"), "body.bias", "before the first step"),
    ],
)
def test_the_source_of_nan_is_named(net: Callable[[], nn.Layer], place: str, said: str) -> None:
    ((where, _, what),) = found(net())
    assert where == place and said in what


@pytest.mark.parametrize(
    ("net", "places", "said"),
    [
        (lambda: Net(lambda net, x: Broken.apply(net.body(x))), ["encoder", "body"], "comes back to body is 0 already"),
        (lambda: Net(lambda net, x: paddle.round(net.body(x))), ["encoder", "body"], "comes back to body is 0 already"),
        (lambda: Net(lambda net, x: net.body(x * 0)), ["encoder", "body.weight"], "its gradient is 0"),
    ],
)
def test_a_gradient_of_zero_is_followed_to_where_it_becomes_so(
    net: Callable[[], nn.Layer], places: list[str], said: str
) -> None:
    told = found(net())
    assert told and all(severity == "warning" and said in what for _, severity, what in told)
    assert all(any(place.startswith(prefix) for prefix in places) for place, _, _ in told)
    assert {place.partition(".")[0] for place, _, _ in told} == {"encoder", "body"}


def test_a_hook_that_gives_zeros_and_a_loss_of_many_numbers_are_told() -> None:
    net = Net()
    net.body.weight.register_hook(lambda gradient: gradient * 0)
    ((place, _, what),) = found(net)
    assert place == "body.weight" and "though one comes back to its layer" in what
    ((place, _, what),) = found(Net(), lambda output, label: F.cross_entropy(output, label, reduction="none"))
    assert place == "loss" and "16 numbers" in what


# ---- healthy nets that look like faulty ones ----
class Adapted(nn.Linear):
    """Its second factor starts as zero, so the first one's gradient is 0 in the first step."""

    def __init__(self) -> None:
        super().__init__(7, 7)
        self.first, self.second = nn.Linear(7, 2), nn.Linear(2, 7, bias_attr=False)
        self.second.weight.set_value(paddle.zeros([2, 7]))

    def forward(self, x: Any) -> Any:
        return super().forward(x) + self.second(self.first(x))


class Masked(nn.Layer):
    """A sublayer gives −∞ for what is not to be looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.mask = put_mask()

    def forward(self, x: Any) -> Any:
        return F.softmax(x + self.mask(x)) * 7


def put_mask() -> nn.Layer:
    class Mask(nn.Layer):
        def forward(self, x: Any) -> Any:
            return paddle.where(paddle.arange(7) < 3, paddle.zeros_like(x), paddle.full_like(x, -np.inf))

    return Mask()


class Words(nn.Layer):
    def __init__(self, **options: Any) -> None:
        super().__init__()
        self.words, self.read = nn.Embedding(9, 7, **options), nn.GRU(7, 5, direction="bidirect")
        self.head = nn.Linear(10, 3)

    def forward(self, ids: Any) -> Any:
        return self.head(self.read(self.words(ids))[0].mean(1))


def sound(net: Any, x: Any) -> Any:
    x.add_(paddle.ones_like(x))
    made = F.relu_(net.body(x))
    return net.body(F.gelu(made))


def aliased() -> nn.Layer:
    net = Net(lambda net, x: net.order[0](x))
    net.order = [net.body]
    return net


def with_mask() -> nn.Layer:
    net = Net(lambda net, x: net.masked(net.body(x)))
    net.masked = Masked()
    return net


@pytest.mark.parametrize(
    ("net", "x"),
    [
        (lambda: Words(), IDS),
        (lambda: Words(sparse=True), IDS),
        (lambda: with_body(Adapted), X),
        (with_mask, X),
        (lambda: with_body(lambda: nn.utils.weight_norm(nn.Linear(7, 7))), X),
        (lambda: Net(sound), X),
        (aliased, X),
        (lambda: Net(lambda net, x: nn.Dropout(0.1)(net.body(nn.GELU()(x)))), X),
    ],
    ids=[
        "words",
        "sparse",
        "adapter",
        "mask",
        "weight norm",
        "in place",
        "a list of its own layers",
        "made in forward",
    ],
)
def test_a_healthy_net_that_looks_faulty_is_passed(net: Callable[[], nn.Layer], x: Any) -> None:
    paddle.seed(5)
    assert found(net(), x=x) == []

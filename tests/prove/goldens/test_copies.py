"""The forms of a layer that are lent: the same numbers as those of copies, and not one bit of the layer is changed."""

from __future__ import annotations

from typing import Any

import numpy as np
import paddle
import pytest

from exporter.base.tensors import Array, TensorMap
from exporter.engines.base import EngineRefused
from exporter.prove.goldens import copies
from exporter.prove.goldens.copies import lent_moved, lent_wide, moved, moving, wide
from exporter.prove.goldens.oracle import Oracle, make_oracle


class Tied(paddle.nn.Layer):
    """One weight that two sublayers read, a buffer that `forward` writes, and a plain tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.table = paddle.nn.Embedding(12, 300)
        self.body = paddle.nn.Linear(300, 300)
        self.norm = paddle.nn.BatchNorm1D(300)
        self.register_buffer("calls", paddle.zeros([1]))

    def forward(self, ids: Any) -> Any:
        self.calls = self.calls + 1
        x = self.norm(self.body(self.table(ids)))
        return paddle.matmul(x, self.table.weight, transpose_y=True)


class ByList(Tied):
    """It takes its weights from a list, past the names by which a twin casts them."""

    def forward(self, ids: Any) -> Any:
        table, *_ = self.parameters()
        return paddle.matmul(paddle.nn.functional.embedding(ids, table), self.body.weight)


def bits(value: Array) -> Array:
    return value.view(f"uint{8 * value.itemsize}")


def weights(layer: Any) -> list[Array]:
    return [parameter.numpy() for parameter in layer.parameters()]


@pytest.fixture(autouse=True)
def seeded() -> None:
    paddle.seed(3)


IDS: TensorMap = {"ids": np.array([3, 4, 4, 11])}


def built(kind: type[Tied] = Tied) -> Tied:
    layer = kind()
    layer.eval()
    return layer


@pytest.mark.parametrize("chunk", [7, 1 << 20])
def test_weights_are_moved_as_those_of_a_copy_and_back_to_the_bit(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "_CHUNK", chunk)
    layer = built()
    tiny, largest = np.finfo("float32").smallest_subnormal, np.finfo("float32").max
    odd = np.resize(np.array([0.0, -0.0, tiny, -tiny, largest, -largest, np.inf, -np.inf, np.nan], "float32"), 300)
    layer.norm.bias.set_value(odd)
    layer.norm.weight.set_value(np.resize(np.array([0.0, *[1.0] * 40], "float32"), 300))
    before = weights(layer)
    twin = lent_moved(layer)
    with moving(twin, 5):
        during = weights(twin)
        assert all(np.array_equal(bits(own), bits(mine)) for own, mine in zip(during, weights(layer), strict=True))
    for value, own, copied in zip(before, during, weights(moved(layer, 5)), strict=True):
        assert np.array_equal(bits(own), bits(copied)), "the coins of both are the same"
        finite = np.isfinite(value) & (np.abs(value) < largest)
        assert (own[finite] != value[finite]).all()
    after = weights(layer)
    assert all(np.array_equal(bits(own), bits(value)) for own, value in zip(after, before, strict=True))


def test_weights_come_back_where_a_run_fails() -> None:
    layer = built()
    before = weights(layer)
    with pytest.raises(ZeroDivisionError), moving(layer, 1):
        raise ZeroDivisionError
    assert all(np.array_equal(own, value) for own, value in zip(weights(layer), before, strict=True))


def test_a_twin_in_float64_gives_what_a_copy_gives_and_holds_no_parameter_of_its_own() -> None:
    layer = built()
    twin = lent_wide(layer)
    ids = paddle.to_tensor(IDS["ids"])
    with paddle.no_grad():
        own, copied = twin(ids).numpy(), wide(layer)(ids).numpy()
    assert own.dtype == "float64" and np.array_equal(own, copied)
    assert str(twin.norm._mean.dtype) == "paddle.float64" and str(layer.norm._mean.dtype) == "paddle.float32"
    assert [id(parameter) for parameter in twin.parameters()] == [id(parameter) for parameter in layer.parameters()]
    assert str(twin.body.weight.dtype) == "paddle.float64" and str(layer.body.weight.dtype) == "paddle.float32"


def asked(oracle: Oracle) -> tuple[Any, ...]:
    eager, truths, gate = oracle.ask(IDS)
    truth = truths["y"]
    return eager["y"].tobytes(), truth.value.tobytes(), truth.e_ref_max, truth.e_ref_l2, truth.method, gate


def test_a_lean_oracle_measures_what_one_with_copies_does() -> None:
    plain, lean = (make_oracle(built(), ("ids",), ("y",), 7, lean=lean) for lean in (False, True))
    lean.eager.set_state_dict(plain.eager.state_dict())
    first = asked(plain)
    assert asked(lean) == first == asked(lean) and first[4] == "float64"
    before = weights(lean.eager)
    lean.ahead([IDS])
    assert asked(lean) == first
    assert all(np.array_equal(own, value) for own, value in zip(weights(lean.eager), before, strict=True))


def test_where_code_takes_weights_past_their_names_a_copy_is_in_float64_and_nothing_is_said_of_the_twin() -> None:
    oracle = make_oracle(built(ByList), ("ids",), ("y",), 7, lean=True)
    assert asked(oracle)[4] == "float64"
    assert oracle.why_not == [] and not oracle.ways[0].lent and len(oracle.ways) == 2


def test_an_iterator_of_moved_runs_that_is_closed_leaves_the_layer_as_it_was() -> None:
    layer = built()
    before = weights(layer)
    oracle = make_oracle(layer, ("ids",), ("y",), 7, lean=True)
    runs = oracle.moved_runs()
    outputs = next(runs)(IDS)
    assert not np.array_equal(weights(layer)[0], before[0]) and outputs["y"].shape == (4, 12)
    runs.close()
    assert all(np.array_equal(own, value) for own, value in zip(weights(layer), before, strict=True))
    with pytest.raises(EngineRefused):
        next(oracle.moved_runs())({"ids": np.array([0.5])})

"""The forms of a layer that are lent: the same numbers as those of copies, and not one bit of the layer is changed."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import paddle
import pytest

from exporter.base.tensors import Array, TensorMap
from exporter.engines.base import EngineRefused
from exporter.prove.goldens import copies
from exporter.prove.goldens.copies import lent_moved, lent_wide, moved, moves, moving, wide
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


SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("chunk", [47, 1 << 20])
@pytest.mark.parametrize("special", [0, 1, 5])
def test_each_number_goes_to_the_neighbour_that_its_coin_says_and_back(
    dtype: str, chunk: int, special: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copies, "_CHUNK", chunk)
    limits = np.finfo(dtype)
    numbers = np.random.default_rng(0).standard_normal((8, 50)).astype(dtype)
    numbers[::2, ::9] = np.resize(np.array([limits.smallest_subnormal, -limits.smallest_subnormal], dtype), (4, 6))
    edges = np.array([limits.max, -limits.max], dtype)
    numbers[1, : 2 * special] = np.resize(edges, 2 * special)
    numbers[2, :special] = SPECIAL[:special]
    before = numbers.copy()
    step = copies._Step()
    step.take(numbers, np.random.default_rng(5))
    up = np.random.default_rng(5).random(numbers.shape) >= 0.5
    with np.errstate(over="ignore"):
        beside = np.nextafter(before, np.where(up, np.inf, -np.inf).astype(dtype))
    expected = np.where(np.isfinite(before) & np.isfinite(beside), beside, before)
    moved_on = (expected != before) & ~np.isnan(before)
    assert np.array_equal(numbers[moved_on], expected[moved_on])
    assert np.array_equal(bits(numbers)[~moved_on], bits(before)[~moved_on])
    assert moved_on.mean() > 0.9
    step.undo(numbers)
    assert np.array_equal(bits(numbers), bits(before))


@pytest.mark.parametrize(("zeros", "whole"), [(0, False), (2, False), (3, True)])
def test_of_many_numbers_that_do_not_move_back_by_a_coin_the_whole_is_kept(zeros: int, whole: bool) -> None:
    numbers = np.ones(47 if whole else 32, "float32")
    numbers[:zeros] = 0
    step = copies._Step()
    step.take(numbers, np.random.default_rng(5))
    ((places, before),) = step.kept
    assert isinstance(places, slice) is whole and before.size == (47 if whole else zeros)


def test_a_step_is_a_rounding_of_single_and_double_precision_alone() -> None:
    moving_dtypes = {name for name in ("float16", "float32", "float64", "int32", "bool") if moves(np.zeros(1, name))}
    assert moving_dtypes == {"float32", "float64"}


class Kinds(paddle.nn.Layer):
    """Parameters of several dtypes and none, and what cannot be copied, in itself and in a sublayer."""

    def __init__(self) -> None:
        super().__init__()
        self.narrow, self.exact = (self.create_parameter([3], dtype=dtype) for dtype in ("float16", "float64"))
        self.add_parameter("none", None)
        self.whole = paddle.base.framework.EagerParamBase([3], "int64", name=None)
        self.whole.set_value(np.arange(3))
        self.body = paddle.nn.Linear(3, 3)
        self.lock, self.body.lock = threading.Lock(), threading.Lock()


def test_of_other_dtypes_weights_stay_in_a_twin_and_where_they_are_moved() -> None:
    layer = Kinds()
    before = weights(layer)
    twin = lent_wide(layer)
    assert str(twin.whole.dtype) == "paddle.int64" and twin.exact is layer.exact and twin.none is None
    assert str(twin.narrow.dtype) == "paddle.float64"
    held = vars(twin)["_parameters"]
    assert str(held.get("narrow").dtype) == "paddle.float64" and (held.get("other", 7), held.get("other")) == (7, None)
    with moving(layer, 5):
        during = weights(layer)
    names = [name for name, _ in layer.named_parameters()]
    changed = {name for name, own, value in zip(names, before, during, strict=True) if not np.array_equal(own, value)}
    assert changed == {"exact", "body.weight", "body.bias"}


def test_forms_evaluate_and_share_what_cannot_be_copied() -> None:
    layer = Kinds()
    layer.train()
    for form in (moved(layer, 1), lent_moved(layer), lent_wide(layer), wide(layer)):
        assert form.lock is layer.lock and form.body.lock is layer.body.lock
        assert not form.training and not form.body.training
    assert layer.training


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


class Scaled(Tied):
    """It has a weight and buffers itself, not only in its sublayers."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = self.create_parameter([300], default_initializer=paddle.nn.initializer.Constant(0.1))
        self.register_buffer("gain", paddle.full([1], 0.1, "float32"))
        self.register_buffer("order", paddle.arange(300))

    def forward(self, ids: Any) -> Any:
        return (self.table(ids) * self.scale * self.gain).index_select(self.order, axis=1)


def test_of_a_twin_in_float64_float_buffers_are_wide_and_the_layer_itself_is_not_touched() -> None:
    layer = built(Scaled)
    layer.train()
    before = weights(layer)
    twin = lent_wide(layer)
    assert str(twin.gain.dtype) == "paddle.float64" and twin.gain.numpy()[0] == np.float64(np.float32(0.1))
    assert str(twin.order.dtype) == "paddle.int64" and str(twin.calls.dtype) == "paddle.float64"
    assert str(twin.scale.dtype) == "paddle.float64" and not twin.training and not twin.body.training
    assert layer.training and {str(value.dtype) for value in layer.parameters()} == {"paddle.float32"}
    assert str(layer.gain.dtype) == "paddle.float32" and layer.calls.numpy()[0] == 0
    assert all(np.array_equal(bits(own), bits(value)) for own, value in zip(weights(layer), before, strict=True))
    ids = paddle.to_tensor(IDS["ids"])
    with paddle.no_grad():
        assert np.array_equal(twin(ids).numpy(), wide(layer)(ids).numpy())


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

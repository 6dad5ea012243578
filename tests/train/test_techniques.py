"""Each option of the training loop against what it is by definition, in numpy or without it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import paddle
import pytest
from paddle import nn

from exporter.base.errors import UsageError
from exporter.base.tensors import load
from exporter.export.trace.layer import weights
from exporter.spec.recipe.base import Recipe
from exporter.spec.recipe.load import _refuse_training, load_batches
from exporter.spec.recipe.training import Training
from exporter.train import loop, randomness
from exporter.train.checkpoint import State, load_state, save_state
from exporter.train.techniques import prepare_layer, prepare_optimizer, recompute

ROWS = 64
DICE = np.random.default_rng(11)
X = DICE.normal(size=(ROWS, 6)).astype("float32")
Y = (X[:, :1] - 2 * X[:, 1:2]).astype("float32")


class Net(nn.Layer):
    def __init__(self, drop: float = 0.2) -> None:
        super().__init__()
        self.first = nn.Linear(6, 8)
        self.norm = nn.BatchNorm1D(8)
        self.body = nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1D(8), nn.Tanh(), nn.Dropout(drop))
        self.last = nn.Linear(8, 1)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.last(self.body(nn.functional.relu(self.norm(self.first(x)))))


class Samples(paddle.io.Dataset):
    def __len__(self) -> int:
        return ROWS

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        return X[index] + np.float32(0.01 * np.random.rand()), Y[index]


def in_batches(size: int) -> Callable[[str], list[tuple[np.ndarray, np.ndarray]]]:
    return lambda part: [(X[at : at + size], Y[at : at + size]) for at in range(0, ROWS, size)]


def sgd(rate: Any = 0.1) -> Callable[[nn.Layer], paddle.optimizer.Optimizer]:
    return lambda layer: paddle.optimizer.SGD(rate, parameters=layer.parameters())


def linear() -> nn.Layer:
    return nn.Linear(6, 1)


def recipe(**changes: Any) -> Recipe:
    return replace(
        Recipe(
            build=linear,
            data=in_batches(16),
            inputs=("x",),
            labels=("y",),
            loss=nn.functional.mse_loss,
            metric=lambda out, y: float(abs(out - y).mean()),
            metric_name="error",
            goal="min",
            optimizer=sgd(),
            epochs=1,
            batch_size=16,
        ),
        **changes,
    )


def fitted(asked: Recipe, folder: Path, stop_at: int = 0, resume: bool = False) -> State:
    """Train in `folder` as a child does; `stop_at`: which question after a stop gets a yes."""
    with paddle.utils.unique_name.guard():
        randomness.seed_all(0)
        layer = asked.build()
        state, precision = loop.begin(asked, "here", layer)
        job = loop.Job("here", asked, load_batches(asked, "here"), folder, 0, asked.epochs, {}, precision)
        if resume:
            load_state(folder / loop.LAST, state)
        asked_times = iter(range(1, 10_000))
        loop.fit(job, state, lambda: next(asked_times) == stop_at)
    return state


def first_weights(asked: Recipe) -> dict[str, Any]:
    with paddle.utils.unique_name.guard():
        randomness.seed_all(0)
        return weights(asked.build())


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    said: list[str] = []
    monkeypatch.setattr(loop, "doing", lambda what, **_: said.append(what) if what.startswith("note: ") else None)
    return said


def furthest(one: dict[str, Any], other: dict[str, Any]) -> float:
    assert one.keys() == other.keys()
    return max(float(abs(one[name] - other[name]).max()) for name in one)


def test_two_batches_of_16_make_the_update_of_one_of_32(tmp_path: Path) -> None:
    half, whole, plain = (
        weights(fitted(recipe(data=in_batches(size), training=Training(accumulate=count)), tmp_path).layer)
        for size, count in ((16, 2), (32, 1), (16, 1))
    )
    assert furthest(half, whole) <= 1e-6
    assert furthest(plain, whole) > 1e-3


def test_batches_that_are_too_few_for_an_update_are_left_out(tmp_path: Path) -> None:
    three = lambda part: in_batches(16)(part)[:3]  # noqa: E731
    two = lambda part: in_batches(16)(part)[:2]  # noqa: E731
    left, right = (
        weights(fitted(recipe(data=data, training=Training(accumulate=2)), tmp_path).layer) for data in (three, two)
    )
    assert furthest(left, right) == 0
    with pytest.raises(UsageError, match=r"an epoch has 4 batches, and training.accumulate is 5"):
        fitted(recipe(training=Training(accumulate=5)), tmp_path)


@pytest.mark.parametrize("kind", ["value", "norm", "global_norm"])
def test_clipping_bounds_what_the_optimizer_sees(kind: Any, tmp_path: Path) -> None:
    """With a rate of 1 and one update, what the weights moved by is the gradient."""
    asked = recipe(data=in_batches(ROWS), optimizer=sgd(1.0))
    before = first_weights(asked)

    def gradients(training: Training) -> dict[str, Any]:
        after = weights(fitted(replace(asked, training=training), tmp_path).layer)
        return {name: before[name] - after[name] for name in before}

    full, bound = gradients(Training()), 0.05
    clipped = gradients(Training(clip=(kind, bound)))
    norm = float(np.sqrt(sum((value**2).sum() for value in full.values())))
    expected = {
        "value": {name: value.clip(-bound, bound) for name, value in full.items()},
        "norm": {name: value * min(1, bound / np.linalg.norm(value)) for name, value in full.items()},
        "global_norm": {name: value * (bound / norm) for name, value in full.items()},
    }[kind]
    assert norm > 10 * bound and furthest(clipped, expected) < 1e-6


def test_the_average_follows_its_recurrence_and_is_what_is_kept(tmp_path: Path) -> None:
    asked = recipe(epochs=1, training=Training(ema=0.7))
    seen = [first_weights(asked)]

    class Recording(paddle.optimizer.SGD):
        def step(self) -> None:
            super().step()
            seen.append({name: value.numpy() for name, value in self.layer.named_parameters()})

    def made(layer: nn.Layer) -> paddle.optimizer.Optimizer:
        optimizer = Recording(0.1, parameters=layer.parameters())
        optimizer.layer = layer
        return optimizer

    state = fitted(replace(asked, optimizer=made), tmp_path)
    average = seen[0]
    for after in seen[1:]:
        average = {name: 0.7 * average[name] + 0.3 * after[name] for name in average}
    assert len(seen) == 5 and furthest(load(tmp_path / "best.safetensors"), average) < 1e-6
    assert furthest(weights(state.layer), seen[-1]) == 0, "training goes on with its own weights"
    assert furthest(average, seen[-1]) > 1e-3


def test_what_is_frozen_does_not_move(tmp_path: Path) -> None:
    asked = recipe(build=Net, training=Training(freeze=("first.*", "norm.*")))
    before, after = first_weights(asked), weights(fitted(asked, tmp_path).layer)
    frozen = {name for name in before if name.startswith(("first.", "norm."))}
    assert {name for name in before if (before[name] == after[name]).all()} == frozen
    assert "norm._mean" in frozen and "body.1._mean" not in frozen


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"freeze": ("frist.*",)}, "has 'frist.*', which no parameter matches"),
        ({"freeze": ("*",)}, "every parameter is frozen"),
        ({"recompute": ("bodi",)}, "names 'bodi', which is no sublayer"),
    ],
)
def test_a_name_that_fits_nothing_is_refused(options: dict[str, Any], what: str) -> None:
    with pytest.raises(UsageError) as caught:
        prepare_layer(Net(), Training(**options), "here")
    assert what in caught.value.what and caught.value.hint


def test_an_optimizer_that_cannot_be_clipped_or_warmed_up_is_refused() -> None:
    layer = linear()
    clipping = paddle.optimizer.SGD(0.1, parameters=layer.parameters(), grad_clip=nn.ClipGradByNorm(1.0))
    with pytest.raises(UsageError, match="the optimizer clips already, by ClipGradByNorm"):
        prepare_optimizer(clipping, Training(clip=("value", 1.0)), "here")
    plateau = sgd(paddle.optimizer.lr.ReduceOnPlateau(0.1))(layer)
    with pytest.raises(UsageError, match="warm_up cannot precede ReduceOnPlateau"):
        prepare_optimizer(plateau, Training(warm_up=3), "here")


@pytest.mark.parametrize("scheduled", [False, True])
def test_the_rate_rises_to_the_optimizer_s_own(scheduled: bool, tmp_path: Path) -> None:
    rates: list[float] = []

    class Recording(paddle.optimizer.SGD):
        def step(self) -> None:
            rates.append(self.get_lr())
            super().step()

    def made(layer: nn.Layer) -> paddle.optimizer.Optimizer:
        rate = paddle.optimizer.lr.StepDecay(0.1, 2, 0.1) if scheduled else 0.1
        return Recording(rate, parameters=layer.parameters())

    fitted(recipe(data=in_batches(8), optimizer=made, training=Training(warm_up=3)), tmp_path)
    after = [0.1, 0.1, 0.01, 0.01, 0.001] if scheduled else [0.1] * 5
    assert rates == pytest.approx([0.025, 0.05, 0.075, *after])


def test_a_run_that_gets_no_better_ends(tmp_path: Path, notes: list[str]) -> None:
    scores = iter([0.5, 0.3, 0.4, 0.6, 0.1, 0.1])
    asked = recipe(epochs=6, metric=lambda out, y: next(scores), training=Training(early_stop=2))
    state = fitted(asked, tmp_path)
    assert [row.best for row in state.history] == [True, True, False, False]
    assert notes == ["note: no better error in 2 epochs: stopped after epoch 4"]


def test_what_is_computed_again_is_the_same_in_less_memory() -> None:
    from paddle.base import core

    def one_step(again: bool) -> tuple[dict[str, Any], dict[str, Any], int]:
        with paddle.utils.unique_name.guard():
            paddle.seed(3)
            blocks = [
                nn.Sequential(nn.Linear(256, 256), nn.BatchNorm1D(256), nn.Tanh(), nn.Dropout(0.3)) for _ in "abcd"
            ]
            layer = nn.Sequential(*blocks)
        for block in blocks if again else []:
            recompute(block)
        x = paddle.to_tensor(np.random.default_rng(0).normal(size=(512, 256)).astype("float32"))
        core.host_memory_stat_reset_peak_value("Allocated", 0)
        start = core.host_memory_stat_current_value("Allocated", 0)
        layer(x).square().mean().backward()
        peak = core.host_memory_stat_peak_value("Allocated", 0) - start
        trained = {name: value for name, value in layer.named_parameters() if not value.stop_gradient}
        return weights(layer), {name: value.grad.numpy() for name, value in trained.items()}, peak

    (state, gradients, much), (state_again, gradients_again, less) = one_step(False), one_step(True)
    assert furthest(gradients, gradients_again) == 0 and max(abs(value).max() for value in gradients.values()) > 0
    assert furthest(state, state_again) == 0, "the statistics of a batch norm moved once"
    assert less < 0.8 * much


def test_a_recurrent_layer_is_computed_again_to_the_same_gradients() -> None:
    """Its dropout state is a buffer that has no memory before it is written."""

    def one_step(again: bool) -> dict[str, Any]:
        paddle.seed(3)
        layer = nn.GRU(6, 5, direction="bidirect")
        if again:
            recompute(layer)
        x = paddle.to_tensor(np.random.default_rng(0).normal(size=(4, 7, 6)).astype("float32"))
        layer(x)[0].square().mean().backward()
        return {name: value.grad.numpy() for name, value in layer.named_parameters()}

    plain, again = one_step(False), one_step(True)
    assert furthest(plain, again) == 0 and max(abs(value).max() for value in plain.values()) > 0


def test_a_penalty_is_differentiated_twice(tmp_path: Path) -> None:
    """0.5 · |d loss/d x|² of loss = Σ x·w is 0.5 · rows · |w|², whose gradient is rows · w."""

    def penalty(layer: nn.Layer, loss: paddle.Tensor, inputs: list[Any], outputs: list[Any]) -> paddle.Tensor:
        assert isinstance(layer, nn.Linear) and len(outputs) == 1
        (gradient,) = paddle.grad(loss, inputs, create_graph=True)
        return 0.5 * gradient.square().sum()

    asked = recipe(data=in_batches(ROWS), optimizer=sgd(0.01), loss=lambda out, y: out.sum() + 0 * y.sum())
    before = first_weights(asked)["weight"]
    after = weights(fitted(replace(asked, training=Training(penalty=penalty)), tmp_path).layer)["weight"]
    expected = before - 0.01 * (X.sum(0)[:, None] + ROWS * before)
    np.testing.assert_allclose(after, expected, atol=1e-5)


def test_a_traced_layer_trains_to_the_same_weights(tmp_path: Path) -> None:
    from paddle.jit.dy2static.program_translator import StaticFunction

    asked = recipe(build=Net, optimizer=sgd(0.01))
    static = fitted(replace(asked, training=Training(to_static=True)), tmp_path)
    assert isinstance(static.layer.forward, StaticFunction)
    eager = weights(fitted(asked, tmp_path).layer)
    assert furthest(weights(static.layer), eager) < 1e-5
    assert furthest(eager, first_weights(asked)) > 1e-3


def test_mixed_precision_on_a_cpu_is_said_to_have_no_effect(tmp_path: Path, notes: list[str]) -> None:
    paddle.set_device("cpu")
    for level, kind in (("O1", "bfloat16"), ("O2", "float16")):
        mixed = fitted(recipe(training=Training(amp=level, amp_dtype=kind)), tmp_path)
        assert furthest(weights(mixed.layer), weights(fitted(recipe(), tmp_path).layer)) == 0
    assert notes == ["note: amp O1 has no effect on cpu", "note: amp O2 has no effect on cpu"]


def test_the_scale_of_the_loss_goes_on_as_it_was(tmp_path: Path) -> None:
    class Scaler:
        """What of a GradScaler is saved; Paddle makes none that works on a CPU."""

        def __init__(self) -> None:
            self.state: dict[str, Any] = {"scale": np.array([512.0], "float32"), "incr_count": 3, "use_dynamic": True}

        def state_dict(self) -> dict[str, Any]:
            return dict(self.state)

        def load_state_dict(self, found: dict[str, Any]) -> None:
            self.state = found

    def state(scaler: Scaler) -> State:
        with paddle.utils.unique_name.guard():
            layer = linear()
            return State(layer, sgd()(layer), scaler=scaler)

    first, second = Scaler(), Scaler()
    save_state(tmp_path / "last.safetensors", state(first), {})
    second.state = {}
    load_state(tmp_path / "last.safetensors", state(second))
    assert second.state["scale"].tolist() == [512.0]
    assert {**second.state, "scale": None} == {**first.state, "scale": None}


def gentle(layer: nn.Layer, loss: paddle.Tensor, inputs: list[Any], outputs: list[Any]) -> paddle.Tensor:
    del layer, outputs
    return 0.01 * paddle.grad(loss, inputs, create_graph=True)[0].square().sum()


COMMON = Training(
    amp="O1", clip=("global_norm", 0.5), accumulate=2, ema=0.9, warm_up=3, early_stop=3, freeze=("first.*",), workers=2
)


@pytest.mark.parametrize(
    "option",
    [{"penalty": gentle}, {"recompute": ("body",)}, {"to_static": True}],
    ids=lambda option: next(iter(option)),
)
def test_a_run_with_all_of_them_goes_on_bit_for_bit(option: dict[str, Any], tmp_path: Path, notes: list[str]) -> None:
    asked = recipe(
        build=lambda: Net(0.0 if "penalty" in option else 0.2),  # Paddle has no second derivative of a dropout
        data=lambda part: Samples(),
        batch_size=8,
        epochs=2,
        optimizer=lambda layer: paddle.optimizer.Adam(
            paddle.optimizer.lr.CosineAnnealingDecay(0.05, 8), parameters=layer.parameters()
        ),
        training=replace(COMMON, **option),
    )
    (tmp_path / "whole").mkdir()
    (tmp_path / "stopped").mkdir()
    fitted(asked, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        fitted(asked, tmp_path / "stopped", stop_at=6)  # after the second update of the second epoch
    fitted(asked, tmp_path / "stopped", resume=True)
    whole, stopped = (
        {path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("whole", "stopped")
    )
    assert whole.keys() == {"best.safetensors", "last.safetensors", "metrics.jsonl"}
    assert [name for name in whole if whole[name] != stopped[name]] == []
    assert {line for line in notes if "amp" not in line} == set()


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"amp": "O3"}, "amp is 'O3'"),
        ({"amp_dtype": "float8"}, "amp_dtype is 'float8'"),
        ({"clip": 1.0}, "clip is 1.0"),
        ({"clip": ("global", 1.0)}, "clip is"),
        ({"clip": ("norm", 0)}, "clip is"),
        ({"accumulate": 0}, "accumulate is 0"),
        ({"warm_up": 0.5}, "warm_up is 0.5"),
        ({"early_stop": 0}, "early_stop is 0"),
        ({"workers": -1}, "workers is -1"),
        ({"freeze": "conv1.*"}, "freeze is 'conv1.*'"),
        ({"recompute": (1,)}, "recompute is (1,)"),
        ({"ema": 1.0}, "ema is 1.0"),
        ({"loss_scaling": 0}, "loss_scaling is 0"),
        ({"to_static": True, "recompute": ("body",)}, "to_static and recompute do not go together"),
        ({"to_static": True, "penalty": gentle}, "to_static and penalty do not go together"),
        ({"recompute": ("body",), "penalty": gentle}, "recompute and penalty do not go together"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_any_training(options: dict[str, Any], what: str) -> None:
    with pytest.raises(UsageError) as caught:
        _refuse_training(recipe(training=Training(**options)), "here")
    assert what in caught.value.what and caught.value.hint


def test_options_without_anything_to_act_on_are_refused() -> None:
    with pytest.raises(UsageError, match="training is a dict"):
        _refuse_training(recipe(training={"ema": 0.9}), "here")
    with pytest.raises(UsageError, match="`fit` trains by itself"):
        _refuse_training(recipe(fit=print, training=Training(ema=0.9)), "here")
    with pytest.raises(UsageError, match=r"data\(\) gives whole arrays"):
        _refuse_training(recipe(data=lambda: None, training=Training(workers=2)), "here")
    with pytest.raises(UsageError, match="have no Dataset to work on: it is a list"):
        load_batches(recipe(training=Training(workers=2)), "here")

"""Linear regression: how far diabetes has gone after a year, of ten measurements (scikit-learn's 442 patients).

Real data: `data/linear/train.csv` and `data/linear/held_out.csv`, a line of headings, then ten numbers and
the target a line.
"""

from __future__ import annotations

from importlib.metadata import distribution

import numpy as np
import paddle
from paddle import nn

from exporter.recipe.base import Recipe, Samples
from recipes._folder import real, table

FEATURES = 10
EPOCHS = 40


class Linear(nn.Layer):
    """Measurements [batch, 10], as they are, to the disease's progression [batch, 1]."""

    def __init__(self) -> None:
        super().__init__()
        # The layer scales its inputs itself, by what it learns of them: who serves it sends measurements.
        self.scale = nn.BatchNorm1D(FEATURES, weight_attr=False, bias_attr=False)
        self.linear = nn.Linear(FEATURES, 1)

    def forward(self, measured: paddle.Tensor) -> paddle.Tensor:
        """Predict the progression, a number from about 25 to 350."""
        return 150 + 100 * self.linear(self.scale(measured))


def build() -> nn.Layer:
    """The factory that `specs/linear.yaml` names."""
    return Linear()


def data() -> Samples:
    """Every fifth of the shuffled patients is held out, always the same ones."""
    if (folder := real("linear")) is not None:
        return Samples(*(_part(table(folder / f"{part}.csv")) for part in ("train", "held_out")))
    place = distribution("scikit-learn").locate_file("sklearn/datasets/data")
    files = (f"{place}/diabetes_data_raw.csv.gz", f"{place}/diabetes_target.csv.gz")
    measured, target = (np.loadtxt(file, ndmin=2, dtype=np.float32) for file in files)
    rows = np.concatenate([measured, target.reshape(-1, 1)], axis=1)
    rows = rows[np.random.RandomState(0).permutation(len(rows))]
    return Samples(train=_part(np.delete(rows, np.s_[::5], axis=0)), held_out=_part(rows[::5]))


def _part(rows: np.ndarray) -> dict[str, np.ndarray]:
    return {"measured": rows[:, :FEATURES], "progression": rows[:, FEATURES:]}


def explained(predicted: np.ndarray, progression: np.ndarray) -> float:
    """The share of the target's variance that the prediction explains (R²)."""
    left, whole = ((progression - value) ** 2 for value in (predicted, progression.mean()))
    return float(1 - left.sum() / max(whole.sum(), 1e-12))


def loss(predicted: paddle.Tensor, progression: paddle.Tensor) -> paddle.Tensor:
    """The squared error, in units of a hundred: its gradients have the size of the weights."""
    return nn.functional.mse_loss(predicted / 100, progression / 100)


def optimizer(layer: nn.Layer) -> paddle.optimizer.Optimizer:
    """Momentum, at a rate that falls along half a cosine."""
    rate = paddle.optimizer.lr.CosineAnnealingDecay(0.03, T_max=EPOCHS)
    return paddle.optimizer.Momentum(rate, parameters=layer.parameters())


def static_program(measured: paddle.Tensor, *, training: bool) -> paddle.Tensor:
    """The layer above by hand, for `exporter compare-modes`: parameters by the names of its `state_dict`."""
    make = paddle.static.create_parameter
    mean, variance = (make([FEATURES], "float32", name=f"scale.{name}") for name in ("_mean", "_variance"))
    mean.stop_gradient = variance.stop_gradient = True
    scaled = nn.functional.batch_norm(measured, mean, variance, training=training)
    weight, bias = make([FEATURES, 1], "float32", name="linear.weight"), make([1], "float32", name="linear.bias")
    return 150 + 100 * nn.functional.linear(scaled, weight, bias)


recipe = Recipe(
    build=build,
    data=data,
    inputs=("measured",),
    labels=("progression",),
    loss=loss,
    metric=explained,
    metric_name="r_squared",
    optimizer=optimizer,
    epochs=EPOCHS,
    batch_size=32,
    schedule_by="epoch",
    floor=0.3,
    static_program=static_program,
)

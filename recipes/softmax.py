"""Softmax regression on 784 inputs, with a branch on `x.mean()`: digits of 28×28, dark on light or light on dark.

The data are scikit-learn's scanned digits, enlarged from 8×8. Real data: the four files of MNIST, as they are published
(`train-images-idx3-ubyte.gz` and so on), in `data/softmax`.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import paddle
from paddle import nn

from exporter.recipe.base import Part, Recipe
from recipes._folder import real
from recipes._scores import accuracy
from recipes.digits import data as digits

EPOCHS = 30
BATCH = 64


class Softmax(nn.Layer):
    """Pixels [batch, 784] from 0 to 1, of a batch that was scanned in one way, to probabilities [batch, 10]."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(784, 10)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        """Turn a batch that is light on the whole, as paper is, into ink; then weigh each pixel."""
        if x.mean() > 0.5:
            x = 1 - x
        return nn.functional.softmax(self.linear(x))


def build() -> nn.Layer:
    """The factory that `specs/softmax.yaml` names."""
    return Softmax()


def data(part: Part) -> Iterator[dict[str, np.ndarray]]:
    """Batches of images; in training every second batch was scanned dark on light, and every held-out one.

    A case holds held-out rows in any order, and the branch looks at a batch as a whole: the net is not made for rows of
    both ways in one batch. It makes logits of 30 of them, where ONNX Runtime errs up to 4.4 times as much as Paddle.
    """
    image, label = _mnist(folder, part) if (folder := real("softmax")) else _enlarged(part)
    order = np.random.permutation(len(label)) if part == "train" else np.arange(len(label))
    for number, start in enumerate(range(0, len(order), BATCH)):
        rows = order[start : start + BATCH]
        x = image[rows]
        yield {"x": 1 - x if number % 2 or part == "held_out" else x, "label": label[rows]}


def _enlarged(part: Part) -> tuple[np.ndarray, np.ndarray]:
    """Each pixel of the 8×8 becomes 3×3, within a border of two, as MNIST has one."""
    arrays = getattr(digits(), part)
    image = np.kron(arrays["image"][:, 0], np.ones((3, 3), np.float32))
    return np.pad(image, ((0, 0), (2, 2), (2, 2))).reshape(-1, 784), arrays["label"]


def _mnist(folder: Path, part: Part) -> tuple[np.ndarray, np.ndarray]:
    name = "train" if part == "train" else "t10k"
    image = np.frombuffer(gzip.decompress((folder / f"{name}-images-idx3-ubyte.gz").read_bytes()), np.uint8, offset=16)
    label = np.frombuffer(gzip.decompress((folder / f"{name}-labels-idx1-ubyte.gz").read_bytes()), np.uint8, offset=8)
    return (image.reshape(-1, 784) / 255).astype(np.float32), label.astype(np.int64)


def loss(probability: paddle.Tensor, label: paddle.Tensor) -> paddle.Tensor:
    """Cross entropy of probabilities; `forward` has applied the softmax already."""
    return nn.functional.cross_entropy(probability, label, use_softmax=False)


def optimizer(layer: nn.Layer) -> paddle.optimizer.Optimizer:
    """Adam at one rate."""
    return paddle.optimizer.Adam(3e-3, parameters=layer.parameters())


def static_program(x: paddle.Tensor, *, training: bool) -> paddle.Tensor:
    """The layer above by hand, for `exporter compare-modes`: parameters by the names of its `state_dict`."""
    del training  # nothing here differs
    make = paddle.static.create_parameter
    weight, bias = make([784, 10], "float32", name="linear.weight"), make([10], "float32", name="linear.bias")
    ink = paddle.static.nn.cond(x.mean() > 0.5, lambda: 1 - x, lambda: x)
    return nn.functional.softmax(nn.functional.linear(ink, weight, bias))


recipe = Recipe(
    build=build,
    data=data,
    inputs=("x",),
    labels=("label",),
    loss=loss,
    metric=accuracy,
    metric_name="accuracy",
    optimizer=optimizer,
    epochs=EPOCHS,
    floor=0.92,
    static_program=static_program,
)

"""Pictures of shapes, and a short training of each network on them: its weights have to be those of a trained one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import paddle
from numpy.typing import NDArray
from paddle import Tensor, nn
from paddle.nn import functional

from evals.int8.networks import CLASSES, NETWORKS, SIZE

Floats = NDArray[np.float32]
#: Shapes of a picture, at most; and the numbers of a training.
_MOST, _BATCH, STEPS = 3, 16, 150


@dataclass(frozen=True)
class Scene:
    """A picture [3, 64, 64] with its shapes from left to right: boxes [shapes, 4] in pixels, and a class for each."""

    image: Floats
    boxes: Floats
    labels: NDArray[np.int64]


def scene(draw: np.random.Generator) -> Scene:
    """Draw one to three shapes on a grainy ground: a rectangle, a disc, a frame."""
    image = draw.normal(draw.uniform(-0.6, 0.6), 0.15, (3, SIZE, SIZE))
    rows, columns = np.mgrid[:SIZE, :SIZE] + 0.5
    boxes, labels = [], []
    for _ in range(int(draw.integers(1, _MOST + 1))):
        width, height = draw.uniform(10, 30, 2)
        left, top = draw.uniform(0, SIZE - width), draw.uniform(0, SIZE - height)
        label = int(draw.integers(CLASSES))
        x, y = (columns - left) / width * 2 - 1, (rows - top) / height * 2 - 1
        away = np.hypot(x, y) if label == 1 else np.maximum(abs(x), abs(y))
        inside = (away < 1) & ((away > 0.6) if label == 2 else True)
        image[:, inside] = draw.uniform(-2, 2, (3, 1))
        boxes.append((left, top, left + width, top + height))
        labels.append(label)
    order = np.argsort([box[0] for box in boxes])
    return Scene(image.astype("float32"), np.array(boxes, "float32")[order], np.array(labels)[order])


def rows(count: int, seed: int) -> Floats:
    """Return pictures as an input of the networks."""
    draw = np.random.default_rng(seed)
    return np.stack([scene(draw).image for _ in range(count)])


def trained(name: str, steps: int = STEPS) -> tuple[nn.Layer, list[float]]:
    """Return a network after a short training, in the mode of evaluation, with its losses."""
    paddle.seed(7)
    network, draw = NETWORKS[name](), np.random.default_rng(11)
    rate = paddle.optimizer.lr.CosineAnnealingDecay(2e-3, steps)
    optimizer = paddle.optimizer.AdamW(rate, parameters=network.parameters(), weight_decay=1e-3)
    losses = []
    for _ in range(steps):
        scenes = [scene(draw) for _ in range(_BATCH)]
        given = network(paddle.to_tensor(np.stack([own.image for own in scenes])))
        loss = _LOSSES.get(name, _dense)(network, given, scenes)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        rate.step()
        losses.append(float(loss))
    network.eval()
    return network, losses


def _dense(network: nn.Layer, given: tuple[Tensor, Tensor], scenes: list[Scene]) -> Tensor:
    """Each point within a shape says its class and box, the others that there is none."""
    scores, boxes = given
    points = network.points.numpy()
    labels = np.full((len(scenes), len(points)), CLASSES)
    corners = np.zeros((*labels.shape, 4), "float32")
    for at, own in enumerate(scenes):
        for box, label in zip(own.boxes, own.labels, strict=True):
            inside = ((points > box[:2]) & (points < box[2:])).all(1)
            labels[at, inside], corners[at, inside] = label, box
    within = paddle.to_tensor((labels < CLASSES).astype("float32"))
    wanted = functional.one_hot(paddle.to_tensor(labels), CLASSES + 1)[:, :, : scores.shape[2]]
    named = functional.binary_cross_entropy(scores.clip(1e-6, 1 - 1e-6), wanted)
    off = functional.smooth_l1_loss(boxes / SIZE, paddle.to_tensor(corners / SIZE), reduction="none", delta=0.1).sum(-1)
    return named + (off * within).sum() / within.sum()


def _maps(network: nn.Layer, given: tuple[Tensor, Tensor], scenes: list[Scene]) -> Tensor:
    """One map says where shapes are, the other where their borders."""
    del network
    rows_, columns = np.mgrid[:SIZE, :SIZE] + 0.5
    whole, border = np.zeros((2, len(scenes), 1, SIZE, SIZE), "float32")
    for at, own in enumerate(scenes):
        for left, top, right, bottom in own.boxes:
            away = np.minimum.reduce([columns - left, right - columns, rows_ - top, bottom - rows_])
            whole[at, 0][away > 0], border[at, 0][abs(away) < 2] = 1, 1
    pairs = zip(given, (whole, border), strict=True)
    losses = [functional.binary_cross_entropy(own.clip(1e-6, 1 - 1e-6), paddle.to_tensor(want)) for own, want in pairs]
    return losses[0] + losses[1]


def _in_order(network: nn.Layer, given: tuple[Tensor, Tensor], scenes: list[Scene]) -> Tensor:
    """The first query says the leftmost shape, and so on; the others that there is none."""
    del network
    scores, boxes = given
    labels = np.full(scores.shape[:2], CLASSES)
    corners = np.zeros((*labels.shape, 4), "float32")
    for at, own in enumerate(scenes):
        labels[at, : len(own.labels)], corners[at, : len(own.labels)] = own.labels, own.boxes
    within = paddle.to_tensor((labels < CLASSES).astype("float32"))
    named = functional.nll_loss(scores.clip(1e-6).log().reshape([-1, CLASSES + 1]), paddle.to_tensor(labels.ravel()))
    off = (paddle.abs(boxes - paddle.to_tensor(corners)) / SIZE).sum(-1)
    return named + (off * within).sum() / within.sum()


_LOSSES = {"db": _maps, "rt_detr": _in_order}

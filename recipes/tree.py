"""A tree network: the value of a boolean expression, of its tree alone, by a child-sum over a tensor of parents.

`and`, `or` and `not` over `true` and `false`, in up to 15 nodes; a node's parent stands before it, and behind the last
one come nodes without a parent. Real data: `data/tree/train.txt` and `data/tree/held_out.txt`, the value (0 or 1), a
tab and the expression a line, as `(and true (not false))`.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import paddle
from paddle import nn

from exporter.recipe.base import Part, Recipe
from recipes._folder import pairs, real
from recipes._scores import accuracy

KINDS = ("nothing", "true", "false", "and", "or", "not")
MOST, WIDTH = 15, 32
EPOCHS = 3
BATCH = 32


class Tree(nn.Layer):
    """Kinds and parents of nodes, [batch, nodes] each, to logits [batch, 2] of the root, the first node."""

    def __init__(self) -> None:
        super().__init__()
        self.kind = nn.Embedding(len(KINDS), WIDTH)
        self.forget = nn.Linear(2 * WIDTH, WIDTH)
        self.state = nn.Linear(2 * WIDTH, WIDTH)
        self.logits = nn.Linear(WIDTH, 2)

    def forward(self, kinds: paddle.Tensor, parents: paddle.Tensor) -> paddle.Tensor:
        """Sum the children's states into their parents, once for each level of the deepest tree."""
        kind = self.kind(kinds)
        nodes = paddle.arange(kinds.shape[1]).unsqueeze(-1)
        child_of = (parents.unsqueeze(1) == nodes).astype("float32")  # [batch, parent, child]
        state = paddle.zeros_like(kind)
        below = paddle.ones_like(kinds).astype("float32").unsqueeze(-1)  # nodes that so deep a level has, at the least
        level = paddle.zeros([], "int64")
        while paddle.logical_and(below.sum() > 0, level < kinds.shape[1]):  # parents in a circle come to an end, too
            children = paddle.concat([kind, paddle.matmul(child_of, state)], axis=-1)
            state = nn.functional.sigmoid(self.forget(children)) * nn.functional.tanh(self.state(children))
            below = (paddle.matmul(child_of, below) > 0).astype("float32")
            level = level + 1
        return self.logits(state[:, 0])


def build() -> nn.Layer:
    """The factory that `specs/tree.yaml` names."""
    return Tree()


def expression(dice: np.random.RandomState, room: int = MOST) -> str:
    """An expression of at most so many nodes."""
    if room < 2 or dice.rand() < 0.1:
        return KINDS[dice.randint(1, 3)]
    if room == 2 or dice.rand() < 0.25:
        return f"(not {expression(dice, room - 1)})"
    left = dice.randint(1, room - 1)
    return f"({KINDS[dice.randint(3, 5)]} {expression(dice, left)} {expression(dice, room - 1 - left)})"


def parsed(text: str) -> tuple[list[int], list[int]]:
    """Kinds and parents of an expression's nodes, each filled up to :data:`MOST`; further nodes are left out."""
    kinds, parents, above = [], [], [-1]
    for word in text.replace("(", " ( ").replace(")", " ) ").split():
        if word == ")":
            above.pop()
        elif word != "(":
            kinds.append(KINDS.index(word))
            parents.append(above[-1])
            if kinds[-1] > 2:
                above.append(len(kinds) - 1)
    empty = max(MOST - len(kinds), 0)
    return kinds[:MOST] + [0] * empty, parents[:MOST] + [-1] * empty


def value(kinds: list[int], parents: list[int]) -> int:
    """0 or 1, by the rules."""
    values = [0] * len(kinds)
    for node in reversed(range(len(kinds))):
        children = [values[child] for child, parent in enumerate(parents) if parent == node]
        kind = KINDS[kinds[node]]
        rules = {"true": True, "and": all(children), "or": any(children), "not": children == [0]}
        values[node] = int(rules.get(kind, False))
    return values[0]


def data(part: Part) -> Iterator[dict[str, np.ndarray]]:
    """Batches of trees; no held-out expression is among those for training."""
    if (folder := real("tree")) is not None:
        listed = [(parsed(text), int(label)) for label, text in pairs(folder / f"{part}.txt")]
    else:
        listed = [(tree := parsed(text), value(*tree)) for text in expressions()[part]]
    kinds, parents = (np.array([tree[place] for tree, _ in listed], np.int64) for place in (0, 1))
    label = np.array([label for _, label in listed], np.int64)
    order = np.random.permutation(len(label)) if part == "train" else np.arange(len(label))
    for start in range(0, len(order), BATCH):
        rows = order[start : start + BATCH]
        yield {"kinds": kinds[rows], "parents": parents[rows], "label": label[rows]}


def expressions() -> dict[Part, list[str]]:
    """3,000 different expressions to train on, and 600 others."""
    dice = np.random.RandomState(0)
    found: dict[str, None] = {}
    while len(found) < 3600:
        found[expression(dice)] = None
    listed = list(found)
    order = dice.permutation(len(listed))
    return {"train": [listed[place] for place in order[600:]], "held_out": [listed[place] for place in order[:600]]}


def optimizer(layer: nn.Layer) -> paddle.optimizer.Optimizer:
    """Adam, whose rate falls along half a cosine, once an epoch."""
    rate = paddle.optimizer.lr.CosineAnnealingDecay(1e-2, T_max=EPOCHS)
    return paddle.optimizer.Adam(rate, parameters=layer.parameters())


recipe = Recipe(
    build=build,
    data=data,
    inputs=("kinds", "parents"),
    labels=("label",),
    loss=nn.functional.cross_entropy,
    metric=accuracy,
    metric_name="accuracy",
    optimizer=optimizer,
    epochs=EPOCHS,
    schedule_by="epoch",
    floor=0.93,
)

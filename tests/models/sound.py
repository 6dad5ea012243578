"""Models that must be exported and proven."""

from __future__ import annotations

import paddle
from paddle import nn


class Mlp(nn.Layer):
    """Operators that every format of Paddle 3.3 can write."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(4, 16)
        self.last = nn.Linear(16, 3)

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.last(nn.functional.relu(self.first(x)))


class Tagger(nn.Layer):
    """Two inputs, two named dims, outputs in a dict whose keys are not in the alphabet's order, one of them integers.

    `forward` takes its inputs in another order than a spec may list them.
    """

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(20, 8)
        self.mix = nn.Linear(12, 6)

    def forward(self, ids: paddle.Tensor, weight: paddle.Tensor) -> dict[str, paddle.Tensor]:
        hidden = paddle.concat([self.embed(ids), weight], axis=-1)
        scores = self.mix(hidden)
        return {"scores": scores, "best": paddle.argmax(scores, axis=-1), "hidden": nn.functional.relu(scores) + 1.0}


class Subtle(nn.Layer):
    """x − y, so that inputs bound in the wrong order change the sign."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Linear(4, 4)

    def forward(self, y: paddle.Tensor, x: paddle.Tensor) -> paddle.Tensor:
        return self.scale(x) - 2 * self.scale(y)


class Mended(nn.Layer):
    """What Paddle alone cannot trace, and the mends can."""

    def __init__(self) -> None:
        super().__init__()
        self.steps = nn.LayerList([nn.Linear(4, 4) for _ in range(2)])

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        for number, (step, gain) in enumerate(zip(self.steps, (1.0, 0.5), strict=True), start=1):
            x = step(x) * gain / number
        return x + paddle.signbit(x).astype("float32")


def mlp() -> nn.Layer:
    return Mlp()


def tagger() -> nn.Layer:
    return Tagger()


def subtle() -> nn.Layer:
    return Subtle()

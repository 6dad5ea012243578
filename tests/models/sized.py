"""Layers whose outputs sizes decide: alone, at one size only, or by chance not at all."""

from __future__ import annotations

import paddle
from paddle import nn


class Masks(nn.Layer):
    """What only sizes lead to: one number, zero, a mask, a range; of a computed tensor's sizes, too."""

    def __init__(self) -> None:
        super().__init__()
        paddle.seed(3)
        self.linear = nn.Linear(4, 3)

    def forward(self, x: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        y = self.linear(x)
        rows = y.shape[0]
        return (
            y,
            paddle.full([rows, 1], 2.5),
            paddle.zeros([2, rows]),
            paddle.triu(paddle.full([rows, rows], -1e4), 1),
            paddle.arange(rows),
            paddle.zeros_like(y),
        )


class OneRow(nn.Layer):
    """At one row its outputs are one number each, whatever the row holds: 1, 0, and one of the row."""

    def forward(self, x: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        return nn.functional.softmax(x[:, :2], 0), x - x.mean(0, keepdim=True), x[:, :1].expand([-1, 4])


class Rare(nn.Layer):
    """Of four numbers up to 8 often none is 5."""

    def forward(self, u: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        return (u == 5).astype("float32"), u.astype("int32") - 4


class AlwaysTheSame(nn.Layer):
    """Sizes lead to its second output, and it is the same at all of them."""

    def forward(self, x: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        return x * 2.0, paddle.full([x.shape[0], 2], 2.5)[:1]


class Beyond(nn.Layer):
    """Values decide its second output, and no input reaches where it would show."""

    def forward(self, x: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        return x * 2.0, (x > 1e9).astype("float32").sum(1)


class Counted(nn.Layer):
    """How many boxes each picture has follows from sizes, behind what resizes, samples, pads and chooses."""

    def forward(self, x: paddle.Tensor) -> tuple[paddle.Tensor, ...]:
        picture = nn.functional.interpolate(x.reshape([0, 1, 2, 2]), scale_factor=2, mode="nearest")
        sampled = nn.functional.grid_sample(picture, paddle.tanh(x).reshape([0, 1, 2, 2])).flatten(1)
        scores, place = paddle.topk(x, 3)
        padded = nn.functional.pad(picture, [1, 1, 1, 1]).flatten(1)
        boxes = paddle.take_along_axis(padded, place // 2 * 6 + place % 2 + 7, 1) + scores + sampled[:, :1]
        row = paddle.arange(boxes.shape[0]).unsqueeze(-1).tile([1, 3])
        boxes = paddle.gather_nd(boxes, paddle.stack([row, place % 3], axis=-1))
        return boxes, paddle.to_tensor(3, dtype="int32").tile([boxes.shape[0]])

"""The model of the stored bundle: a convolution and a linear layer over small pictures, and a step of its training."""

from __future__ import annotations

from typing import Any

import paddle


class Pictures(paddle.nn.Layer):  # type: ignore[misc]  # mypy does not follow Paddle
    """Scores of five classes, float32 [batch, 5], of pictures float32 [batch, 3, 16, 16]."""

    def __init__(self) -> None:
        super().__init__()
        nn = paddle.nn
        self.body = nn.Sequential(nn.Conv2D(3, 4, 3, stride=4), nn.ReLU(), nn.Flatten(), nn.Linear(64, 5))

    def forward(self, image: Any) -> Any:
        return self.body(image)


def build() -> Pictures:
    """With the same weights each time, whose answers to the samples are not all the same."""
    paddle.seed(3)
    return Pictures()


def scaled(image: Any) -> Any:
    """From -1 to 1; deployment declares it as `normalize`."""
    return (image.astype("float32") / 255 - 0.5) / 0.5

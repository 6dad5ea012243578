"""Batch norms with the statistics of a batch, as after training."""

from __future__ import annotations

from typing import Any


def settle(layer: Any, inputs: list[Any]) -> None:
    """Let each batch norm hold the mean and variance of what it meets on these inputs; all else is as in evaluation."""
    import paddle

    norms = [one for one in layer.sublayers() if isinstance(one, paddle.nn.layer.norm._BatchNormBase)]
    held = [one._momentum for one in norms]
    for one in norms:
        one.training, one._momentum = True, 0.0
    with paddle.no_grad():
        layer(*inputs)
    for one, momentum in zip(norms, held, strict=True):
        one.training, one._momentum = False, momentum

"""Batch norms with the statistics of a batch, as after training."""

from __future__ import annotations

from typing import Any

#: The least variance of a channel, as a share of the mean of its layer's. A channel that is constant in few small
#: pictures would be magnified by 1/sqrt(epsilon), 300 times in each layer, until rounding alone moves the output.
LEAST_VARIANCE = 0.25


def settle(layer: Any, inputs: list[Any]) -> None:
    """Let each batch norm hold the mean and variance of what it meets on these inputs; all else is as in evaluation."""
    import paddle

    # `paddle.nn.BatchNorm`, of PaddleOCR and PaddleClas, is older than the others' base class, and no subclass of it.
    kinds = (paddle.nn.layer.norm._BatchNormBase, paddle.nn.BatchNorm)
    norms = [sublayer for sublayer in layer.sublayers(include_self=True) if isinstance(sublayer, kinds)]
    held = [norm._momentum for norm in norms]
    for norm in norms:
        norm.training, norm._momentum = True, 0.0
    with paddle.no_grad():
        layer(*inputs)
    for norm, momentum in zip(norms, held, strict=True):
        norm.training, norm._momentum = False, momentum
        variance = norm._variance.numpy()
        norm._variance.set_value(variance.clip(LEAST_VARIANCE * variance.mean()))

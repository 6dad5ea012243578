"""Batch norm by the statistics of the batch itself, which neither a `.pdmodel` nor paddle2onnx has in inference.

`use_global_stats=False` asks for it. The legacy operator then writes outputs that are not in the saved program, and
ends with a null pointer when it runs; paddle2onnx takes the running statistics without a word (3.3.1 and 2.1.0).
"""

from __future__ import annotations

from typing import Any


def of_batch(is_test: bool, use_global_stats: bool, trainable_statistics: bool) -> bool:
    """Whether the operator normalises by the batch (`paddle/phi/kernels/cpu/batch_norm_kernel.cc`, 3.3.1)."""
    return not use_global_stats and (trainable_statistics or not is_test)


def normalised(x: Any, weight: Any, bias: Any, epsilon: float, channels_last: bool) -> Any:
    """(x - mean) / sqrt(variance + epsilon) * weight + bias, over all axes but that of the channels."""
    import paddle

    rank = len(x.shape)
    channel = rank - 1 if channels_last else 1
    axes = [axis for axis in range(rank) if axis != channel]
    aligned = [-1 if axis == channel else 1 for axis in range(rank)]
    centred = paddle.subtract(x, paddle.mean(x, axes, keepdim=True))
    variance = paddle.mean(paddle.multiply(centred, centred), axes, keepdim=True)
    made = paddle.divide(centred, paddle.sqrt(variance + epsilon))
    if weight is not None:
        made = paddle.multiply(made, paddle.reshape(weight, aligned))
    return made if bias is None else paddle.add(made, paddle.reshape(bias, aligned))

"""F.batch_norm by the statistics of the batch itself, which no `.pdmodel` has in inference."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value


def _forward(self: Layer, x: Tensor) -> Tensor:
    return self.norm(x)


def _norm() -> Value:
    import paddle

    return paddle.nn.BatchNorm2D(3, use_global_stats=False)


class BatchNorm(Fix):
    """`use_global_stats=False` makes an operator whose outputs are not in the saved program.

    It ends with a null pointer when it runs.
    """

    apis = ("paddle.nn.functional.batch_norm",)
    formats = ("pdmodel",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 3, 4, 4),), {"norm": _norm}),)

    def instead(  # noqa: PLR0913 - the signature of paddle.nn.functional.batch_norm
        self,
        stock: Value,
        x: Value,
        running_mean: Value,
        running_var: Value,
        weight: Value = None,
        bias: Value = None,
        training: bool = False,
        momentum: float = 0.9,
        epsilon: float = 1e-05,
        data_format: str = "NCHW",
        use_global_stats: bool | None = None,
        name: str | None = None,
    ) -> Value:
        """As stock has it, where the running statistics normalise."""
        decided = use_global_stats is not None
        use = bool(use_global_stats) if decided else not training
        if _of_batch(not training, use, decided and not use_global_stats):
            return _normalised(x, weight, bias, epsilon, data_format[1] != "C")
        return stock(
            x, running_mean, running_var, weight, bias, training, momentum, epsilon, data_format, use_global_stats, name
        )


def _of_batch(is_test: bool, use_global_stats: bool, trainable_statistics: bool) -> bool:
    """Whether the operator normalises by the batch (`paddle/phi/kernels/cpu/batch_norm_kernel.cc`, 3.3.1)."""
    return not use_global_stats and (trainable_statistics or not is_test)


def _normalised(x: Value, weight: Value, bias: Value, epsilon: float, channels_last: bool) -> Value:
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


plugin: Fix = BatchNorm()

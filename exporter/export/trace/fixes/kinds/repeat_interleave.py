"""paddle.repeat_interleave by a number that the program computes, and of a negative axis."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value
from exporter.paddle.values import in_program


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return paddle.repeat_interleave(x, x.shape[0], axis=1)


def _negative(self: Layer, x: Tensor) -> Tensor:
    import paddle

    return paddle.repeat_interleave(x, 2, axis=-1)


class RepeatInterleave(Fix):
    """One number for all is written as one for each, of which there are too few when it runs.

    A negative axis ends the process that runs a legacy program.
    """

    apis = ("paddle.repeat_interleave",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 4),)), Example(_negative, (("n", 4),), formats=("pdmodel",)))

    def instead(
        self, stock: Value, x: Value, repeats: Value, axis: Value = None, *args: Value, **kwargs: Value
    ) -> Value:
        import paddle

        axis = axis if axis is None else axis % len(x.shape)
        if not in_program(repeats) or list(repeats.shape) not in ([], [1]):
            return stock(x, repeats, axis, *args, **kwargs)
        if axis is None:
            x, axis = paddle.flatten(x), 0
        ones = [paddle.ones([count], "int32") for count in (axis + 1, len(x.shape) - axis - 1) if count]
        times = paddle.concat([ones[0], paddle.reshape(repeats, [1]).astype("int32"), *ones[1:]])
        repeated = paddle.tile(paddle.unsqueeze(x, axis + 1), times)
        return paddle.flatten(repeated, axis, axis + 1)


plugin: Fix = RepeatInterleave()

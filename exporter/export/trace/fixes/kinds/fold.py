"""F.fold with a dynamic batch."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value
from exporter.export.trace.fixes.sizes import known, listed
from exporter.paddle.programs import append
from exporter.paddle.refusal import cannot_lower
from exporter.paddle.values import is_variable


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle.nn.functional as F

    return F.fold(x, [4, 4], kernel_sizes=2, strides=2)


class Fold(Fix):
    """Stock asserts that the product of the sizes is not negative, and a dynamic size is -1."""

    apis = ("paddle.nn.functional.fold",)
    seen = ("3.2.2", "3.3.1")
    examples = (Example(_forward, (("n", 8, 4),)),)

    def instead(  # noqa: PLR0913 - the signature of paddle.nn.functional.fold
        self,
        stock: Value,
        x: Value,
        output_sizes: Value,
        kernel_sizes: Value,
        strides: Value = 1,
        paddings: Value = 0,
        dilations: Value = 1,
        name: str | None = None,
    ) -> Value:
        from exporter.paddle.private import c_ops

        sizes = listed(output_sizes, 2)
        if not known(sizes):
            raise cannot_lower(
                "paddle.nn.functional.fold",
                "output_sizes has to be known while tracing, and a dim that varies is in it",
                "give height and width one size (min and max alike), or pass output_sizes as numbers",
            )
        paddings = listed(paddings, 4)
        attributes = {
            "output_sizes": sizes,
            "kernel_sizes": listed(kernel_sizes, 2),
            "strides": listed(strides, 2),
            "paddings": paddings * 2 if len(paddings) == 2 else paddings,
            "dilations": listed(dilations, 2),
        }
        if is_variable(x):
            return append("fold", {"X": [x]}, attributes, x.dtype, output="Y")
        return c_ops.fold(x, *attributes.values())


plugin: Fix = Fold()

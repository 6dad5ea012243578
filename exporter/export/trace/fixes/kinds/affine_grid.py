"""F.affine_grid of sizes that the program computes, such as a dynamic batch."""

from __future__ import annotations

from exporter.export.trace.fixes.base import Example, Fix, Layer, Tensor, Value
from exporter.export.trace.fixes.sizes import computed
from exporter.paddle.values import is_variable, joined


def _forward(self: Layer, x: Tensor) -> Tensor:
    import paddle
    import paddle.nn.functional as F

    theta = paddle.ones([1, 2, 3]).expand([x.shape[0], 2, 3])
    return self.conv(F.grid_sample(x, F.affine_grid(theta, x.shape)))


def _conv() -> Value:
    import paddle

    return paddle.nn.Conv2D(3, 2, 3)


class AffineGrid(Fix):
    """PIR declares five dims for any grid of unknown sizes, and what reads that of pictures refuses it.

    A legacy program writes a list of computed sizes into an attribute.
    """

    apis = ("paddle.nn.functional.affine_grid",)
    seen = ("3.0.0", "3.3.1")
    examples = (Example(_forward, (("n", 3, 8, 8),), {"conv": _conv}),)

    def instead(
        self, stock: Value, theta: Value, out_shape: Value, align_corners: bool = True, name: Value = None
    ) -> Value:
        """As stock has it, with as many dims as there are sizes; a Reshape to the sizes that it has says so."""
        import paddle

        legacy = is_variable(theta) and computed(out_shape)
        grid = stock(theta, joined(out_shape, "int32") if legacy else out_shape, align_corners)
        dims = theta.shape[1]
        if len(grid.shape) == dims + 2:
            return grid
        sizes = [out_shape[at] for at in (0, *range(2, dims + 2))]
        return paddle.reshape(grid, [*sizes, dims])


plugin: Fix = AffineGrid()

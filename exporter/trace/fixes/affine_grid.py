"""F.affine_grid of sizes that the program computes, as a dynamic batch."""

from __future__ import annotations

from typing import Any

from exporter.paddle.patches import Patches
from exporter.trace.fixes._program import Refuse, in_program


def install(patches: Patches, refuse: Refuse) -> None:
    """In PIR stock declares five dims for any grid of unknown sizes; what reads that of pictures may refuse (3.3.1)."""
    del refuse  # it refuses nothing that stock takes
    import paddle

    patches.body(paddle.nn.functional.affine_grid, _affine_grid)


def _affine_grid(stock: Any, theta: Any, out_shape: Any, align_corners: bool = True, name: str | None = None) -> Any:
    """As stock has it, with as many dims as there are sizes; a Reshape to the sizes that it has says so."""
    import paddle

    grid = stock(theta, out_shape, align_corners, name)
    dims = theta.shape[1]
    if not in_program(theta) or len(grid.shape) == dims + 2:
        return grid
    sizes = [out_shape[at] for at in (0, *range(2, dims + 2))]
    return paddle.reshape(grid, [*sizes, dims])

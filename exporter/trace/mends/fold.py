"""F.fold with a dynamic batch."""

from __future__ import annotations

from typing import Any

from exporter.paddle.patches import Patches
from exporter.paddle.programs import append
from exporter.paddle.refusal import cannot_lower
from exporter.paddle.values import is_variable
from exporter.trace.mends.program import Refuse, known, listed, mend


def install(patches: Patches, refuse: Refuse) -> None:
    """Stock asserts that the product of the sizes is not negative, and a dynamic size is -1 (3.2 and 3.3)."""
    import paddle

    mend(patches, paddle.nn.functional.fold, _fold, refuse)


def _fold(  # noqa: PLR0913 - the signature of paddle.nn.functional.fold
    _stock: Any,
    x: Any,
    output_sizes: Any,
    kernel_sizes: Any,
    strides: Any = 1,
    paddings: Any = 0,
    dilations: Any = 1,
    name: str | None = None,
) -> Any:
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

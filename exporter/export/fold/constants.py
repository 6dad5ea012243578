"""Constants in a graph, as every engine reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import paddle


def whole(values: Any) -> paddle.Tensor:
    """Whole numbers below 2**24, int32; written as float32, since OpenVINO 2026.4 reads no others in a `.pdmodel`."""
    return floats(values).astype("int32")


def floats(values: Any) -> paddle.Tensor:
    """float32, in the shape of `values`."""
    import numpy as np
    import paddle

    return paddle.to_tensor(np.asarray(values, "float32"))

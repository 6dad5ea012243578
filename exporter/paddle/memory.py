"""The numbers of a tensor where they lie: of a model of gigabytes there is no room and no time for a copy of each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from exporter.base.tensors import Array

if TYPE_CHECKING:
    import paddle


def shared_array(tensor: paddle.Tensor) -> Array | None:
    """The memory of a tensor as an array that can be written; None where NumPy has no way to it (a GPU, bfloat16).

    Whoever writes into it changes the tensor, unseen by Paddle's count of changes in place.
    """
    if not tensor._is_initialized():
        return None
    try:
        array: Array = np.from_dlpack(tensor.detach())
    except (TypeError, BufferError, RuntimeError, ValueError, AttributeError):
        return None
    return array if array.flags.writeable and array.flags.c_contiguous else None


def read_numbers(tensor: paddle.Tensor) -> Array:
    """The numbers of a tensor, to be read at once: they are those of the tensor itself where that can be."""
    shared = shared_array(tensor)
    return np.asarray(tensor.numpy()) if shared is None else shared

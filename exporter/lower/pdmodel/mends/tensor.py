"""Eager tensors on their way into the program."""

from __future__ import annotations

from typing import Any

from exporter.paddle.patches import Patches


def install(patches: Patches) -> None:
    """`Tensor.device` of a tensor without memory is None instead of an error.

    Variable(**every attribute of the tensor) is how _to_static_var copies one, and the dropout state of LSTM, GRU and
    SimpleRNN has no memory: "Unknown place type: Place(undefined:0)" (base/dygraph/tensor_patch_methods.py, 3.3.1).
    """
    from exporter.paddle.private import core

    stock = vars(core.eager.Tensor).get("device")
    if stock is None:
        return

    def device(self: Any) -> Any:
        return stock.__get__(self) if self._is_initialized() else None

    patches.attribute(core.eager.Tensor, "device", property(device))

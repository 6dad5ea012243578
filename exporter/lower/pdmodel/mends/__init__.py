"""What else of Paddle breaks when it builds a legacy program: one file a part of Paddle, one function a mend."""

from __future__ import annotations

from typing import Any

from exporter.lower.pdmodel.mends import attention, inplace, outputs, rebound, sizes, tensor, variable, warned
from exporter.paddle.patches import Patches


def install(patches: Patches) -> list[tuple[Any, Any]]:
    """All of them; each does nothing where the installed Paddle is not broken.

    Returns (function, replacement) of those that have to follow every reference.
    """
    for part in (tensor, rebound, attention, sizes, inplace, variable, warned):
        part.install(patches)
    return outputs.replacements()

"""A warning that takes longer than tracing the operator.

`x + y` of two tensors with a first dim that varies warns of Paddle 1.x, and reads the source of every frame on the
stack to name the line: 7 ms each (base/layers/math_op_patch.py, 3.0 to 3.3). Here it gets its one frame.
"""

from __future__ import annotations

import sys
from types import FrameType

from exporter.paddle.patches import Patches


class _Caller:
    """Stands in for the module `inspect`, of which only `stack` is used there."""

    @staticmethod
    def stack() -> list[tuple[FrameType, str, int]]:
        """Its own caller, and the caller of that."""
        frames = (sys._getframe(1), sys._getframe(2))
        return [(frame, frame.f_code.co_filename, frame.f_lineno) for frame in frames]


def install(patches: Patches) -> None:
    """Let the warning look no further than its caller."""
    from exporter.paddle.private import math_op_patch

    if hasattr(math_op_patch, "inspect"):
        patches.attribute(math_op_patch, "inspect", _Caller)

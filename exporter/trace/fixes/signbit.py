"""paddle.signbit, and isneginf which asks it, with a dynamic batch."""

from __future__ import annotations

from typing import Any

from exporter.paddle.patches import Patches
from exporter.trace.fixes._program import Refuse, mend


def install(patches: Patches, refuse: Refuse) -> None:
    """Stock makes a list of as many ones as there are elements, which is none where a size is -1 (3.0 to 3.3)."""
    import paddle

    mend(patches, paddle.signbit, _signbit, refuse)


def _signbit(_stock: Any, x: Any, name: str | None = None) -> Any:
    import paddle

    if not paddle.is_floating_point(x):
        return x < 0
    return paddle.copysign(paddle.ones_like(x), x) < 0

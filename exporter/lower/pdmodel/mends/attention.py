"""F.scaled_dot_product_attention."""

from __future__ import annotations

from exporter.paddle.patches import Patches


def install(patches: Patches) -> None:
    """Choose the kernel that is made of ordinary operators: the fused ones have no legacy form."""
    from exporter.paddle.private import sdpa

    if sdpa is not None:  # before 3.3 the choice lies elsewhere and falls on "math" by itself
        patches.attribute(sdpa, "select_sdp_for_sdpa", lambda param: "math")

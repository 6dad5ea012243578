"""F.scaled_dot_product_attention."""

from __future__ import annotations

from exporter.paddle.patches import Patches


def install(patches: Patches) -> None:
    """Choose the kernel that is made of ordinary operators: the fused ones have no legacy form."""
    try:
        from paddle.nn.functional import sdpa
    except ImportError:  # before 3.3 the choice lies elsewhere and falls on "math" by itself
        return
    patches.attribute(sdpa, "select_sdp_for_sdpa", lambda param: "math")

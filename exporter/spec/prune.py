"""What a spec says of pruning."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, Strict, model_validator

from exporter.spec.inputs import Frozen, Identifier, Size


class Prune(Frozen):
    """Channels are removed before export; where there is a recipe, the smaller model is fine-tuned by it."""

    flops: Annotated[float, Strict(), Field(gt=0, lt=1)] = Field(
        description="Share of the FLOPs that is left at most, counted at the typical sizes."
    )
    importance: Identifier = Field(
        "l1", description="Which filters go first: the least by `l1` (absolute sum) or `fpgm` (distance to the others)."
    )
    multiple_of: Size = Field(
        16, description="Step of a cut layer's channels: engines compute in blocks, and counts between are slower."
    )
    epochs: Annotated[int, Strict(), Field(ge=0)] | None = Field(
        None, description="Epochs of fine-tuning, which needs a recipe; without the key as many as it says, 0 for none."
    )

    @model_validator(mode="before")
    @classmethod
    def _no_masks(cls, value: Any) -> Any:
        if isinstance(value, dict) and "sparsity" in value:
            raise ValueError(
                "sparsity makes single weights zero, and no engine here is faster or any file smaller for that: each "
                "zero is stored and multiplied; use `flops`, which removes whole channels"
            )
        return value

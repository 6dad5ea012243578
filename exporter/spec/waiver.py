"""An exemption that a spec grants: some claims may fail until a day."""

from __future__ import annotations

from datetime import date
from typing import Annotated

from pydantic import Field

from exporter.spec.advice import Example
from exporter.spec.inputs import Frozen


class Waiver(Frozen):
    """An exemption: claims that match the pattern may fail until the end date, and every report says so."""

    claim: Annotated[str, Field(min_length=1), Example("onnx/openvino/*")] = Field(
        description="Pattern of the exempt claims, as `onnx/openvino/*`, with `*`, `?` and `[…]`. Claims of the kinds "
        "`interface` and `weights` are covered only where the pattern ends in that word."
    )
    reason: Annotated[str, Field(min_length=8), Example("the next release mends it")] = Field(
        description="Why; every report repeats it."
    )
    until: Annotated[date, Example("2030-12-31")] = Field(description="Last day on which the exemption holds.")

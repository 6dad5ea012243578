"""fp16 for `.pdmodel`, by Paddle's own converter, which works in its GPU build alone."""

from __future__ import annotations

import os

from exporter.base.bounded_json import Data
from exporter.base.errors import ModelError
from exporter.export.lower.precision.base import Order
from exporter.paddle.programs import legacy_programs

_WEIGHTS = "model.pdiparams"


def halve(order: Order) -> dict[str, Data]:
    """Write `model.pdmodel` and `model.pdiparams` in fp16 for GPUs; inputs and outputs stay fp32.

    Raises:
        ModelError: the converter refused the program.
    """
    from paddle.inference import PlaceType, PrecisionType, convert_to_mixed_precision

    files = [order.source / order.model, order.source / _WEIGHTS, order.into / order.model, order.into / _WEIGHTS]
    try:
        with legacy_programs():  # it knows no others (3.3.1)
            convert_to_mixed_precision(
                *map(os.fspath, files), PrecisionType.Half, PlaceType.GPU, keep_io_types=True, black_list=set()
            )
    except (RuntimeError, ValueError, OSError) as error:
        lines = str(error).strip().splitlines() or ["no reason"]
        raise ModelError(
            f"Paddle's converter refused it: {lines[-1][:300]}", where=order.model, hint="leave this variant out"
        ) from error
    return {}

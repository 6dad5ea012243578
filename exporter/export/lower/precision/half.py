"""One number in fp16: what the writer stores and what the proof by content expects."""

from __future__ import annotations

import numpy as np

from exporter.base.tensors import Array

#: The largest finite number of float16.
LARGEST = 65504.0


def rounded_to_half(value: Array) -> Array:
    """Each number rounded to the nearest float16; finite ones beyond its range stand at its limit, infinity stays."""
    limited = np.where(np.isinf(value), value, np.clip(value, -LARGEST, LARGEST))
    return limited.astype(np.float16)

"""Another dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from exporter.steps.base import Step

if TYPE_CHECKING:
    from exporter.base.tensors import Array


class Cast(Step):
    """Converts to `dtype`; to integers it cuts off what is behind the point, and stops at the ends of their range."""

    dtype: Literal["float16", "float32", "float64", "uint8", "int8", "int16", "int32", "int64", "bool"]

    def run(self, value: Array) -> Array:
        import numpy as np

        kind = np.dtype(self.dtype)
        if kind.kind not in "iu" or value.dtype == bool:
            return np.asarray(value, dtype=kind).copy()
        ends = np.iinfo(kind)
        if value.dtype.kind == "f":
            most = float(ends.max) if ends.bits < 64 else 2.0**63 - 1024  # the largest float64 that int64 holds
            return np.array(np.clip(np.nan_to_num(value.astype("float64")), float(ends.min), most), dtype=kind)
        own = np.iinfo(value.dtype)
        return np.clip(value, max(ends.min, own.min), min(ends.max, own.max)).astype(kind)


plugin: type[Step] = Cast

"""Another dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporter.export.fold.base import Operator
from exporter.steps.kinds.cast import Cast

if TYPE_CHECKING:
    import paddle

#: Bits of whole numbers whose ends float32 holds.
_NARROW = {"uint8": (0, 255), "int8": (-128, 127), "int16": (-(2**15), 2**15 - 1)}
_WIDE = ("int32", "int64")


class FoldedCast(Operator[Cast]):
    """Casts; to few bits it stops at the ends of their range first, as the step does."""

    def refuses(self, step: Cast) -> str:
        return "float64 is computed in float32 by OpenVINO" if step.dtype == "float64" else ""

    def run(self, step: Cast, value: paddle.Tensor) -> paddle.Tensor:
        given = str(value.dtype).rpartition(".")[2]
        if step.dtype in _NARROW and given != "bool":
            wide = value if given.startswith("float") else value.astype("int32")
            return wide.clip(*_NARROW[step.dtype]).astype(step.dtype)
        return value.astype(step.dtype)


plugin: Operator[Cast] = FoldedCast()

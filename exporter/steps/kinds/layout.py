"""Axes in another order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Literal

from exporter.steps.base import Step

if TYPE_CHECKING:
    from exporter.base.tensors import Array


class Layout(Step):
    """[height, width, channels] to [channels, height, width] with `to: chw`, and back with `to: hwc`."""

    axes: ClassVar[Sequence[int]] = (3,)

    to: Literal["chw", "hwc"] = "chw"

    def run(self, value: Array) -> Array:
        import numpy as np

        return np.ascontiguousarray(value.transpose((2, 0, 1) if self.to == "chw" else (1, 2, 0)))


plugin: type[Step] = Layout

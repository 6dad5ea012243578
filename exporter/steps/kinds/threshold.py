"""Which scores are high enough."""

from __future__ import annotations

from typing import TYPE_CHECKING

from exporter.steps.base import Step

if TYPE_CHECKING:
    from exporter.base.tensors import Array


class Threshold(Step):
    """Tells of each number whether it is greater than `above`: bool, in the same shape."""

    above: float = 0.5

    def run(self, value: Array) -> Array:
        return value > self.above


plugin: type[Step] = Threshold

"""The place of the largest score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from exporter.steps.base import CLASSES, VALUE, State, Step

if TYPE_CHECKING:
    from exporter.base.tensors import Array


class Argmax(Step):
    """int64 places of the largest along `axis`, which is left out of the shape; of equal ones the first."""

    axes: ClassVar[Sequence[int]] = (1, 2, 3, 4)

    axis: int = -1

    def apply(self, state: State) -> dict[str, Array]:
        import numpy as np

        return {**super().apply(state), CLASSES: np.asarray(state[VALUE].shape[self.axis], "int64")}

    def run(self, value: Array) -> Array:
        import numpy as np

        return np.asarray(value.argmax(self.axis), dtype=np.int64)


plugin: type[Step] = Argmax

"""Names of classes for their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

from exporter.base.errors import UsageError
from exporter.steps.base import CLASSES, State, Step, Words

if TYPE_CHECKING:
    from exporter.base.tensors import Array


class Labels(Step):
    """The names of whole numbers, one a line, as UTF-8 bytes; `names` in the order of the classes.

    Behind `topk`, `argmax` and `sure` there have to be as many as the model tells classes.
    """

    files: ClassVar[Sequence[str]] = ("names",)

    names: Words

    def apply(self, state: State) -> dict[str, Array]:
        classes = int(state[CLASSES]) if CLASSES in state else len(self.names)
        if classes != len(self.names):
            raise UsageError(
                f"the model tells {classes} classes, and `names` holds {len(self.names)}",
                hint="name the labels that the model was trained with",
            )
        return super().apply(state)

    def run(self, value: Array) -> Array:
        import numpy as np

        if value.dtype.kind not in "iu":
            raise UsageError(
                f"it names whole numbers, and got {value.dtype.name}", hint="put `argmax` or `topk` before it"
            )
        numbers = value.reshape(-1).tolist()
        if beyond := [number for number in numbers if not 0 <= number < len(self.names)]:
            raise UsageError(
                f"there is no name for class {beyond[0]}: `names` holds {len(self.names)}",
                hint="name the labels that the model was trained with",
            )
        return np.frombuffer("\n".join(self.names[number] for number in numbers).encode(), dtype=np.uint8).copy()


plugin: type[Step] = Labels

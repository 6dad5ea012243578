"""Channels in another order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from exporter.base.errors import UsageError
from exporter.steps.base import Step

if TYPE_CHECKING:
    from exporter.base.tensors import Array


class Channels(Step):
    """Reorders channels: `order` names, for each channel of the result, the one of the input that it is.

    `[2, 1, 0]` swaps RGB and BGR; `[0, 0, 0]` makes three channels of a gray one.
    """

    axes: ClassVar[Sequence[int]] = (3,)

    order: Annotated[tuple[Annotated[int, Field(ge=0, lt=64)], ...], Field(min_length=1, max_length=64)] = (2, 1, 0)
    axis: Literal["first", "last"] = "last"

    def run(self, value: Array) -> Array:
        axis = 0 if self.axis == "first" else -1
        if max(self.order) >= value.shape[axis]:
            raise UsageError(
                f"it names channel {max(self.order)} of an array of shape {list(value.shape)}",
                hint="correct `order`, or say with `axis` where the channels are",
            )
        return value.take(list(self.order), axis=axis)


plugin: type[Step] = Channels

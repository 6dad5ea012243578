"""Another shape with the same numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from exporter.base.errors import UsageError
from exporter.steps.base import Step

if TYPE_CHECKING:
    from exporter.base.tensors import Array


class Reshape(Step):
    """The same numbers in the order in which they lie, in another `shape`; one size may be -1."""

    shape: Annotated[tuple[Annotated[int, Field(ge=-1)], ...], Field(max_length=8)]

    def run(self, value: Array) -> Array:
        try:
            return value.reshape(self.shape)
        except ValueError as error:
            raise UsageError(
                f"an array of shape {list(value.shape)} has not the size of {list(self.shape)}", hint="correct `shape`"
            ) from error


plugin: type[Step] = Reshape

"""Scaling to the numbers that a net was trained with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field, model_validator

from exporter.base.errors import UsageError
from exporter.steps.base import Step

if TYPE_CHECKING:
    from exporter.base.tensors import Array


class Normalize(Step):
    """`(value * scale - mean) / std`, computed in float32; `mean` and `std` are one number, or one for each channel.

    `scale` may be written as a fraction: `1/255`. The channels are the last axis unless `axis` is `first`.
    """

    axes: ClassVar[Sequence[int]] = (1, 2, 3, 4)

    scale: Annotated[float, Field(gt=0)] = 1.0
    mean: Annotated[tuple[float, ...], Field(min_length=1)] = (0.0,)
    std: Annotated[tuple[Annotated[float, Field(gt=0)], ...], Field(min_length=1)] = (1.0,)
    axis: Literal["first", "last"] = "last"

    @model_validator(mode="before")
    @classmethod
    def _plain(cls, given: object) -> object:
        if not isinstance(given, dict):
            return given
        read = dict(given)
        if isinstance(read.get("scale"), str):
            read["scale"] = fraction(read["scale"])
        for key in ("mean", "std"):
            if isinstance(read.get(key), (int, float)) and not isinstance(read[key], bool):
                read[key] = (read[key],)
        return read

    def run(self, value: Array) -> Array:
        import numpy as np

        channels = value.shape[0 if self.axis == "first" else -1]
        for name, numbers in (("mean", self.mean), ("std", self.std)):
            if len(numbers) not in (1, channels):
                raise UsageError(
                    f"`{name}` has {len(numbers)} numbers, and the array of shape {list(value.shape)} has {channels} "
                    "channels",
                    hint=f"give one number, or one for each channel; `axis` says where those are ({self.axis} now)",
                )
        shape = (-1, *(1,) * (value.ndim - 1)) if self.axis == "first" else (-1,)
        mean, std = (np.asarray(numbers, "float32").reshape(shape) for numbers in (self.mean, self.std))
        return np.asarray((value.astype("float32") * np.float32(self.scale) - mean) / std)


def fraction(text: str) -> float:
    """The number that a text such as `1./255.` means.

    Raises:
        ValueError: it is none.
    """
    above, _, below = text.partition("/")
    divisor = float(below) if below else 1.0
    if divisor == 0:
        raise ValueError(f"'{text}' divides by zero")
    return float(above) / divisor


plugin: type[Step] = Normalize

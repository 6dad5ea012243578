"""A network that the gate is tried on, as it is deployed: what builds it, and what its inputs are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

BATCH = {"min": 1, "typical": 2, "max": 3}
TIME = {"min": 3, "typical": 6, "max": 9}


@dataclass(frozen=True)
class Tensor:
    """One input: a word in `shape` names a dim. `name` is empty where it is whatever `forward` calls it."""

    shape: tuple[int | str, ...]
    dtype: str = "float32"
    values: str = "normal"
    name: str = ""


@dataclass(frozen=True)
class Network:
    """`build` is called in a child; `inputs` stand in the order of `forward`'s parameters.

    `calibrated`: the factory's own random weights give nothing to compare with, see CALIBRATED.
    """

    family: str
    name: str
    build: Callable[[], Any]
    inputs: tuple[Tensor, ...]
    dims: Mapping[str, Mapping[str, int]] = field(default_factory=lambda: {"batch": BATCH})
    calibrated: bool = False

    @property
    def key(self) -> str:
        """The name as Python spells one: `evals.zoo.models:KEY` builds the network."""
        return re.sub(r"\W+", "_", self.name)


def dims_of(inputs: Iterable[Tensor], table: Mapping[str, Mapping[str, int]]) -> dict[str, Mapping[str, int]]:
    """Return the dims that the shapes name, with their sizes in a family's table."""
    used = {size for tensor in inputs for size in tensor.shape}
    return {name: sizes for name, sizes in table.items() if name in used}


def image(size: int, height: int = 0, channels: int = 3) -> tuple[Tensor, ...]:
    return (Tensor(("batch", channels, height or size, size)),)

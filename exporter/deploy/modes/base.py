"""The contract of a mode: a way in which Paddle trains and runs a recipe."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from exporter.base.tensors import Array, TensorMap, TensorSpec
from exporter.spec.recipe.base import Recipe

if TYPE_CHECKING:
    import paddle

    from exporter.train.loop import Job


@dataclass(frozen=True)
class Lack:
    """Why a mode cannot be compared on a recipe, and what to do; `here`: it is this machine that lacks something."""

    what: str
    hint: str
    here: bool = False


class Trainee(Protocol):
    """A recipe in one mode. Inputs are numpy arrays by name; outputs are numpy arrays in the order of `forward`."""

    def step(self, batch: Mapping[str, Any], where: str) -> float:
        """Take one training step and return the batch's loss."""

    def end_epoch(self, loss: float, where: str) -> None:
        """Move a schedule on that goes by the epoch; `loss` is the epoch's mean."""

    def predict(self, inputs: TensorMap) -> list[Array]:
        """Run forward in evaluation mode."""

    def weights(self) -> dict[str, Array]:
        """All parameters and buffers, by the names of the layer's `state_dict`."""

    def export(self, into: Path, inputs: Sequence[TensorSpec]) -> None:
        """Write the inference program as Paddle's own API does, as `into/model.json` and its parameters."""


class Mode(ABC):
    """`title` is what a page calls it."""

    title: ClassVar[str]

    @abstractmethod
    def lacks(self, recipe: Recipe) -> Lack | None:
        """In a child: why it cannot be compared; None where it can."""

    @abstractmethod
    def begin(self, job: Job, layer: paddle.nn.Layer) -> Trainee:
        """In a child: begin to train from the weights of the layer, which is new.

        Raises:
            UsageError: the recipe's own code fails.
        """

"""The recipe: how a model is trained. Plain callables, so that one reads `recipes/digits.py` and knows it all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Protocol

if TYPE_CHECKING:
    import paddle

    from exporter.tensors import TensorMap


class Data(Protocol):
    """Training and held-out samples: named arrays whose first dimension counts the samples."""

    @property
    def train(self) -> TensorMap:
        """Inputs and labels to learn from, each of shape [samples, …]."""

    @property
    def held_out(self) -> TensorMap:
        """Inputs and labels that training never sees, each of shape [samples, …]."""


@dataclass(frozen=True)
class Samples:
    """The plainest :class:`Data`: two mappings of arrays."""

    train: TensorMap
    held_out: TensorMap


@dataclass(frozen=True)
class Recipe:
    """How to get a checkpoint.

    `build` makes the layer (the same factory that the spec names, whose `args` it gets if it has parameters). `data`
    loads the samples; calling it twice gives the same.
    `inputs` and `labels` name the arrays that go into `forward`, in its order, and into `loss` and `metric`
    behind the outputs. `loss(*outputs, *labels)` takes tensors of one batch and gives a scalar tensor.
    `metric(*outputs, *labels)` takes numpy arrays of the whole held-out set and gives a number; `goal` says whether a
    larger one is better. `optimizer(layer)` makes the optimizer; its scheduler, if it has one, is stepped after each
    batch, or after each epoch, as `schedule_by` says.

    Of each epoch's shuffled samples the last, incomplete batch is left out (one sample has no variance for a batch
    norm), unless there is no other.
    """

    build: Callable[..., paddle.nn.Layer]
    data: Callable[[], Data]
    inputs: tuple[str, ...]
    labels: tuple[str, ...]
    loss: Callable[..., paddle.Tensor]
    metric: Callable[..., float]
    metric_name: str
    optimizer: Callable[[paddle.nn.Layer], paddle.optimizer.Optimizer]
    epochs: int
    batch_size: int
    goal: Literal["max", "min"] = "max"
    schedule_by: Literal["batch", "epoch"] = "batch"

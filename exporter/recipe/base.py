"""The recipe: how a model is trained. Plain callables, so that one reads `recipes/digits.py` and knows it all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from exporter.tensors import TensorMap

if TYPE_CHECKING:
    import paddle


class Data(Protocol):
    """Training and held-out samples: named arrays whose first dimension counts the samples."""

    @property
    def train(self) -> TensorMap:
        """Inputs and labels to learn from, each of shape [samples, …]."""

    @property
    def held_out(self) -> TensorMap:
        """Inputs and labels that training never sees, each of shape [samples, …]."""


@dataclass(frozen=True)
class Recipe:
    """How to get a checkpoint.

    `build` makes the layer (the same factory that the spec names). `data` loads the samples. `inputs` and `labels`
    name the arrays that go into `forward`, in its order, and into `loss` and `metric` behind the outputs.
    `loss(outputs, labels)` gives a scalar tensor; `metric(outputs, labels)` takes numpy arrays of the whole held-out
    set and gives a number; `optimizer(layer)` makes the optimizer. `goal` says whether a larger metric is better.
    """

    name: str
    build: Callable[[], paddle.nn.Layer]
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
    settings: Mapping[str, Any] | None = None

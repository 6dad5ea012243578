"""The recipe: how a model is trained. Plain callables, so that one reads `recipes/digits.py` and knows it all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from exporter.spec.recipe.training import Training

if TYPE_CHECKING:
    import paddle

    from exporter.base.tensors import Array, TensorMap

Part: TypeAlias = Literal["train", "held_out"]
#: What `data(part)` may yield: arrays or tensors by name, or in the order of the recipe's inputs and labels.
Batch: TypeAlias = "Mapping[str, Any] | tuple[Any, ...] | list[Any]"

#: A batch's value, and a batch by the names of the recipe's inputs and labels.
BatchValue: TypeAlias = "Array | paddle.Tensor"
NamedBatch: TypeAlias = "Mapping[str, Array | paddle.Tensor]"


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


class Metric(Protocol):
    """A metric that takes one batch after another, so that the held-out set is never in memory as a whole.

    Every `paddle.metric.Metric` is one; its `compute` is called with tensors before `update`, as `paddle.Model` does.
    """

    def reset(self) -> Any:
        """Forget all batches."""

    def update(self, *values: Any) -> Any:
        """Take note of one batch: numpy arrays of its outputs, then of its labels; or what `compute` returned."""

    def accumulate(self) -> Any:
        """One number for all batches since the last reset."""


class Run(Protocol):
    """What a `fit` of the recipe's own is given besides the layer, which it trains in place.

    A run that was interrupted calls `fit` again, with the weights of the last :meth:`save` in the layer.
    """

    @property
    def device(self) -> str:
        """The device in use, as `paddle.get_device()` says it."""

    @property
    def seed(self) -> int:
        """What all generators were seeded with."""

    @property
    def epochs(self) -> int:
        """How many epochs are wanted in all."""

    @property
    def epoch(self) -> int:
        """How many epochs are done: the calls of :meth:`log`, those before the last save of a resumed run included."""

    @property
    def late(self) -> int:
        """Epochs of the learning-rate schedule to leave out at the beginning: fine-tuning is the end of a training."""

    @property
    def folder(self) -> Path:
        """A folder for files of the loop's own, kept beside the checkpoint."""

    @property
    def stop(self) -> bool:
        """Whether the run was asked to end; the next :meth:`save` or :meth:`progress` ends it."""

    def restore(self, optimizer: paddle.optimizer.Optimizer | None = None) -> dict[str, Any]:
        """Put back optimizer and random generators as last saved; returns the saved values, {} in a new run."""

    def batches(self, part: Part = "train", skip: int = 0) -> Iterator[NamedBatch]:
        """The recipe's own batches, by name: of the coming epoch, or all held-out ones; without the first `skip`."""

    def progress(self, step: int, loss: float, steps: int = 0) -> None:
        """Show how far an epoch is; `steps` is its number of batches, if known. Ends the run where it shall stop."""

    def log(self, **values: float) -> bool:
        """End an epoch: keep its row and, if it is the best, the weights; returns whether it is.

        The recipe's metric is measured on the held-out data unless `values` has it.
        """

    def save(self, optimizer: paddle.optimizer.Optimizer | None = None, **values: Any) -> None:
        """Write atomically what the run needs to go on: weights, optimizer, generators, `values` (JSON or arrays).

        Ends the run where it shall stop.
        """

    def loader(self, part: Part = "train") -> Iterable[list[Any]]:
        """The same batches as lists of inputs and labels, an epoch each time, for `paddle.Model.fit`.

        Its own loader of a Dataset shuffles by the number of epochs since it began, which a resumed run does not know.
        """

    def callback(self) -> Any:
        """A callback that restores, shows, logs and saves for `paddle.Model.fit`."""


def unset(*_: Any) -> Any:
    """Stand in a recipe for what it leaves out."""
    raise NotImplementedError("the recipe leaves it out")


@dataclass(frozen=True)
class Recipe:
    """How to get a checkpoint.

    `build` makes the layer (the same factory that the spec names, whose `args` it gets if it has parameters).

    `data()` loads the samples as whole arrays; calling it twice gives the same. Or `data(part)`, with `part` "train" or
    "held_out", gives batches: a list, a generator, a `paddle.io.DataLoader` (with workers), or a `paddle.io.Dataset`,
    which is cut into shuffled batches here. A generator is asked for anew in each epoch, anything else is iterated
    again. Before each epoch numpy's and Python's generators are seeded by the run's seed and the epoch.

    `inputs` and `labels` name the arrays that go into `forward`, in its order, and into `loss` and `metric`
    behind the outputs. `loss(*outputs, *labels)` takes tensors of one batch and gives a scalar tensor.
    `metric(*outputs, *labels)` takes numpy arrays of the whole held-out set and gives a number; or it is a
    :class:`Metric`, an object that takes batches. `goal` says whether a larger one is better. `optimizer(layer)` makes
    the optimizer; its scheduler, if it has one, is stepped after each batch or each epoch, as `schedule_by` says.

    Of each epoch's shuffled samples the last, incomplete batch is left out (one sample has no variance for a batch
    norm), unless there is no other. Batches of `data(part)` are all taken, as they come.

    `training` has options of the loop here: mixed precision, clipping and more, see :class:`Training`.

    `floor` is what the metric must reach; `train` refuses a run of all its epochs that does not, and `release` whatever
    checkpoint it would export.

    `static_program(*inputs, training=…)` is the same net written by hand in a `paddle.static.Program`, which
    `compare-modes` runs beside the layer: of the placeholders of `inputs` it makes the outputs, of parameters that
    `paddle.static.create_parameter` makes under the names that the layer's `state_dict` has. It is called twice, with
    `training` true and false.

    `fit(layer, run)` trains instead of the loop here, by `paddle.Model.fit` or any script; then `loss`, `optimizer` and
    `batch_size` may be left out. See :class:`Run`.
    """

    build: Callable[..., paddle.nn.Layer]
    data: Callable[[], Data] | Callable[[Part], Iterable[Batch]]
    inputs: tuple[str, ...]
    labels: tuple[str, ...]
    loss: Callable[..., paddle.Tensor] = unset
    metric: Callable[..., float] | Metric = unset
    metric_name: str = ""
    optimizer: Callable[[paddle.nn.Layer], paddle.optimizer.Optimizer] = unset
    epochs: int = 0
    batch_size: int = 0
    goal: Literal["max", "min"] = "max"
    schedule_by: Literal["batch", "epoch"] = "batch"
    training: Training = field(default_factory=Training)
    fit: Callable[[paddle.nn.Layer, Run], None] | None = None
    floor: float | None = None
    static_program: Callable[..., Any] | None = None

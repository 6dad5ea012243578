"""In a child: what a layer gives on held-out samples, and what the recipe's metric makes of it."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from exporter.base.errors import ExporterError, ModelError, UsageError
from exporter.base.numbers.intervals import of_mean
from exporter.base.references import user_code
from exporter.spec.recipe.base import NamedBatch, Recipe, unset
from exporter.spec.recipe.batches import as_array, as_tensor

if TYPE_CHECKING:
    import paddle

    from exporter.base.tensors import Array, TensorMap


#: Samples whose metric is asked one by one for its interval.
MOST_ROWS = 20_000
#: More bytes of repeated outputs than this are not made; the metric is then tried on fewer samples.
_MOST_BYTES = 1 << 28
#: How often the metric is tried on other outputs, where those of an untrained layer fail it.
_TRIES = 2


def forward(layer: paddle.nn.Layer, recipe: Recipe, batch: NamedBatch, where: str) -> tuple[paddle.Tensor, ...]:
    """Run the layer on a batch's inputs; one output or several, always as a tuple.

    Raises:
        UsageError: it fails, or gives something that is no tensor.
    """
    import paddle

    with user_code("forward failed", where):
        outputs = layer(*(as_tensor(batch[name]) for name in recipe.inputs))
    outputs = tuple(outputs) if isinstance(outputs, (tuple, list)) else (outputs,)
    for output in outputs:
        if not isinstance(output, paddle.Tensor):
            raise UsageError(
                f"forward gave a {type(output).__name__}", where=where, hint="return a tensor, or a tuple of tensors"
            )
    return outputs


def loss_of(recipe: Recipe, outputs: Sequence[paddle.Tensor], batch: NamedBatch, where: str) -> paddle.Tensor:
    """The recipe's loss of a batch, as a scalar tensor.

    Raises:
        UsageError: it fails, or gives something else.
    """
    import paddle

    with user_code("loss failed", where):
        loss = recipe.loss(*outputs, *(as_tensor(batch[name]) for name in recipe.labels))
    if not isinstance(loss, paddle.Tensor) or loss.size != 1:
        kind = f"tensor of shape {list(loss.shape)}" if isinstance(loss, paddle.Tensor) else type(loss).__name__
        raise UsageError(f"loss gave a {kind}", where=where, hint="return a scalar tensor, e.g. with .mean()")
    return loss


def score(recipe: Recipe, outputs: Sequence[Array], labels: TensorMap, where: str) -> float:
    """The recipe's metric of outputs, one row a sample, against the labels of the same samples.

    A metric that takes batches takes them as one.

    Raises:
        UsageError: the metric fails, or gives no number.
        ModelError: it gives NaN or infinity.
    """
    scoring = Scoring(recipe, where)
    scoring.add(outputs, labels)
    return scoring.value()


def refuse_other_rows(outputs: Mapping[str, Array], count: int, recipe: Recipe, where: str) -> None:
    """Make sure that a metric can tell whose each row of the outputs is.

    Raises:
        UsageError: an output has not one row for each of the `count` samples.
    """
    for name, output in outputs.items():
        if output.shape[:1] != (count,):
            raise UsageError(
                f"output '{name}' has shape {list(output.shape)} for {count} of the samples, and metric "
                f"'{recipe.metric_name}' takes one row for each",
                where=where,
                hint="give one row for each sample",
            )


def try_metric(recipe: Recipe, outputs: Sequence[Array], labels: Callable[[int], TensorMap], where: str) -> None:
    """Ask the metric about the outputs of a few samples, repeated until there is one for each label.

    `labels` gives those of the first samples, at most so many. An untrained layer may give one class to every sample,
    for which a sound metric has no value: random outputs of the same shapes are tried then.

    Raises:
        UsageError, ModelError: as :func:`score`, of random outputs as well.
    """
    import numpy as np

    size = max(sum(output.nbytes // len(output) for output in outputs), 1)
    held = labels(max(len(outputs[0]), _MOST_BYTES // size))
    count = len(held[recipe.labels[0]])
    made = [np.resize(output, (count, *output.shape[1:])) for output in outputs]
    try:
        score(recipe, made, held, where)
    except ExporterError:
        if not any(_scores(recipe, made, held, where, seed) for seed in range(_TRIES)):
            raise


def _scores(recipe: Recipe, outputs: Sequence[Array], labels: TensorMap, where: str, seed: int) -> bool:
    """Whether the metric has a value for random outputs of the same shapes."""
    import numpy as np

    generator = np.random.default_rng(seed)
    drawn = [generator.uniform(0, 1, output.shape).astype(output.dtype) for output in outputs]
    try:
        score(recipe, drawn, labels, where)
    except ExporterError:
        return False
    return True


def _number(recipe: Recipe, value: Any, where: str) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError) as error:
        raise UsageError(
            f"metric '{recipe.metric_name}' gave a {type(value).__name__}", where=where, hint="return a float"
        ) from error
    if not math.isfinite(number):
        what = f"metric '{recipe.metric_name}' is {number}"
        raise ModelError(what, where=where, hint="lower the learning rate, or mend the metric")
    return number


class Scoring:
    """The recipe's metric over batches; only a metric of whole arrays keeps what the batches gave.

    With `singles` it is also asked of each sample alone, for :meth:`interval`.
    """

    def __init__(self, recipe: Recipe, where: str, *, singles: bool = False) -> None:
        self._recipe, self._where = recipe, where
        metric = cast("Any", recipe.metric)
        self._metric = copy.deepcopy(metric) if hasattr(metric, "update") else None
        self._rows: list[list[Array]] = []
        self._singles: list[float] | None = [] if singles else None
        if self._metric is not None:
            with self._blamed():
                self._metric.reset()

    def add(self, outputs: Sequence[Array], labels: TensorMap) -> None:
        """Take note of a batch; raises UsageError where the metric fails."""
        values = [*outputs, *(labels[name] for name in self._recipe.labels)]
        if self._metric is None:
            self._rows.append(values)
        else:
            with self._blamed():
                _update(self._metric, values)
        if self._singles is not None:
            self._singles = self._with_singles(self._singles, outputs, labels)

    def value(self) -> float:
        """The metric of all batches.

        Raises:
            UsageError: the metric fails, or gives no number.
            ModelError: it gives NaN or infinity.
        """
        import numpy as np

        if self._metric is None:
            whole = [np.concatenate(pieces) for pieces in zip(*self._rows, strict=True)]
            with self._blamed():
                value: Any = cast("Any", self._recipe.metric)(*whole)
        else:
            with self._blamed():
                value = self._metric.accumulate()
        return _number(self._recipe, value, self._where)

    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of a metric that is the mean of what it says of each sample, as an accuracy is.

        None of others, such as an F1 score, and where there are too many samples to ask one by one.
        """
        import numpy as np

        if not self._singles or len(self._singles) < 2:
            return None
        return of_mean(self._singles) if np.isclose(np.mean(self._singles), self.value()) else None

    def _with_singles(self, before: list[float], outputs: Sequence[Array], labels: TensorMap) -> list[float] | None:
        count = len(outputs[0])
        if len(before) + count > MOST_ROWS:
            return None
        try:
            for at in range(count):
                label = {name: labels[name][at : at + 1] for name in self._recipe.labels}
                before.append(score(self._recipe, [output[at : at + 1] for output in outputs], label, self._where))
        except (UsageError, ModelError):  # of one sample alone it says nothing
            return None
        return before

    def _blamed(self) -> Any:
        return user_code(f"metric '{self._recipe.metric_name}' failed", self._where)


def _update(metric: Any, values: Sequence[Array]) -> None:
    """Give one batch to a metric as `paddle.Model` does: through its `compute`, where it has one."""
    import paddle

    if not hasattr(metric, "compute"):
        metric.update(*values)
        return
    made = metric.compute(*map(paddle.to_tensor, values))
    made = made if isinstance(made, (tuple, list)) else (made,)
    metric.update(*(as_array(value) if isinstance(value, paddle.Tensor) else value for value in made))


@dataclass(frozen=True)
class Held:
    """Mean loss and metric over all held-out samples; no loss where the recipe has none."""

    loss: float | None
    metric: float
    interval: tuple[float, float] | None = None


def held_out(
    layer: paddle.nn.Layer, recipe: Recipe, batches: Iterable[NamedBatch], where: str, *, singles: bool = False
) -> Held:
    """Run the layer, in evaluation mode, over all held-out samples; `singles` asks for the metric's interval.

    Raises:
        UsageError, ModelError: as :func:`forward`, :func:`loss_of` and :func:`score`.
    """
    import paddle

    total, losses = 0, 0.0
    scoring = Scoring(recipe, where, singles=singles)
    layer.eval()
    with paddle.no_grad():
        for batch in batches:
            outputs = forward(layer, recipe, batch, where)
            rows = batch[recipe.inputs[0]].shape[0]
            if recipe.loss is not unset:
                losses += float(loss_of(recipe, outputs, batch, where)) * rows
            total += rows
            made = [_rows(output, rows, where) for output in outputs]
            scoring.add(made, {name: as_array(batch[name]) for name in recipe.labels})
    layer.train()
    loss = losses / total if recipe.loss is not unset else None
    return Held(loss, scoring.value(), scoring.interval())


def outputs_of(layer: paddle.nn.Layer, recipe: Recipe, batch: NamedBatch, where: str) -> list[Array]:
    """What the layer gives for one batch in evaluation mode, one row a sample; its loss must exist, too.

    Raises:
        UsageError: as :func:`forward` and :func:`loss_of`.
    """
    import paddle

    layer.eval()
    with paddle.no_grad():
        outputs = forward(layer, recipe, batch, where)
        if recipe.loss is not unset:
            loss_of(recipe, outputs, batch, where)
    layer.train()
    return [_rows(output, batch[recipe.inputs[0]].shape[0], where) for output in outputs]


def _rows(output: paddle.Tensor, count: int, where: str) -> Array:
    array: Array = output.numpy()
    if array.shape[:1] != (count,):
        what = f"forward gave shape {list(array.shape)} for a batch of {count}"
        raise UsageError(what, where=where, hint="give one row for each sample")
    return array

"""In a child: what a layer gives on held-out samples, and what the recipe's metric makes of it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from exporter.errors import ModelError, UsageError
from exporter.numbers.intervals import of_mean
from exporter.recipe.base import Recipe
from exporter.references import user_code

if TYPE_CHECKING:
    import paddle

    from exporter.tensors import Array, TensorMap


#: Samples whose metric is asked one by one for its interval.
MOST_ROWS = 20_000


def forward(layer: paddle.nn.Layer, recipe: Recipe, batch: TensorMap, where: str) -> tuple[paddle.Tensor, ...]:
    """Run the layer on a batch's inputs; one output or several, always as a tuple.

    Raises:
        UsageError: it fails, or gives something that is no tensor.
    """
    import paddle

    with user_code("forward failed", where):
        outputs = layer(*(paddle.to_tensor(batch[name]) for name in recipe.inputs))
    outputs = tuple(outputs) if isinstance(outputs, (tuple, list)) else (outputs,)
    for output in outputs:
        if not isinstance(output, paddle.Tensor):
            raise UsageError(
                f"forward gave a {type(output).__name__}", where=where, hint="return a tensor, or a tuple of tensors"
            )
    return outputs


def loss_of(recipe: Recipe, outputs: Sequence[paddle.Tensor], batch: TensorMap, where: str) -> paddle.Tensor:
    """The recipe's loss of a batch, as a scalar tensor.

    Raises:
        UsageError: it fails, or gives something else.
    """
    import paddle

    with user_code("loss failed", where):
        loss = recipe.loss(*outputs, *(paddle.to_tensor(batch[name]) for name in recipe.labels))
    if not isinstance(loss, paddle.Tensor) or loss.size != 1:
        kind = f"tensor of shape {list(loss.shape)}" if isinstance(loss, paddle.Tensor) else type(loss).__name__
        raise UsageError(f"loss gave a {kind}", where=where, hint="return a scalar tensor, e.g. with .mean()")
    return loss


def score(recipe: Recipe, outputs: Sequence[Array], labels: TensorMap, where: str) -> float:
    """The recipe's metric of outputs, one row a sample, against the labels of the same samples.

    Raises:
        UsageError: the metric fails, or gives no number.
        ModelError: it gives NaN or infinity.
    """
    with user_code(f"metric '{recipe.metric_name}' failed", where):
        value: Any = recipe.metric(*outputs, *(labels[name] for name in recipe.labels))
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


def batches(arrays: TensorMap, size: int) -> Iterator[dict[str, Array]]:
    """Cut arrays into batches in their order; the last may be smaller."""
    total = len(next(iter(arrays.values())))
    for start in range(0, total, size):
        yield {name: array[start : start + size] for name, array in arrays.items()}


class Held(NamedTuple):
    """Mean loss and metric over all held-out samples, and what the layer gave, one row a sample."""

    loss: float
    metric: float
    outputs: list[Array]


def held_out(layer: paddle.nn.Layer, recipe: Recipe, arrays: TensorMap, where: str) -> Held:
    """Run the layer, in evaluation mode, over all held-out samples.

    Raises:
        UsageError, ModelError: as :func:`forward`, :func:`loss_of` and :func:`score`.
    """
    import numpy as np
    import paddle

    total, losses = 0, 0.0
    collected: list[tuple[Array, ...]] = []
    layer.eval()
    with paddle.no_grad():
        for batch in batches({name: arrays[name] for name in (*recipe.inputs, *recipe.labels)}, recipe.batch_size):
            outputs = forward(layer, recipe, batch, where)
            rows = len(batch[recipe.inputs[0]])
            losses += float(loss_of(recipe, outputs, batch, where)) * rows
            total += rows
            collected.append(tuple(_rows(output, rows, where) for output in outputs))
    layer.train()
    whole = [np.concatenate(pieces) for pieces in zip(*collected, strict=True)]
    return Held(losses / total, score(recipe, whole, arrays, where), whole)


def interval(recipe: Recipe, held: Held, labels: TensorMap, where: str) -> tuple[float, float] | None:
    """The 95 % interval of a metric that is the mean of what it says of each sample, as an accuracy is.

    None of others, such as an F1 score, and where there are too many samples to ask one by one.
    """
    import numpy as np

    rows = len(held.outputs[0])
    if not 1 < rows <= MOST_ROWS:
        return None
    scores = []
    try:
        for at in range(rows):
            one = {name: labels[name][at : at + 1] for name in recipe.labels}
            scores.append(score(recipe, [output[at : at + 1] for output in held.outputs], one, where))
    except (UsageError, ModelError):  # of one sample alone it says nothing
        return None
    return of_mean(scores) if np.isclose(np.mean(scores), held.metric) else None


def outputs_of(layer: paddle.nn.Layer, recipe: Recipe, batch: TensorMap, where: str) -> list[Array]:
    """What the layer gives for one batch in evaluation mode, one row a sample; its loss must exist, too.

    Raises:
        UsageError: as :func:`forward` and :func:`loss_of`.
    """
    import paddle

    layer.eval()
    with paddle.no_grad():
        outputs = forward(layer, recipe, batch, where)
        loss_of(recipe, outputs, batch, where)
    layer.train()
    return [_rows(output, len(batch[recipe.inputs[0]]), where) for output in outputs]


def _rows(output: paddle.Tensor, count: int, where: str) -> Array:
    array: Array = output.numpy()
    if array.shape[:1] != (count,):
        what = f"forward gave shape {list(array.shape)} for a batch of {count}"
        raise UsageError(what, where=where, hint="give one row for each sample")
    return array

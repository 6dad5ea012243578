"""What a recipe may ask of the training loop here, beyond loss and optimizer; see :class:`Training`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import paddle

CLIPS = ("value", "norm", "global_norm")


@dataclass(frozen=True)
class Training:
    """Options of the loop; by default all of them are off, and `fit` of a recipe's own takes none of them.

    `amp` is Paddle's level of mixed precision, `amp_dtype` what it computes in: parameters stay float32, and evaluation
    is float32. With float16 the loss is scaled, from `loss_scaling` on, by as much as stays finite. On a CPU Paddle
    ignores it, which is said.

    `clip` bounds gradients before each update: `("value", 1.0)` each element, `("norm", 1.0)` each parameter's L2 norm,
    `("global_norm", 1.0)` that of all together. `accumulate` batches make one update, of the mean of their gradients;
    at the end of an epoch those that are too few are left out. A schedule by the batch takes a step at each update.

    `recompute` names sublayers whose activations are computed again in the backward pass instead of kept. `ema` is the
    decay of an average of the weights over the updates, which is what is evaluated and kept as the best checkpoint.
    `warm_up` steps of the schedule raise the rate linearly to the optimizer's own. After `early_stop` epochs without a
    better metric the run ends. `freeze` has patterns of parameter names, as `conv1.*`, that are not trained; a batch
    norm whose parameters are all frozen keeps its statistics.

    `penalty(layer, loss, inputs, outputs)` gives a scalar to add to the loss; it may use
    `paddle.grad(..., create_graph=True)`, also with respect to the inputs. With `to_static` the layer is traced for
    training. `workers` processes make the samples of a `paddle.io.Dataset`.
    """

    amp: Literal["O1", "O2"] | None = None
    amp_dtype: Literal["bfloat16", "float16"] = "bfloat16"
    loss_scaling: float = 2.0**15
    clip: tuple[Literal["value", "norm", "global_norm"], float] | None = None
    accumulate: int = 1
    recompute: tuple[str, ...] = ()
    ema: float | None = None
    warm_up: int = 0
    early_stop: int | None = None
    freeze: tuple[str, ...] = ()
    penalty: Callable[[paddle.nn.Layer, paddle.Tensor, list[Any], list[Any]], paddle.Tensor] | None = None
    to_static: bool = False
    workers: int = 0


def faults(options: Training) -> Iterator[tuple[str, str]]:
    """What is wrong with the options or their combination, and what to do about it."""
    yield from _wrong_values(options)
    for names, why in (
        (("to_static", "recompute"), "a traced program keeps its own activations"),
        (("to_static", "penalty"), "Paddle has no second derivative of a traced program"),
        (("recompute", "penalty"), "Paddle has no second derivative of what is computed again"),
    ):
        if all(getattr(options, name) for name in names):
            yield f"{' and '.join(names)} do not go together: {why}", f"leave {names[0]} or {names[1]} out"


def _wrong_values(options: Training) -> Iterator[tuple[str, str]]:
    if options.amp not in (None, "O1", "O2"):
        yield f"amp is {options.amp!r}", "use O1 or O2, or leave it out"
    if options.amp_dtype not in ("bfloat16", "float16"):
        yield f"amp_dtype is {options.amp_dtype!r}", "use bfloat16 or float16"
    clip: Any = options.clip
    if clip is not None and not (isinstance(clip, tuple) and len(clip) == 2 and clip[0] in CLIPS and clip[1] > 0):
        yield f"clip is {clip!r}", f'give one of {", ".join(CLIPS)} and a bound, as ("global_norm", 1.0)'
    for name, least in (("accumulate", 1), ("warm_up", 0), ("workers", 0), ("early_stop", 1)):
        value = getattr(options, name)
        if value is not None and (not isinstance(value, int) or value < least):
            yield f"{name} is {value!r}", f"give a whole number from {least} on"
    for name in ("recompute", "freeze"):
        value = getattr(options, name)
        if isinstance(value, str) or not all(isinstance(item, str) for item in value):
            yield f"{name} is {value!r}", 'give a tuple of names, as ("conv1",)'
    if options.ema is not None and not 0 < options.ema < 1:
        yield f"ema is {options.ema!r}", "give a decay between 0 and 1, as 0.999"
    if not options.loss_scaling > 0:
        yield f"loss_scaling is {options.loss_scaling!r}", "give a positive number"

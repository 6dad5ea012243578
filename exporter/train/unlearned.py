"""In a child: parameters without a gradient and why, gradients of 0, and those of a size that teaches nothing.

What is said of a cause is tried: where no gradient comes back, the value is changed and the loss looked at.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from exporter.train.finding import Finding
from exporter.train.passes import ROOT, Call, Passes, numbers

if TYPE_CHECKING:
    import paddle

#: A weight whose gradient has so small a share of the largest one (root mean squares) learns nothing beside it.
VANISHED = 1e-7
#: A gradient that is so many times its weight throws it anywhere.
EXPLODED = 1e4


def without_gradient(
    layer: paddle.nn.Layer, passes: Passes, run: Callable[[], paddle.Tensor], value: float
) -> Iterator[Finding]:
    """Say of each parameter behind a backward pass why it has no gradient, or one of 0; `value` is the loss."""
    calls = {call.name: call for call in passes.calls}
    zero: list[tuple[str, Any, Call | None]] = []
    for full, parameter, sublayer, path in _parameters(layer):
        call = calls.get(path or ROOT)
        if parameter.stop_gradient:
            if full.rpartition(".")[2] not in ("_mean", "_variance"):  # of a batch norm, which are no weights
                yield Finding("note", full, "it is frozen: stop_gradient is set", "clear it, or leave it so if meant")
        elif parameter.grad is None:
            yield _why_none(full, parameter, sublayer, call, lambda: float(run()) != value)
        elif not numbers(parameter.grad).any():
            zero.append((full, parameter, call))
    revived = _revived(layer, run) if zero else set()
    for full, parameter, call in zero:
        if id(parameter) not in revived:
            yield _why_zero(full, call, list(calls.values()))


def _parameters(layer: paddle.nn.Layer) -> Iterator[tuple[str, Any, paddle.nn.Layer, str]]:
    """Each parameter once, with its name, its sublayer and that one's name; an RNN holds each at two places."""
    told: set[int] = set()
    for path, sublayer in layer.named_sublayers(include_self=True):
        for name, parameter in sublayer.named_parameters(include_sublayers=False):
            if id(parameter) not in told:
                told.add(id(parameter))
                yield f"{path}.{name}" if path else name, parameter, sublayer, path


def _revived(layer: paddle.nn.Layer, run: Callable[[], paddle.Tensor]) -> set[int]:
    """The parameters that get a gradient as soon as those that start as zero are moved: nothing is wrong with them.

    A scale of 0 at the end of each block, or the second factor of an adapter, is moved by the first step.
    """
    blank = [value for value in layer.parameters() if not value.stop_gradient and not numbers(value).any()]
    if not blank:
        return set()
    before = {name: parameter.grad for name, parameter in layer.named_parameters()}
    for parameter in layer.parameters():
        parameter.grad = None
    with contextlib.ExitStack() as moved:
        for parameter in blank:
            moved.enter_context(_moved(parameter))
        run().backward()
    alive = {id(value) for value in layer.parameters() if value.grad is not None and numbers(value.grad).any()}
    for name, parameter in layer.named_parameters():
        parameter.grad = before[name]
    return alive


def _why_zero(name: str, call: Call | None, calls: Sequence[Call]) -> Finding:
    """Where the gradient of a parameter becomes 0; `calls` are the last ones of each sublayer, in their order."""
    what = "its gradient is 0 in every element"
    if call is None or not call.reached:
        return Finding("warning", name, what, "look at how forward uses it")
    if call.gradient == "zero":
        none = [other.name for other in calls if other.gradient == "zero"]
        last = [other for other in none if not any(inner.startswith(f"{other}.") for inner in none)]
        at = (last or none)[-1]
        hint = f"look at what follows {at}: a relu that is never on, round, clip, a dropout of 1, a factor of 0"
        return Finding("warning", name, f"{what}: what comes back to {at} is 0 already", hint)
    if not any(numbers(value).any() for value in call.inputs if value.is_floating_point()):
        return Finding("warning", name, f"{what}: its layer is given zeros", "look at what comes before its layer")
    hint = "look at its hooks, and at how its layer uses it: over one step only, or times 0"
    return Finding("warning", name, f"{what}, though one comes back to its layer", hint)


def _why_none(
    name: str, parameter: Any, sublayer: paddle.nn.Layer, call: Call | None, changes: Callable[[], bool]
) -> Finding:
    """Why a parameter has no gradient; `changes` runs again, and says whether the loss is another one."""
    if call is None:
        with _moved(parameter):
            used = changes()
        if used:
            what = "no gradient: it is used without one: detached, or as numpy"
            return Finding("error", name, what, "use the parameter itself in forward")
        return Finding("error", name, "no gradient: forward never calls its layer", "call it in forward, or remove it")
    if not any(output.is_floating_point() for output in call.outputs):
        what = "no gradient: its layer gives whole numbers, which have none"
        return Finding("error", name, what, "keep real numbers up to the loss")
    if all(output.stop_gradient for output in call.outputs):
        what = "no gradient: its layer runs under paddle.no_grad, or gives what is detached"
        return Finding("error", name, what, "run it with gradients")
    if call.reached:
        with _moved(parameter):
            used = changes()
        what = "is used without a gradient: detached, or as numpy" if used else "is used in no result of its layer"
        return Finding("error", name, f"no gradient: it {what}", "use the parameter itself in forward")
    with _changed(sublayer):
        used = changes()
    if used:
        what = "no gradient: behind its layer the value goes on detached, as numpy or through an operator without one"
        return Finding("error", name, what, "leave detach(), numpy() and to_tensor out on the way to the loss")
    return Finding("error", name, "no gradient: the loss does not use what its layer gives", "use it, or remove it")


@contextlib.contextmanager
def _moved(parameter: Any) -> Iterator[None]:
    before = parameter.detach().clone()
    parameter.set_value(before * 1.5 + 0.1)
    try:
        yield
    finally:
        parameter.set_value(before)


@contextlib.contextmanager
def _changed(sublayer: paddle.nn.Layer) -> Iterator[None]:
    """Let a layer give other values, unevenly, so that no normalisation undoes it."""

    def change(_: Any, inputs: Any, outputs: Any) -> Any:
        del inputs
        several = isinstance(outputs, (tuple, list))
        made = [_bent(value) for value in (outputs if several else (outputs,))]
        return type(outputs)(made) if several else made[0]

    hook = sublayer.register_forward_post_hook(change)
    try:
        yield
    finally:
        hook.remove()


def _bent(value: Any) -> Any:
    """Tensors of real numbers as x + sin of their index; all else as it is."""
    import paddle

    if not isinstance(value, paddle.Tensor) or not value.is_floating_point():
        return value
    steps = paddle.arange(value.size, dtype="float32").reshape(value.shape)
    return value + paddle.sin(steps).astype(value.dtype)


def sizes_of(layer: paddle.nn.Layer) -> Iterator[tuple[str, float, float]]:
    """The name of each parameter with a gradient, and the root mean squares of its values and of its gradient."""
    for name, parameter in layer.named_parameters():
        if parameter.grad is not None:
            yield name, _rms(parameter, parameter.size), _rms(parameter.grad, parameter.size)


def _rms(value: Any, size: int) -> float:
    """Over `size` elements: what a sparse gradient does not hold is 0."""
    return float(np.sqrt(np.square(numbers(value).astype("float64")).sum() / size))


def wrong_sizes(sizes: Sequence[tuple[str, float, float]]) -> Iterator[Finding]:
    """Weights beside which a gradient is far too large or too small; a bias may rightly have next to none."""
    largest = max((gradient for _, _, gradient in sizes), default=0.0)
    for name, weight, gradient in sizes:
        if gradient > EXPLODED * max(weight, 1e-8) and weight:
            what = f"its gradient explodes: {gradient:.2g}, of a weight of {weight:.2g} (root mean squares)"
            yield Finding("warning", name, what, "scale the loss or the weights down, normalise, or clip")
        elif 0 < gradient < VANISHED * largest and not name.rpartition(".")[2].startswith("bias"):
            what = f"its gradient vanishes: {gradient:.2g}, where the largest is {largest:.2g} (root mean squares)"
            yield Finding("warning", name, what, "normalise, add a residual connection, or take another activation")

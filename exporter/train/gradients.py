"""In a child: which parameters learn nothing and why, how large gradients are by layer, and where NaN begins.

:func:`examine` runs forward and backward once on one batch. What it says of a cause is tried: where no gradient comes
back, the value is changed and the loss looked at.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from exporter.train.passes import Call, Passes, is_finite, watched

if TYPE_CHECKING:
    import paddle

#: A weight whose gradient has so small a share of the largest one (root mean squares) learns nothing beside it.
VANISHED = 1e-7
#: A gradient that is so many times its weight throws it anywhere.
EXPLODED = 1e4


@dataclass(frozen=True)
class Finding:
    """What is wrong at a layer or a parameter, and what to do. A `note` is no fault where it is meant."""

    severity: Literal["error", "warning", "note"]
    place: str
    what: str
    hint: str


@dataclass(frozen=True)
class Examination:
    """All findings; and by parameter the root mean squares of its values and of its gradient, in the layer's order."""

    findings: tuple[Finding, ...]
    sizes: tuple[tuple[str, float, float], ...]


def examine(
    layer: paddle.nn.Layer,
    loss: Callable[..., paddle.Tensor],
    inputs: Sequence[paddle.Tensor],
    labels: Sequence[paddle.Tensor],
    optimizer: paddle.optimizer.Optimizer | None = None,
) -> Examination:
    """Run `loss(*outputs, *labels)` of a layer forward and backward, in training mode, and say what is wrong.

    Buffers of the layer are changed by it, and its gradients are gone afterwards.
    """

    def run() -> paddle.Tensor:
        import paddle

        paddle.seed(0)  # so that a second run drops out the same elements
        outputs = layer(*inputs)
        return loss(*(outputs if isinstance(outputs, (tuple, list)) else (outputs,)), *labels)

    layer.train()
    _forget_gradients(layer)
    with watched(layer) as passes:
        value = run()
        findings = list(_not_finite(passes, value))
        if not findings and value.stop_gradient:
            findings.append(Finding("error", "loss", "it has no gradient at all", "compute it by Paddle's operators"))
        if not findings:
            findings += _backward(passes, value)
    sizes: list[tuple[str, float, float]] = []
    if not findings:
        findings += _without_gradient(layer, passes, run, float(value))
        sizes = list(_sizes(layer))
        findings += _wrong_sizes(sizes)
    findings += [*_no_parameters(layer), *_not_in(optimizer, layer)]
    _forget_gradients(layer)
    return Examination(tuple(findings), tuple(sizes))


def _not_finite(passes: Passes, value: paddle.Tensor) -> Iterator[Finding]:
    """Where the forward pass makes NaN or infinity first."""
    for call in passes.calls:
        if call.finite:
            continue
        if all(map(is_finite, call.inputs)):
            yield Finding(
                "error", call.name, "forward makes NaN or infinity of finite inputs", "bound what it computes"
            )
        else:
            parent = call.name.rpartition(".")[0] or "forward"
            what = f"its code makes NaN or infinity before it calls {call.name}"
            yield Finding("error", parent, what, "bound what it computes: log, sqrt, exp, a division")
        return
    if not is_finite(value):
        yield Finding("error", "loss", "it is NaN or infinite, of finite outputs", "bound what it computes")


def _backward(passes: Passes, value: paddle.Tensor) -> Iterator[Finding]:
    """Run the backward pass: where it fails, and where a gradient is NaN first."""
    try:
        value.backward()
    except (RuntimeError, ValueError) as error:
        said = next((line for line in str(error).splitlines() if "Error" in line), str(error).strip()[:200])
        written = [call.name for call in passes.calls if call.written]
        place = written[0] if written else "loss"
        what = "what it gave is written to in place before its gradient is computed" if written else said
        yield Finding(
            "error", place, f"the backward pass fails: {what}", "write x = x + y in the place of x += y, x.add_(y)"
        )
        return
    if passes.faulty:
        kind, name = passes.faulty[0]
        place = name if kind == "parameter" else _consumer(passes, name)
        yield Finding(
            "error", place, "its backward pass makes NaN or infinity", "keep clear of sqrt(0), 0/0 and norm(0)"
        )


def _consumer(passes: Passes, name: str) -> str:
    """The call that takes what `name` gave, whose gradient was not finite; its parent where none does."""
    made = next(call for call in passes.calls if call.name == name)
    for call in passes.calls:
        if any(value is output for value in call.inputs for output in made.outputs):
            return call.name
    return name.rpartition(".")[0] or "loss"


def _without_gradient(
    layer: paddle.nn.Layer, passes: Passes, run: Callable[[], paddle.Tensor], value: float
) -> Iterator[Finding]:
    calls = {call.name: call for call in passes.calls}
    for path, sublayer in layer.named_sublayers(include_self=True):
        for name, parameter in sublayer.named_parameters(include_sublayers=False):
            full = f"{path}.{name}" if path else name
            if parameter.stop_gradient:
                if name not in ("_mean", "_variance"):  # of a batch norm, which are no weights
                    yield Finding(
                        "note", full, "it is frozen: stop_gradient is set", "clear it, or leave it so if meant"
                    )
            elif parameter.grad is None:
                yield _why_none(full, parameter, sublayer, calls.get(path or "forward"), lambda: float(run()) != value)
            elif not bool(parameter.grad.any()):
                what = "its gradient is 0 in every element"
                yield Finding("warning", full, what, "look at what follows: a relu that is never on, a factor of 0")


def _why_none(
    name: str, parameter: Any, sublayer: paddle.nn.Layer, call: Call | None, changes: Callable[[], bool]
) -> Finding:
    """Why a parameter has no gradient; `changes` runs again, and says whether the loss is another one."""
    if call is None:
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


def _sizes(layer: paddle.nn.Layer) -> Iterator[tuple[str, float, float]]:
    for name, parameter in layer.named_parameters():
        if parameter.grad is not None:
            yield name, _rms(parameter), _rms(parameter.grad)


def _wrong_sizes(sizes: Sequence[tuple[str, float, float]]) -> Iterator[Finding]:
    """Weights beside which a gradient is far too large or too small; a bias may rightly have next to none."""
    largest = max((gradient for _, _, gradient in sizes), default=0.0)
    for name, weight, gradient in sizes:
        if gradient > EXPLODED * max(weight, 1e-8) and weight:
            what = f"its gradient explodes: {gradient:.2g}, of a weight of {weight:.2g} (root mean squares)"
            yield Finding("warning", name, what, "scale the loss or the weights down, normalise, or clip")
        elif 0 < gradient < VANISHED * largest and not name.rpartition(".")[2].startswith("bias"):
            what = f"its gradient vanishes: {gradient:.2g}, where the largest is {largest:.2g} (root mean squares)"
            yield Finding("warning", name, what, "normalise, add a residual connection, or take another activation")


def _no_parameters(layer: paddle.nn.Layer) -> Iterator[Finding]:
    """Tensors with a gradient that no optimizer will ever change."""
    import paddle

    for path, sublayer in layer.named_sublayers(include_self=True):
        for name, value in {**vars(sublayer), **sublayer._buffers}.items():
            if isinstance(value, paddle.Tensor) and not value.stop_gradient:
                full = f"{path}.{name}" if path else name
                if value.is_leaf:
                    what, hint = "it has a gradient and is no parameter", "make it by create_parameter"
                else:
                    what = "it was computed of parameters once, and does not follow them"
                    hint = "compute it in forward"
                yield Finding("error", full, f"it is never trained: {what}", hint)


def _not_in(optimizer: paddle.optimizer.Optimizer | None, layer: paddle.nn.Layer) -> Iterator[Finding]:
    if optimizer is None:
        return
    given = optimizer._parameter_list or []  # groups are dicts (optimizer.py, Paddle 3.0-3.3)
    flat = [value for group in given for value in (group["params"] if isinstance(group, dict) else (group,))]
    known = {id(parameter) for parameter in flat}
    for name, parameter in layer.named_parameters():
        if not parameter.stop_gradient and id(parameter) not in known:
            yield Finding("error", name, "the optimizer was not given it", "give it layer.parameters()")


def _forget_gradients(layer: paddle.nn.Layer) -> None:
    for parameter in layer.parameters():
        parameter.grad = None  # clear_gradient(set_to_zero=False) leaves zeros the first time (Paddle 3.3.1)


def _rms(value: Any) -> float:
    return float(value.astype("float32").square().mean().sqrt())

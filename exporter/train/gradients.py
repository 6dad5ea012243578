"""In a child: which parameters learn nothing and why, how large gradients are by layer, and where NaN begins.

:func:`examine` runs forward and backward once on one batch, and again only to find a cause.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from exporter.train.broken import why_backward_fails, written_parameter
from exporter.train.finding import Finding
from exporter.train.never_trained import loose_tensors, never_trained, not_in
from exporter.train.not_finite import backward_source, forward_source, wrong_at_the_start
from exporter.train.passes import Passes, is_finite, watched
from exporter.train.unlearned import sizes_of, without_gradient, wrong_sizes

if TYPE_CHECKING:
    import paddle


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
    loose = loose_tensors(layer)
    names = {f"input {number}": value for number, value in enumerate(inputs)}
    findings = wrong_at_the_start(layer, names)
    sizes: list[tuple[str, float, float]] = []
    with watched(layer) as passes:
        value = None if findings else _forward(passes, run, findings)
        if value is not None and not (failed := _passed(passes, value, run)):
            findings = list(without_gradient(layer, passes, run, float(value)))
            sizes = list(sizes_of(layer))
            findings += wrong_sizes(sizes)
        elif value is not None:
            findings = failed
    findings += [*never_trained(loose, layer, passes), *not_in(optimizer, layer)]
    _forget_gradients(layer)
    return Examination(tuple(findings), tuple(sizes))


def _forward(passes: Passes, run: Callable[[], paddle.Tensor], findings: list[Finding]) -> paddle.Tensor | None:
    """The loss; None where forward does not run, with a finding that says why."""
    try:
        return run()
    except ValueError as error:
        finding = written_parameter(error, passes.place)
        if finding is None:
            raise
        findings.append(finding)
        return None


def _passed(passes: Passes, value: paddle.Tensor, run: Callable[[], paddle.Tensor]) -> list[Finding]:
    """Why there is no gradient to look at; nothing where there is one."""
    if value.size != 1:
        what = f"it holds {value.size} numbers, of shape {list(value.shape)}"
        return [Finding("error", "loss", what, "take their mean")]
    if not is_finite(value):
        return [forward_source(passes, value, run)]
    if value.stop_gradient:
        return [Finding("error", "loss", "it has no gradient at all", "compute it by Paddle's operators")]
    try:
        value.backward()
    except (RuntimeError, ValueError) as error:
        return why_backward_fails(passes, error, run)
    source = backward_source(passes, run)
    return [source] if source else []


def _forget_gradients(layer: paddle.nn.Layer) -> None:
    for parameter in layer.parameters():
        parameter.grad = None  # clear_gradient(set_to_zero=False) leaves zeros the first time (Paddle 3.3.1)

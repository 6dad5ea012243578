"""Losses, element by element and reduced."""

from __future__ import annotations

from exporter.export.lower.onnx_program.call import Call, Lowering
from exporter.export.lower.onnx_program.graph import Builder, Tensor
from exporter.export.lower.onnx_program.ops.pointwise import log1p


def _log_of(b: Builder, x: Tensor) -> Tensor:
    """log, at least -100 as `bce_loss` cuts it (phi's bce_loss_kernel.cc, 3.3.1)."""
    return b.emit("Max", b.emit("Log", x), -100.0)


def _bce(c: Call) -> Tensor:
    b, x, label = c.b, c.x(0), c.x(1)
    hit = b.emit("Mul", label, _log_of(b, x))
    miss = b.emit("Mul", b.emit("Sub", 1.0, label), _log_of(b, b.emit("Sub", 1.0, x)))
    return b.emit("Neg", b.emit("Add", hit, miss))


def _sigmoid_cross_entropy(c: Call) -> Tensor:
    """max(x, 0) - x * label + log1p(exp(-|x|)); 0 at labels that are ignored.

    With weights (1 - label) x + weight * (log1p(exp(-|x|)) + max(-x, 0)).
    """
    b, x, label, ignored = c.b, c.x(0), c.x(1), float(c.attr("ignore_index"))
    c.insist("normalize", False)
    tail = log1p(b, b.emit("Exp", b.emit("Neg", b.emit("Abs", x))))
    if c.has(2):
        below = b.emit("Max", b.emit("Neg", x), 0.0)
        curve = b.emit("Mul", c.x(2), b.emit("Add", tail, below))
        loss = b.emit("Add", b.emit("Mul", b.emit("Sub", 1.0, label), x), curve)
    else:
        loss = b.emit("Add", b.emit("Sub", b.emit("Max", x, 0.0), b.emit("Mul", x, label)), tail)
    idle = b.emit("Less", b.emit("Abs", b.emit("Sub", label, ignored)), 1e-6)
    return b.emit("Where", idle, 0.0, loss)


def _kldiv(c: Call) -> Tensor:
    b, x, label = c.b, c.x(0), c.x(1)
    if c.attr("log_target"):
        loss = b.emit("Mul", b.emit("Exp", label), b.emit("Sub", label, x))
    else:
        some = b.emit("Greater", label, 0.0)
        safe = b.emit("Where", some, label, 1.0)
        loss = b.emit("Where", some, b.emit("Mul", label, b.emit("Sub", b.emit("Log", safe), x)), 0.0)
    way = c.insist("reduction", "none", "mean", "sum", "batchmean")
    if way == "none":
        return loss
    total = b.reduce("ReduceMean" if way == "mean" else "ReduceSum", loss, None, keep=False)
    if way == "batchmean":
        return b.emit("Div", total, b.cast(b.reshape(b.size_of(x, 0), [], []), x.dtype))
    return total


def _huber(c: Call) -> list[Tensor]:
    b, delta = c.b, float(c.attr("delta"))
    gap = b.emit("Sub", c.x(1), c.x(0))
    size = b.emit("Abs", gap)
    near = b.emit("Mul", b.emit("Mul", gap, gap), 0.5)
    far = b.emit("Mul", b.emit("Sub", size, 0.5 * delta), delta)
    return [b.emit("Where", b.emit("LessOrEqual", size, delta), near, far), gap]


def _log_loss(c: Call) -> Tensor:
    b, x, label, epsilon = c.b, c.x(0), c.x(1), float(c.attr("epsilon"))
    hit = b.emit("Mul", label, b.emit("Log", b.emit("Add", x, epsilon)))
    other = b.emit("Log", b.emit("Add", b.emit("Sub", 1.0, x), epsilon))
    return b.emit("Neg", b.emit("Add", hit, b.emit("Mul", b.emit("Sub", 1.0, label), other)))


def _label_smooth(c: Call) -> Tensor:
    b, label, epsilon = c.b, c.x(0), float(c.attr("epsilon"))
    kept = b.emit("Mul", label, 1.0 - epsilon)
    if c.has(1):
        return b.emit("Add", kept, b.emit("Mul", c.x(1), epsilon))
    classes = b.cast(b.reshape(b.size_of(label, -1), [], []), label.dtype)
    return b.emit("Add", kept, b.emit("Div", b.constant(epsilon, label.dtype), classes))


def _cross_entropy(c: Call) -> list[Tensor]:
    """(softmax, loss); the loss keeps the class's dim, of size 1. Where the label is to be ignored it is 0."""
    b, logits, axis = c.b, c.x(0), int(c.attr("axis"))
    c.ignore("numeric_stable_mode")
    axis %= logits.rank
    soft, used, ignored = bool(c.attr("soft_label")), bool(c.attr("use_softmax")), int(c.attr("ignore_index"))
    softmax = b.emit("Softmax", logits, axis=axis) if used else logits
    logs = b.emit("LogSoftmax", logits, axis=axis) if used else b.emit("Log", logits)
    if soft:
        label = b.cast(c.raw(1), logits.dtype)
        return [softmax, b.emit("Neg", b.reduce("ReduceSum", b.emit("Mul", label, logs), [axis], keep=True))]
    label = b.cast(c.raw(1), "int64")
    label = label if label.rank == logits.rank else b.unsqueeze(label, [axis])
    idle = b.emit("Equal", label, b.constant(ignored))
    safe = b.emit("Where", idle, b.constant(0), label)
    taken = b.emit("GatherElements", logs, safe, axis=axis, shape=label.shape)
    return [softmax, b.emit("Where", idle, 0.0, b.emit("Neg", taken))]


def _nll(c: Call) -> list[Tensor]:
    """(loss, sum of weights) of log probabilities [N, C, …] and labels [N, …]."""
    b, x, ignored = c.b, c.x(0), int(c.attr("ignore_index"))
    label = b.cast(c.raw(1), "int64")
    idle = b.emit("Equal", label, b.constant(ignored))
    safe = b.emit("Where", idle, b.constant(0), label)
    taken = b.squeeze(
        b.emit("GatherElements", x, b.unsqueeze(safe, [1]), axis=1, shape=[x.shape[0], 1, *x.shape[2:]]), [1]
    )
    weight = b.emit("Gather", c.x(2), safe, axis=0, shape=label.shape) if c.has(2) else b.constant(1.0, x.dtype)
    weight = b.emit("Where", idle, b.constant(0.0, x.dtype), weight)
    loss = b.emit("Neg", b.emit("Mul", taken, weight))
    total = b.reduce("ReduceSum", weight, None, keep=False)
    way = c.insist("reduction", "mean", "sum", "none")
    if way == "none":
        return [loss, total]
    summed = b.reduce("ReduceSum", loss, None, keep=False)
    return [b.emit("Div", summed, total) if way == "mean" else summed, total]


OPERATORS: dict[str, Lowering] = {
    "bce_loss": _bce,
    "sigmoid_cross_entropy_with_logits": _sigmoid_cross_entropy,
    "kldiv_loss": _kldiv,
    "huber_loss": _huber,
    "log_loss": _log_loss,
    "label_smooth": _label_smooth,
    "cross_entropy_with_softmax": _cross_entropy,
    "nll_loss": _nll,
}

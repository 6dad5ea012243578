"""Activations: ONNX's own operator where it computes the same, else its formula."""

from __future__ import annotations

import math

from exporter.export.lower.onnx_program.call import Call, Lowering
from exporter.export.lower.onnx_program.graph import Tensor
from exporter.export.lower.onnx_program.ops import doubles
from exporter.export.lower.onnx_program.ops.pointwise import TELL_SMALL, expm1, formula, log1p, own_float

_LEAST_POWER = -64.0


def _leaky(c: Call) -> Tensor:
    return doubles.leaky_relu(c.b, own_float(c), float(c.attr("negative_slope")))


def _elu(c: Call) -> Tensor:
    return doubles.elu(c.b, own_float(c), float(c.attr("alpha")))


def _celu(c: Call) -> Tensor:
    b, x, alpha = c.b, own_float(c), float(c.attr("alpha"))
    below = b.emit("Mul", expm1(b, b.emit("Div", b.emit("Min", x, 0.0), alpha)), alpha)
    return b.emit("Add", b.emit("Max", x, 0.0), below)


def _selu(c: Call) -> Tensor:
    return doubles.selu(c.b, own_float(c), float(c.attr("alpha")), float(c.attr("scale")))


def _gelu(c: Call) -> Tensor:
    b, x = c.b, own_float(c)
    if c.attr("approximate"):
        cube = b.emit("Mul", b.emit("Mul", b.emit("Mul", x, x), x), 0.044715)
        inner = b.emit("Tanh", b.emit("Mul", b.emit("Add", x, cube), math.sqrt(2 / math.pi)))
        return b.emit("Mul", b.emit("Mul", x, b.emit("Add", inner, 1.0)), 0.5)
    bell = doubles.erf(b, b.emit("Div", x, math.sqrt(2.0)))
    return b.emit("Mul", b.emit("Mul", x, b.emit("Add", bell, 1.0)), 0.5)


def _softplus(c: Call) -> Tensor:
    b, x, beta, threshold = c.b, own_float(c), float(c.attr("beta")), float(c.attr("threshold"))
    scaled = b.emit("Mul", x, beta) if beta != 1.0 else x
    curve = log1p(b, b.emit("Exp", b.emit("Min", scaled, threshold)))
    curve = b.emit("Div", curve, beta) if beta != 1.0 else curve
    return b.emit("Where", b.emit("Greater", scaled, threshold), x, curve)


def _mish(c: Call) -> Tensor:
    """X * tanh(softplus(x)); above `lambda` the softplus is x."""
    b, x, bound = c.b, own_float(c), float(c.attr("lambda"))
    curve = log1p(b, b.emit("Exp", b.emit("Min", x, bound)))
    soft = b.emit("Where", b.emit("Greater", x, bound), x, curve)
    return b.emit("Mul", x, b.emit("Tanh", soft))


def _hardsigmoid(c: Call) -> Tensor:
    return doubles.hard_sigmoid(c.b, own_float(c), float(c.attr("slope")), float(c.attr("offset")))


def _between(low: float, high: float) -> Lowering:
    def lower(c: Call) -> Tensor:
        x = c.x()
        return c.b.emit("Clip", x, c.b.constant(low, x.dtype), c.b.constant(high, x.dtype), shape=x.shape)

    return lower


def _hardtanh(c: Call) -> Tensor:
    return _between(float(c.attr("t_min")), float(c.attr("t_max")))(c)  # type: ignore[return-value] # it gives one


def _swish(c: Call) -> Tensor:
    x = own_float(c)
    return c.b.emit("Mul", x, c.b.emit("Sigmoid", x))


def _swiglu(c: Call) -> Tensor:
    b, x = c.b, c.x()
    if c.has(1):
        gate = c.x(1)
    else:
        half = x.shape[-1] // 2
        if x.shape[-1] < 0:
            raise c.refuse("a last dim that varies is not split")
        x, gate = b.slice(x, [0], [half], [-1]), b.slice(x, [half], [2 * half], [-1])
    return b.emit("Mul", b.emit("Mul", x, b.emit("Sigmoid", x)), gate)


def _logsigmoid(c: Call) -> Tensor:
    """min(x, 0) - log1p(exp(-|x|))."""
    b, x = c.b, own_float(c)
    tail = log1p(b, b.emit("Exp", b.emit("Neg", b.emit("Abs", x))))
    return b.emit("Sub", b.emit("Min", x, 0.0), tail)


def _shrink(c: Call) -> Tensor:
    bound = float(c.attr("threshold"))
    b, x = c.b, own_float(c)
    return b.emit("Where", b.emit("Greater", b.emit("Abs", x), bound), x, 0.0)


def _softshrink(c: Call) -> Tensor:
    bound = float(c.attr("threshold"))
    b, x = c.b, own_float(c)
    low = b.emit("Where", b.emit("Less", x, -bound), b.emit("Add", x, bound), 0.0)
    return b.emit("Where", b.emit("Greater", x, bound), b.emit("Sub", x, bound), low)


def _thresholded(c: Call) -> Tensor:
    b, x = c.b, own_float(c)
    return b.emit("Where", b.emit("Greater", x, float(c.attr("threshold"))), x, float(c.attr("value")))


def _prelu(c: Call) -> Tensor:
    b, x, slope, mode = c.b, c.x(0), c.x(1), c.insist("mode", "all", "channel", "element")
    layout = c.attr("data_format", "NCHW")
    if mode == "all":
        slope = b.reshape(slope, [1] * max(x.rank, 1))
    elif mode == "channel":
        at = 1 if layout.startswith("NC") else x.rank - 1
        slope = b.reshape(slope, [-1 if axis == at else 1 for axis in range(x.rank)])
    else:
        slope = b.reshape(slope, [1, *x.shape[1:]])
    return b.emit("Where", b.emit("Greater", x, 0.0), x, b.emit("Mul", x, slope))


def _rrelu(c: Call) -> list[Tensor | None]:
    """In inference the slope is the mean of both bounds."""
    b, x = c.b, own_float(c)
    c.insist("is_test", True)
    slope = (float(c.attr("lower")) + float(c.attr("upper"))) / 2
    return [b.emit("Where", b.emit("Less", x, 0.0), b.emit("Mul", x, slope), x), None]


def _softmax(kind: str) -> Lowering:
    """No value of Paddle's softmax on a CPU is below exp(-64) of the largest (softmax_impl.h, 3.3.1).

    Of a sum, as in an attention, 1e-28 is nothing; what divides by it, or takes its logarithm, shows it.
    """

    def lower(c: Call) -> Tensor:
        b, x, axis = c.b, own_float(c), int(c.attr("axis"))
        rank, x = x.rank, x if x.rank else b.reshape(x, [1])
        axis %= x.rank
        if kind == "LogSoftmax" or c.is_read_by(TELL_SMALL):
            below = b.emit("Sub", x, b.reduce("ReduceMax", x, [axis], keep=True))
            x = b.emit("Max", below, _LEAST_POWER)
        shares = b.emit(kind, x, axis=axis)
        return shares if rank else b.reshape(shares, [], [])

    return lower


def _stanh(c: Call) -> Tensor:
    b = c.b
    inner = b.emit("Tanh", b.emit("Mul", own_float(c), float(c.attr("scale_a"))))
    return b.emit("Mul", inner, float(c.attr("scale_b")))


def _tanh_shrink(c: Call) -> Tensor:
    x = own_float(c)
    return c.b.emit("Sub", x, c.b.emit("Tanh", x))


def _softsign(c: Call) -> Tensor:
    b, x = c.b, own_float(c)
    return b.emit("Div", x, b.emit("Add", b.emit("Abs", x), 1.0))


def _relu(c: Call) -> Tensor:
    return c.b.emit("Relu", c.x())


def _maxout(c: Call) -> Tensor:
    b, x, groups, axis = c.b, c.x(), int(c.attr("groups")), int(c.attr("axis"))
    axis %= x.rank
    if x.shape[axis] < 0:
        raise c.refuse("channels that vary are not grouped")
    sizes = [0] * axis + [x.shape[axis] // groups, groups] + [-1] * bool(x.rank - axis - 1)
    grouped = b.reshape(x, sizes)
    best = b.reduce("ReduceMax", grouped, [axis + 1], keep=False)
    target = b.concat([b.size_of(x, at) if at != axis else b.constant([x.shape[at] // groups]) for at in range(x.rank)])
    return b.reshape(best, target, [size if at != axis else size // groups for at, size in enumerate(x.shape)])


OPERATORS: dict[str, Lowering] = {
    "relu": _relu,
    "relu6": _between(0.0, 6.0),
    "leaky_relu": _leaky,
    "elu": _elu,
    "celu": _celu,
    "selu": _selu,
    "gelu": _gelu,
    "softplus": _softplus,
    "mish": _mish,
    "hardswish": formula(doubles.hard_swish),
    "hardsigmoid": _hardsigmoid,
    "hardtanh": _hardtanh,
    "swish": _swish,
    "silu": _swish,
    "swiglu": _swiglu,
    "logsigmoid": _logsigmoid,
    "hardshrink": _shrink,
    "softshrink": _softshrink,
    "thresholded_relu": _thresholded,
    "prelu": _prelu,
    "rrelu": _rrelu,
    "softmax": _softmax("Softmax"),
    "log_softmax": _softmax("LogSoftmax"),
    "stanh": _stanh,
    "tanh_shrink": _tanh_shrink,
    "softsign": _softsign,
    "maxout": _maxout,
}

"""Make a float64 run true, and find out whether it is.

Casting a layer and its inputs is enough for most. Some casts inside `forward` (`x.astype("float32")`, a normalisation
computed in float32) or constants made there bring float32 back. Two detectors see that, each where the other is blind:
Paddle's own list of the kernels that ran, by dtype, and the second difference of the outputs, which rounding in
float32 spoils. :func:`lifted` mends what can be mended: casts to a narrower float are raised to float64, and
constants keep their float32 value and are cast up after they were made. So is what whole numbers and a fraction give,
which is float32 whatever the layer's dtype is (`1.0 - mask`): no weight and no float input goes into it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from exporter.base.tensors import Array, TensorMap

#: Kernels that may run in float32 inside a true float64 run: they make constants, or change the dtype.
BENIGN = frozenset(
    {"cast", "fill_constant", "full", "full_", "fill_any_like", "full_like", "linspace", "range", "arange", "eye"}
    | {"fill_constant_batch_size_like", "full_batch_size_like", "assign_value", "assign_value_"}
    | {"memcpy_d2h", "memcpy_h2d", "empty", "empty_like"}
)
#: Steps of the second difference, relative to the inputs, none of which float32 resolves; and the ratio above which a
#: run cannot be float64. Measured on 88 networks: true runs give 5e-6 to 3e-4, runs with float32 inside 0.2 to 2.
STEPS, FAKE = (2.0**-33, 2.0**-28, 2.0**-24), 0.02
#: A change of the outputs that is no more than this many roundings of float64 tells nothing of the ratio.
_CLEAR = 2**13

_NARROW = frozenset({"float32", "float16", "bfloat16"})
_WHOLE = frozenset({"bool", "uint8", "int8", "int16", "int32", "int64"})
#: Operators that make a tensor out of numbers; their result is what is cast up.
_CREATORS = (
    *("full", "full_", "full_like", "full_with_tensor", "arange", "linspace", "logspace", "eye", "assign_value_"),
    *("one_hot", "sequence_mask"),
)
#: Arithmetic of tensors; a quotient of two whole numbers is a fraction, too.
_QUOTIENTS = ("__truediv__", "__rtruediv__", "__div__", "__rdiv__")
_ARITHMETIC = ("__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__pow__", "__rpow__", *_QUOTIENTS)


@contextlib.contextmanager
def narrow_kernels() -> Iterator[set[str]]:
    """Collect the names of kernels that ran in a float narrower than float64 (Paddle's own count, 3.0 to 3.3)."""
    import paddle

    from exporter.paddle.private import core

    found: set[str] = set()
    paddle.set_flags({"FLAGS_low_precision_op_list": 1})
    core.clear_low_precision_op_list()
    try:
        yield found
    finally:
        counts: Mapping[str, str] = core.get_low_precision_op_list()
        paddle.set_flags({"FLAGS_low_precision_op_list": 0})
        for name, text in counts.items():
            if name not in BENIGN and any(int(part) for part in text.split(",")[:3]):  # fp16, bf16, fp32, others
                found.add(name)


def second_difference(run: Callable[[TensorMap], TensorMap], inputs: TensorMap) -> float:
    """How far the outputs are from smooth at a step that float32 cannot resolve: about 1 where float32 rounds inside.

    The largest ratio of |y(x+h) + y(x−h) − 2y(x)| to half of |y(x+h) − y(x−h)| over the float outputs, at the first
    step that moves the output far above float64's own rounding (a network with random weights may hardly answer to its
    inputs); infinite where a large step moves an output and no small one does, or a step changes its shape; 0 where
    there is no float input to move. Each element of h has a sign of its own, since many layers do not see a change of
    scale.
    """
    floats = [name for name, value in inputs.items() if value.dtype.kind == "f"]
    if not floats:
        return 0.0
    generator = np.random.default_rng(0)
    signs = {name: generator.choice((-1.0, 1.0), inputs[name].shape) for name in floats}

    def at(step: float) -> TensorMap:
        return run({**inputs, **{name: inputs[name] * (1.0 + step * signs[name]) for name in floats}})

    middle = at(0.0)
    left = {name for name, value in middle.items() if value.dtype.kind == "f" and value.size}
    ratios = dict.fromkeys(left, 0.0)
    noise = {name: float(np.finfo("float64").eps) * _rms(middle[name]) for name in left}
    still = set(left)
    for step in STEPS:
        up, down = (at(step), at(-step)) if left else ({}, {})
        for name in sorted(left):
            if not up[name].shape == down[name].shape == middle[name].shape:
                return float("inf")
            first = _rms(up[name] - down[name]) / 2
            if first > 8 * noise[name]:
                ratios[name] = _rms(up[name] + down[name] - 2 * middle[name]) / first
                still.discard(name)
            if first > _CLEAR * noise[name]:
                left.discard(name)
    far = at(STEPS[0] * 2**20) if still else {}
    if any(_distance(far[name], middle[name]) > _CLEAR * noise[name] for name in still):
        return float("inf")
    return max(ratios.values(), default=0.0)


@contextlib.contextmanager
def lifted() -> Iterator[None]:
    """Raise casts to narrow floats to float64, and cast constants up after they were made, while this lasts.

    Every cast, `Tensor.astype` and `Tensor.to` among them, ends in the operator `_C_ops.cast`; so does what user code
    holds by reference (`from paddle import cast`).
    """
    import paddle

    from exporter.paddle.private import c_ops

    saved: list[tuple[Any, str, Any]] = []

    def patch(owner: Any, name: str, make: Callable[[Any], Any]) -> None:
        if (old := getattr(owner, name, None)) is not None:
            saved.append((owner, name, old))
            setattr(owner, name, make(old))

    for name in _ARITHMETIC:
        patch(paddle.Tensor, name, partial(_through_float32, cast=c_ops.cast, quotient=name in _QUOTIENTS))
    patch(c_ops, "cast", _raising_cast)
    for name in _CREATORS:
        patch(c_ops, name, _cast_up)
    patch(paddle, "to_tensor", _cast_up)
    try:
        yield
    finally:
        for owner, name, old in reversed(saved):
            setattr(owner, name, old)


@contextlib.contextmanager
def boxes_decoded() -> Iterator[None]:
    """Keep `box_coder` from its defects in float64, while this lasts (phi/kernels/cpu/box_coder_kernel.cc, 3.3.1).

    Where priors and boxes are of two dtypes it finds that out inside its threads, which ends the process. Where
    variances are a list, decoded boxes are off by several percent; as a tensor they are right.
    """
    from exporter.paddle.private import c_ops

    old = c_ops.box_coder
    c_ops.box_coder = _with_tensors(old)
    try:
        yield
    finally:
        c_ops.box_coder = old


def _with_tensors(old: Any) -> Any:
    """`box_coder`, which takes floats of one dtype, and in float64 a tensor of variances.

    Raises:
        TypeError: it is given floats of two dtypes.
    """
    import paddle

    def coded(priors: Any, spread: Any, boxes: Any, *settings: Any) -> Any:
        *how, variance = settings  # code type, normalized, axis
        dtypes = sorted({_dtype(value.dtype) for value in (priors, spread, boxes) if value is not None})
        if len(dtypes) > 1:
            raise TypeError(f"box_coder takes no {' and '.join(dtypes)} together")
        if variance and dtypes == ["float64"]:
            row = np.asarray(variance, "float32").astype("float64")
            spread, variance = paddle.to_tensor(np.tile(row, (priors.shape[0], 1))), []
        return old(priors, spread, boxes, *how, variance)

    return coded


def raise_plain_tensors(layer: Any) -> Any:
    """Cast tensors that a layer keeps as plain attributes, or in lists of them, which `Layer.to` does not see."""
    for sublayer in layer.sublayers(include_self=True):
        for name, value in list(vars(sublayer).items()):
            if not name.startswith("_"):
                vars(sublayer)[name] = _raised(value)
    return layer


def _raised(value: Any) -> Any:
    import paddle

    if isinstance(value, paddle.Tensor) and _dtype(value.dtype) in _NARROW:
        return value.cast("float64")
    if type(value) in (list, tuple):
        return type(value)(_raised(element) for element in value)
    if type(value) is dict:
        return {key: _raised(element) for key, element in value.items()}
    return value


def _raising_cast(old: Any) -> Any:
    """The same function, for which every narrow float dtype among its arguments is float64."""
    import paddle

    def raised(value: Any) -> Any:
        return paddle.float64 if _dtype(value) in _NARROW else value

    def cast(tensor: Any, *arguments: Any, **named: Any) -> Any:
        return old(tensor, *map(raised, arguments), **{key: raised(value) for key, value in named.items()})

    return cast


def _cast_up(old: Any) -> Any:
    """The same function, whose narrow float result is cast to float64; its value stays that of float32."""
    import paddle

    def make(*arguments: Any, **named: Any) -> Any:
        result = old(*arguments, **named)
        if isinstance(result, paddle.Tensor) and _dtype(result.dtype) in _NARROW:
            return result.cast("float64")
        return result

    return make


def _through_float32(old: Any, cast: Any, *, quotient: bool) -> Any:
    """The same operator, which gives of whole numbers and a fraction the float32 that it gives anyway, as float64.

    It computes in float64 and rounds: of two numbers of float32 that is what float32 gives (Figueroa, "When is double
    rounding innocuous?", 1995), and no kernel runs in float32.
    """
    import paddle

    def whole(value: Any) -> bool:
        return _dtype(value.dtype) in _WHOLE if isinstance(value, paddle.Tensor) else isinstance(value, int)

    def narrow(value: Any) -> Any:
        if isinstance(value, paddle.Tensor):
            return cast(cast(value, paddle.float32), paddle.float64)
        return float(np.float32(value))

    def operate(tensor: Any, other: Any) -> Any:
        if whole(tensor) and (isinstance(other, float) or (quotient and whole(other))):
            return narrow(old(narrow(tensor), narrow(other)))
        return old(tensor, other)

    return operate


def _dtype(value: Any) -> str:
    """`float32` of `paddle.float32` and of "float32"; of what is no dtype, no dtype's name."""
    return str(value).rpartition(".")[2]


def _distance(one: Array, other: Array) -> float:
    """The root mean square of what differs; infinite where the shapes do."""
    return _rms(one - other) if one.shape == other.shape else float("inf")


def _rms(value: Array) -> float:
    largest = float(np.abs(value).max())
    if largest == 0.0 or not np.isfinite(largest):
        return largest
    return largest * float(np.sqrt(np.mean(np.square(value / largest))))

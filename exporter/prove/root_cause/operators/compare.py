"""How far one operator's ONNX nodes are from Paddle's kernel, measured by Paddle's own distance from float64."""

from __future__ import annotations

import math

import numpy as np

from exporter.base.numbers.norms import FLOOR, FLOOR_64, SMALLEST_SCALE, WORST_E_REF, error, norms, ratio
from exporter.base.tensors import Array

#: What is rounded to fewer bits is right within the rounding of the last one.
_FLOORS = {"float64": FLOOR_64, "float16": 4 * 2.0**-11}
#: Twice the floor: e_ref where Paddle has no kernel in float64, measured on 1,327 operators alone.
_UNKNOWN = 2.0


def distance(paddle: Array, exact: Array | None, onnx: Array, least: tuple[float, float] = (0.0, 0.0)) -> float | None:
    """The error ratio of one result; infinite where dtype, shape or finiteness differ; None where it tells nothing.

    `exact` is the same operator in float64, None where Paddle cannot compute it so. Numbers that are not finite in
    Paddle's answer are not compared, nor are integers that a decision gives which rounding changes. `least` is an error
    that rounding alone brings about, whatever Paddle's own is.
    """
    if (paddle.dtype, paddle.shape) != (onnx.dtype, onnx.shape):
        return math.inf
    if exact is not None and exact.shape != paddle.shape:
        exact = None
    if paddle.dtype.kind != "f":
        sure = np.ones(paddle.shape, bool) if exact is None else exact == paddle
        return None if not sure.any() else 0.0 if np.array_equal(paddle[sure], onnx[sure]) else math.inf
    truth = paddle if exact is None else exact
    finite = np.isfinite(paddle) & np.isfinite(truth)
    if not finite.any():
        return None
    truth, paddle, onnx = truth[finite], paddle[finite], onnx[finite]
    if not np.isfinite(onnx).all():
        return math.inf
    return _ratio(truth, paddle, onnx, least if exact is not None else None)


def sensitivity(exact: Array, once: Array, often: Array) -> tuple[float, float]:
    """The relative error that rounding the inputs brings about, from runs in float64 with inputs moved by 1 and 16.

    Of a smooth operator 16 times as large a move has some 16 times the effect. Where it has not, the operator jumps
    there, as rounding does at a half, and there a jump is what is asked for: no error is due to rounding.
    """
    none = (0.0, 0.0)
    if exact.dtype.kind != "f" or not exact.shape == once.shape == often.shape:
        return none
    finite = np.isfinite(exact) & np.isfinite(once) & np.isfinite(often)
    one, many = (error(exact[finite], value[finite]) for value in (once, often))
    smooth = one[1] > 0 and 4 <= many[1] / one[1] <= 64
    return one if smooth else none


def _ratio(truth: Array, paddle: Array, onnx: Array, least: tuple[float, float] | None) -> float | None:
    if 0 < norms(truth)[0] < SMALLEST_SCALE:
        return None
    floor = _FLOORS.get(paddle.dtype.name, FLOOR)
    e_ref = (_UNKNOWN * floor, _UNKNOWN * floor)
    if least is not None:
        own = error(truth, paddle)
        e_ref = max(own[0], least[0]), max(own[1], least[1])
    if max(e_ref) > WORST_E_REF / 4:
        return None
    found = ratio(truth, onnx, e_ref, floor)
    return math.inf if math.isnan(found) else found

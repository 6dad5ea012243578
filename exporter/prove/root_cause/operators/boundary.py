"""The inputs that an operator is asked at: what was recorded, and values around which lowerings go wrong."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np

from exporter.base.tensors import Array

#: The name of the point where every value is the recorded one.
RECORDED = "recorded"
#: The name of points at the operator's own constants and beside them, and how many there are at most.
BOUNDS, _TURNS = "bounds", 4
_FEW = 4
#: Points at which many elements are equal: which of them a search names first is nobody's promise.
TIES = ("zero", "negative zero", "halves", BOUNDS)


def _halves(value: Array, at: int) -> Array:
    """-4, -3.5, … 4 in turn; each input begins elsewhere, so that sums and quotients of two are ties as well."""
    return (np.arange(value.size) * (at + 1) + 3 * at) % 17 / 2 - 4


def _ramp(value: Array, at: int) -> Array:
    """From -25 to 45, which every bound of an activation lies between; the second input from 45 to -25, and so on."""
    ramp = np.linspace(-25, 45, max(value.size, 2))[: value.size]
    return ramp[:: -1 if at % 2 else 1]


#: Each gives the numbers of one input in order, from the recorded one and its place among the inputs.
POINTS: Mapping[str, Callable[[Array, int], Array]] = {
    RECORDED: lambda value, _: value,
    "zero": lambda value, _: np.zeros(value.size),
    "negative zero": lambda value, _: np.full(value.size, -0.0),
    "halves": _halves,
    "negative": lambda value, _: -np.abs(value) - 0.125,
    "far below": lambda value, _: -np.abs(value) - 8,
    "far above": lambda value, _: np.abs(value) + 8,
    "small": lambda value, _: value * 2.0**-12,
    "large": lambda value, _: value * 2.0**7,
    "ramp": _ramp,
}


def points(inputs: Mapping[int, Array], constants: Iterable[float] = ()) -> Iterator[tuple[str, dict[int, Array]]]:
    """Each point by its name: the recorded inputs with every float one replaced; integers stay as recorded.

    `constants` are numbers that the operator holds: bounds, slopes, what it compares with.
    """
    floats = {number: at for at, number in enumerate(sorted(inputs)) if inputs[number].dtype.kind == "f"}
    for name, change in POINTS.items():
        if name == RECORDED:
            yield name, dict(inputs)
        elif floats:
            changed = {number: _changed(inputs[number], change, at) for number, at in floats.items()}
            yield name, {**inputs, **changed}
    near = [number for one in _bounds(constants) for number in (one, one + one / 128, one - one / 128, -one)]
    smallest = min((inputs[number].size for number in floats), default=0)
    for turn in range(min(math.ceil(len(near) / smallest), _TURNS) if smallest else 0):
        own = np.roll(near, -turn * smallest)
        yield BOUNDS, {**inputs, **{number: _changed(inputs[number], _repeated(own), 0) for number in floats}}


def _bounds(constants: Iterable[float]) -> list[float]:
    """The constants, then of a few their quotients: where a scaled input is compared with a bound."""
    own = sorted(set(constants))
    few = own if len(own) <= _FEW else []
    return list(dict.fromkeys([*own, *(one / other for one in few for other in few)]))


def _repeated(numbers: Array) -> Callable[[Array, int], Array]:
    return lambda value, _: np.resize(numbers, value.size)


def _changed(value: Array, change: Callable[[Array, int], Array], at: int) -> Array:
    with np.errstate(over="ignore"):
        return change(value.ravel(), at).astype(value.dtype).reshape(value.shape)


def moved(value: Array, at: int, ulps: int) -> Array:
    """Each number of a float input moved up or down by so many halves of float32's last place; others as they are."""
    if value.dtype.kind != "f":
        return value
    signs = np.random.default_rng(at).choice([-1.0, 1.0], value.shape)
    shifted: Array = (value * (1 + ulps * 2.0**-24 * signs)).astype(value.dtype)
    return shifted

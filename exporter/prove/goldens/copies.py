"""The forms of a layer that the oracle runs: in float64, and with each weight moved by one ulp.

Of a layer that a machine has room for they are copies. Of a large one they are *lent*: a twin of its structure, with
buffers and plain attributes of its own, and with the layer's own parameters. In float64 each parameter is cast when it
is read, and gone when the operator is through; moved ones are moved where they lie, and back when the run is over. So a
model of gigabytes is in memory once.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from exporter.base.tensors import Array
from exporter.paddle.memory import shared_array

if TYPE_CHECKING:
    import paddle

#: So many numbers are moved at a time: what it takes stays in the processor's cache.
_CHUNK = 1 << 16
#: One in so many numbers may be remembered as it was; of a chunk with more that do not move back the whole is kept.
_FEW = 16


def wide(layer: paddle.nn.Layer) -> paddle.nn.Layer:
    """A copy in float64."""
    exact = _copied(layer, {})
    # Plain `to` would cast integer buffers too, and indices would die in gather.
    exact._to_impl(dtype="float64", floating_only=True)
    exact.eval()
    return exact


def lent_wide(layer: paddle.nn.Layer) -> paddle.nn.Layer:
    """A twin in float64, which casts each parameter of the layer whenever it is asked for by its name.

    Code that takes parameters another way gets them as they are, and then the run is not truly in float64.
    """
    twin = _twin(layer)
    parts = twin.sublayers(include_self=True)
    lent = [vars(part)["_parameters"] for part in parts]
    for part in parts:
        vars(part)["_parameters"] = {}
    twin._to_impl(dtype="float64", floating_only=True)
    for part, parameters in zip(parts, lent, strict=True):
        vars(part)["_parameters"] = _Wide(parameters)
    twin.eval()
    return twin


class _Wide(dict[str, "paddle.Tensor | None"]):
    """Parameters by name, each float one as a new tensor of float64."""

    def __getitem__(self, name: str) -> paddle.Tensor | None:
        import paddle

        parameter = super().__getitem__(name)
        if parameter is None or not parameter.is_floating_point() or parameter.dtype == paddle.float64:
            return parameter
        with paddle.no_grad():
            return parameter.cast("float64")

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default  # noqa: SIM401 - `get` is what this is


def moved(layer: paddle.nn.Layer, seed: int) -> paddle.nn.Layer:
    """A copy whose float weights each go one ulp up or down, by the toss of a seeded coin."""
    twin = _copied(layer, {})
    _move(twin, seed)
    twin.eval()
    return twin


def lent_moved(layer: paddle.nn.Layer) -> paddle.nn.Layer:
    """A twin for :func:`moving`."""
    twin = _twin(layer)
    twin.eval()
    return twin


@contextlib.contextmanager
def moving(layer: paddle.nn.Layer, seed: int) -> Iterator[None]:
    """While this lasts the layer's own weights are those of :func:`moved`; afterwards they are the same bits again."""
    steps = _move(layer, seed)
    try:
        yield
    finally:
        for parameter, step in steps:
            with _written_over(parameter) as numbers:
                step.undo(numbers)


def _copied(layer: paddle.nn.Layer, shared: dict[int, Any]) -> paddle.nn.Layer:
    """A deep copy, which shares what Python copies of nothing: a context variable, a lock, an open file."""
    import paddle

    for part in layer.sublayers(include_self=True):
        for value in vars(part).values():
            if isinstance(value, (paddle.nn.Layer, paddle.Tensor)):
                continue
            try:
                copy.copy(value)
            except TypeError:
                shared[id(value)] = value
    return copy.deepcopy(layer, shared)


def _twin(layer: paddle.nn.Layer) -> paddle.nn.Layer:
    """A copy of everything but the parameters, which are the layer's own."""
    return _copied(layer, {id(parameter): parameter for parameter in layer.parameters()})


def moves(value: Array) -> bool:
    """Return whether a step of its dtype is a rounding: of float16 it is as large as the faults that are looked for."""
    return value.dtype.kind == "f" and value.dtype.itemsize > 2


@dataclass
class _Step:
    """Where each number of an array went: the coins, and what does not move back by them, by the chunk's place."""

    coins: list[Array] = field(default_factory=list)
    kept: list[tuple[Array | slice, Array]] = field(default_factory=list)

    def take(self, numbers: Array, generator: np.random.Generator) -> None:
        """Move all numbers in their place."""
        flat = numbers.ravel()
        for start in range(0, flat.size, _CHUNK):
            chunk = flat[start : start + _CHUNK]
            up = generator.random(chunk.size) >= 0.5
            before = chunk.copy()
            bits = chunk.view(f"int{8 * chunk.itemsize}")
            # The bits of a float are a number that counts away from zero, so its neighbours are one bit off.
            unsure = (before == 0) | ~np.isfinite(before)
            bits += _direction(bits, up)
            unsure |= ~np.isfinite(chunk)
            odd = np.flatnonzero(unsure)
            chunk[odd] = _neighbours(before[odd], up[odd])
            self.coins.append(np.packbits(up))
            self.kept.append((slice(None), before) if odd.size * _FEW > chunk.size else (odd, before[odd]))

    def undo(self, numbers: Array) -> None:
        """Move all numbers back in their place."""
        flat = numbers.ravel()
        for at, (coins, (odd, before)) in enumerate(zip(self.coins, self.kept, strict=True)):
            chunk = flat[at * _CHUNK : (at + 1) * _CHUNK]
            bits = chunk.view(f"int{8 * chunk.itemsize}")
            bits -= _direction(bits, np.unpackbits(coins, count=chunk.size).view(bool))
            chunk[odd] = before


def _direction(bits: Array, up: Array) -> Array:
    """1 where a number goes away from zero, -1 where it comes nearer."""
    return (up ^ (bits < 0)).astype("int8") * np.int8(2) - np.int8(1)


def _neighbours(value: Array, up: Array) -> Array:
    """The next number to each side; the neighbour of infinity is the largest number, and the reverse: both stay."""
    with np.errstate(over="ignore"):
        beside = np.nextafter(value, np.where(up, np.inf, -np.inf).astype(value.dtype))
    return np.where(np.isfinite(value) & np.isfinite(beside), beside, value)


def _move(layer: paddle.nn.Layer, seed: int) -> list[tuple[Any, _Step]]:
    """Move a layer's float weights in their place; how to move each back."""
    generator = np.random.default_rng(seed)
    steps = []
    for parameter in layer.parameters():
        with _written_over(parameter) as numbers:
            if moves(numbers):
                step = _Step()
                step.take(numbers, generator)
                steps.append((parameter, step))
    return steps


@contextlib.contextmanager
def _written_over(parameter: paddle.Tensor) -> Iterator[Array]:
    """The numbers of a parameter, to be changed in their place; where NumPy has no way to it, in a copy."""
    shared = shared_array(parameter)
    numbers = parameter.numpy() if shared is None else shared
    yield numbers
    if shared is None and moves(numbers):
        parameter.set_value(numbers)

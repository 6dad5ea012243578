"""Complex numbers as pairs of real tensors, and Fourier transforms as products with matrices of cosines and sines.

ONNX Runtime computes no complex numbers. While a layer is traced for ONNX, every complex value is the result of
`complex(real, imaginary)`; a call that takes one is written with the two parts, and gives `complex` of two others, or a
real tensor. The operator `complex` itself is removed where nothing reads it any more (:func:`drop_pairs`).

A transform over n places costs n² products instead of n·log n. Its error is that of a matrix product.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from exporter.trace.legacy.onnx.common import constant, sizes
from exporter.trace.legacy.onnx.constants import is_constant
from exporter.trace.legacy.onnx.dispatch import Arguments, Detour, Entry, Rewrite, dtype_name

_FLOATS = {"complex64": "float32", "complex128": "float64"}


@dataclass(frozen=True)
class Pair:
    """The parts of a complex value; `imaginary` is None where they are all zero."""

    real: Any
    imaginary: Any = None

    def value(self) -> Any:
        """The complex value of the program."""
        import paddle

        imaginary = paddle.zeros_like(self.real) if self.imaginary is None else self.imaginary
        return paddle._C_ops.complex(self.real, imaginary)

    def turned(self, cosines: Any, sines: Any) -> Pair:
        """The product of the last axis with the matrix `cosines + i·sines`."""
        import paddle

        real, imaginary = paddle.matmul(self.real, cosines), paddle.matmul(self.real, sines)
        if self.imaginary is None:
            return Pair(real, imaginary)
        return Pair(real - paddle.matmul(self.imaginary, sines), imaginary + paddle.matmul(self.imaginary, cosines))

    def each(self, compute: Callable[[Any], Any]) -> Pair:
        """The same done to both parts."""
        return Pair(compute(self.real), None if self.imaginary is None else compute(self.imaginary))


def pair_of(value: Any) -> Pair | None:
    """The parts of a complex or real value; None where they are not known, as of an input of a loop."""
    import paddle

    if not _is_complex(value):
        return Pair(value)
    operator = value.get_defining_op()
    name = operator.name() if operator is not None else ""
    if name == "pd_op.complex":
        real, imaginary = operator.operands_source()
        return Pair(real, imaginary)
    if name == "pd_op.cast" and not _is_complex(source := operator.operands_source()[0]):
        real = source.astype(_FLOATS[dtype_name(value)])
        return Pair(real, paddle.zeros_like(real))
    return None


def drop_pairs(program: Any, outputs: Iterable[Any]) -> None:
    """Remove the operators with complex results that nothing reads and that are not put out."""
    block, put_out = program.global_block(), {value.id for value in outputs}
    for operator in reversed(block.ops):
        results = operator.results()
        idle = all(value.use_empty() and _is_complex(value) and value.id not in put_out for value in results)
        if results and idle:
            block.remove_op(operator)


def _is_complex(argument: Any) -> bool:
    import paddle

    if isinstance(argument, (list, tuple)):
        return any(map(_is_complex, argument))
    return isinstance(argument, paddle.pir.Value) and dtype_name(argument) in _FLOATS


# ---- transforms ------------------------------------------------------------------------------------------------


def _from_real(entry: Entry, call: Arguments) -> Any:
    """`fft_r2c`: the last of the axes first; of it, where `onesided`, the first n // 2 + 1 frequencies."""
    x, axes = call["x"], [int(axis) for axis in call["axes"]]
    if is_constant(x):
        return _stored(entry, call)
    if dtype_name(x) not in _FLOATS.values():
        return None
    *rest, last = axes
    pair = _along(Pair(x), last, call["forward"], halved=call["onesided"])
    for axis in rest:
        pair = _along(pair, axis, call["forward"])
    return _scaled(pair, x, axes, call).value()


def _from_complex(entry: Entry, call: Arguments) -> Any:
    """`fft_c2c`."""
    x, pair = call["x"], pair_of(call["x"])
    if is_constant(x):
        return _stored(entry, call)
    if pair is None:
        return None
    axes = [int(axis) for axis in call["axes"]]
    for axis in axes:
        pair = _along(pair, axis, call["forward"])
    return _scaled(pair, x, axes, call).value()


def _to_real(entry: Entry, call: Arguments) -> Any:
    """`fft_c2r`: the spectrum holds n // 2 + 1 frequencies along the last of the axes; the others are their mirror."""
    import paddle

    x, pair = call["x"], pair_of(call["x"])
    if pair is None:
        return None
    *rest, last = [int(axis) for axis in call["axes"]]
    for axis in rest:
        pair = _along(pair, axis, call["forward"])
    (held,) = sizes(x, "fft.irfft", last)
    count = int(call["last_dim_size"]) or 2 * (held - 1)
    frequencies, places = np.arange(count // 2 + 1), np.arange(count)
    angles = 2 * np.pi * (frequencies[:, None] * places % count) / count
    weights = np.where((frequencies == 0) | (2 * frequencies == count), 1.0, 2.0)[:, None]
    sign = -1.0 if call["forward"] else 1.0
    dtype = dtype_name(pair.real)
    cosines = constant((weights * np.cos(angles)).astype(dtype))
    sines = constant((sign * weights * np.sin(angles)).astype(dtype))

    def swapped(part: Any) -> Any:
        return _swapped(part, last)

    moved = pair.each(swapped)
    result = paddle.matmul(moved.real, cosines)
    if moved.imaginary is not None:
        result = result - paddle.matmul(moved.imaginary, sines)
    result = swapped(result)
    return _scaled(Pair(result), result, [*rest, last], call).real


def _stored(entry: Entry, call: Arguments) -> Any:
    """The spectrum of a constant by Paddle's own operators: `fold_constants` stores what they give."""
    from paddle.base import core

    value = entry(*(given for name, given in call.items() if name != "out"))
    return Pair(core.pir.ops.real(value), core.pir.ops.imag(value)).value()


def _along(pair: Pair, axis: int, forward: bool, halved: bool = False) -> Pair:
    """The transform over one axis, without any factor."""
    cosines, sines = _matrix(pair.real, axis, -1.0 if forward else 1.0, halved)
    return pair.each(lambda part: _swapped(part, axis)).turned(cosines, sines).each(lambda part: _swapped(part, axis))


def _swapped(x: Any, axis: int) -> Any:
    """With this axis and the last one in each other's place."""
    import paddle

    order = list(range(len(x.shape)))
    order[axis], order[-1] = order[-1], order[axis]
    return x if order == sorted(order) else paddle.transpose(x, order)


def _matrix(x: Any, axis: int, sign: float, halved: bool) -> tuple[Any, Any]:
    """Cosines and `sign` times sines of 2π·j·k/n; products are taken modulo n first, which keeps the angles exact."""
    import paddle

    size, dtype = int(x.shape[axis]), dtype_name(x)
    if size >= 0:
        places = np.arange(size)
        frequencies = places[: size // 2 + 1] if halved else places
        angles = 2 * np.pi * (places[:, None] * frequencies % size) / size
        return constant(np.cos(angles).astype(dtype)), constant((sign * np.sin(angles)).astype(dtype))
    count = paddle.shape(x)[axis].astype("int64")
    places = paddle.arange(0, count, 1, "int64")
    frequencies = paddle.arange(0, paddle.floor_divide(count, paddle.full([], 2, "int64")) + 1, 1, "int64")
    turns = paddle.mod(paddle.unsqueeze(places, 1) * paddle.unsqueeze(frequencies if halved else places, 0), count)
    turns = paddle.where(turns * 2 > count, turns - count, turns).astype(dtype)
    angles = turns * (2 * np.pi) / count.astype(dtype)
    return paddle.cos(angles), paddle.sin(angles) * sign


def _scaled(pair: Pair, sized: Any, axes: list[int], call: Arguments) -> Pair:
    """By the number of places that `sized` has along the axes, or its root; `backward` scales the inverse only."""
    import paddle

    norm = call["normalization"]
    if norm != "ortho" and (norm == "forward") != bool(call["forward"]):
        return pair
    dtype = dtype_name(pair.real)
    count = paddle.full([], 1.0, dtype)
    for axis in axes:
        size = int(sized.shape[axis])
        known = size if size >= 0 else paddle.shape(sized)[axis].astype(dtype)
        count = count * known
    factor = paddle.sqrt(count) if norm == "ortho" else count
    return pair.each(lambda part: paddle.divide(part, factor))


# ---- other calls -----------------------------------------------------------------------------------------------


def _as_complex(entry: Entry, call: Arguments) -> Any:
    import paddle

    real, imaginary = paddle.unbind(call["x"], -1)
    return Pair(real, imaginary).value()


def _multiply(x: Pair, y: Pair) -> Pair:
    return _product(x, y, lambda left, right: left * right)


def _matmul(x: Pair, y: Pair, transpose_x: bool = False, transpose_y: bool = False) -> Pair:
    import paddle

    return _product(x, y, lambda left, right: paddle.matmul(left, right, transpose_x, transpose_y))


def _product(x: Pair, y: Pair, times: Callable[[Any, Any], Any]) -> Pair:
    if y.imaginary is None:
        return x.each(lambda part: times(part, y.real))
    if x.imaginary is None:
        return y.each(lambda part: times(x.real, part))
    return Pair(
        times(x.real, y.real) - times(x.imaginary, y.imaginary),
        times(x.real, y.imaginary) + times(x.imaginary, y.real),
    )


def _divide(x: Pair, y: Pair) -> Pair:
    if y.imaginary is None:
        return x.each(lambda part: part / y.real)
    square = y.real * y.real + y.imaginary * y.imaginary
    return _multiply(x, _conjugate(y)).each(lambda part: part / square)


def _add(x: Pair, y: Pair) -> Pair:
    import paddle

    if x.imaginary is None or y.imaginary is None:
        summed = paddle.add(x.real, y.real)
        held = x.imaginary if y.imaginary is None else y.imaginary
        return Pair(summed, paddle.add(held, paddle.zeros_like(summed)))
    return Pair(paddle.add(x.real, y.real), paddle.add(x.imaginary, y.imaginary))


def _subtract(x: Pair, y: Pair) -> Pair:
    return _add(x, y.each(lambda part: -part))


def _modulus(x: Pair) -> Any:
    import paddle

    return paddle.sqrt(x.real * x.real + x.imaginary * x.imaginary)


def _conjugate(x: Pair) -> Pair:
    return Pair(x.real, -x.imaginary)


def _as_real(x: Pair) -> Any:
    import paddle

    return paddle.stack([x.real, x.imaginary], -1)


#: Of parts, and what else the call was given; a result that is a pair becomes a complex value again.
_OF_PAIRS: Mapping[str, Callable[..., Any]] = {
    "real": lambda x: x.real,
    "imag": lambda x: x.imaginary,
    "conj": _conjugate,
    "as_real": _as_real,
    "abs": _modulus,
    "add": _add,
    "subtract": _subtract,
    "multiply": _multiply,
    "divide": _divide,
    "matmul": _matmul,
}
#: Done to both parts alike.
_TO_BOTH = frozenset(
    """
assign concat expand flatten flip gather index_select mean reshape roll slice squeeze stack strided_slice sum tile
transpose unsqueeze
""".split()
)


def _in_parts(name: str, entry: Entry, again: Entry, args: Any, kwargs: Any) -> Any:
    """One call that takes a complex value; of values whose parts are not known the entry itself."""
    given = {key: value for key, value in kwargs.items() if value is not None}  # such as `out`
    if any(pair_of(value) is None for value in _values((*args, *given.values()))):
        return entry(*args, **kwargs)
    if name in _TO_BOTH:
        parts = (
            again(*(_part(value, at) for value in args), **{key: _part(value, at) for key, value in given.items()})
            for at in (0, 1)
        )
        return Pair(*parts).value()
    result = _OF_PAIRS[name](*map(_paired, args), **{key: _paired(value) for key, value in given.items()})
    return result.value() if isinstance(result, Pair) else result


def _values(arguments: Iterable[Any]) -> Iterator[Any]:
    import paddle

    for argument in arguments:
        if isinstance(argument, (list, tuple)):
            yield from _values(argument)
        elif isinstance(argument, paddle.pir.Value):
            yield argument


def _paired(argument: Any) -> Any:
    import paddle

    return pair_of(argument) if isinstance(argument, paddle.pir.Value) else argument


def _part(argument: Any, at: int) -> Any:
    """The real (0) or imaginary part (1) of a complex value, the dtype of one; anything else, as an index, as it is."""
    import paddle

    if isinstance(argument, paddle.dtype):
        return {paddle.complex64: paddle.float32, paddle.complex128: paddle.float64}.get(argument, argument)
    if not _is_complex(argument):
        return argument
    if isinstance(argument, (list, tuple)):
        return type(argument)(_part(inner, at) for inner in argument)
    pair = pair_of(argument)
    assert pair is not None  # noqa: S101  # the caller has asked
    return (pair.real, pair.imaginary)[at]


#: Calls that take a complex value.
IN_PARTS = Detour(frozenset(_OF_PAIRS) | _TO_BOTH, _is_complex, _in_parts)
SPECTRA: Mapping[str, Rewrite] = {
    "fft_r2c": Rewrite(_from_real, "x, axes, normalization, forward, onesided"),
    "fft_c2c": Rewrite(_from_complex, "x, axes, normalization, forward"),
    "fft_c2r": Rewrite(_to_real, "x, axes, normalization, forward, last_dim_size"),
    "as_complex": Rewrite(_as_complex, "x"),
}

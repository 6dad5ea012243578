"""What numpy's and Paddle's own pickles ask for by name, and what is made of it: records, never objects of theirs.

numpy.core.multiarray._reconstruct   numpy 1; `numpy._core` in numpy 2; its state follows
numpy.dtype                          its state follows
numpy.core.multiarray.scalar         a learning rate, as a scheduler keeps it
numpy.core.numeric._frombuffer       protocol 5
builtins.tuple                       Paddle 2.1 and later writes a tensor as `tuple((name, array))`
builtins.eval                        Paddle writes a DenseTensor as `eval('data', {'data': array})`; nothing else
                                     may be asked of it, and that is taken apart here, not evaluated
_codecs.encode                       protocol 2 writes bytes as text
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from exporter.base.pickles.values import (
    Bytes,
    Content,
    Dtype,
    Global,
    Ndarray,
    PickleRefused,
    Scalar,
    Table,
    Text,
    describe,
    text_of,
)

#: Bytes of one element by numpy's code; bfloat16 has none, Paddle stores its bits as `u2`.
WIDTHS = {"b1": 1, "i1": 1, "u1": 1, "f2": 2, "i2": 2, "u2": 2, "f4": 4, "i4": 4, "u4": 4}
WIDTHS |= {"f8": 8, "i8": 8, "u8": 8, "c8": 8, "c16": 16}
_MAX_RANK = 32
_NDARRAY = Global("numpy", "ndarray")


def construct(function: Global, arguments: tuple[Any, ...], content: Content) -> Any:
    """What a call of one of the names above would give, as a record; raises PickleRefused where it does not fit."""
    maker = ALLOWED[function]
    if maker is None:
        raise PickleRefused(f"it calls {function}, which no file of arrays does")
    try:
        return maker(arguments, content)
    except PickleRefused as error:
        raise PickleRefused(f"it calls {function} in another way than numpy and Paddle do: {error}") from error


def set_state(target: object, state: object, content: Content) -> None:
    """Give an array or a dtype its state, as numpy's `__setstate__` would; raises PickleRefused."""
    if isinstance(target, Dtype):
        _set_dtype(target, state, content)
    elif isinstance(target, Ndarray) and isinstance(state, tuple) and len(state) == 5:
        _, shape, dtype, fortran, raw = state
        _fill(target, shape, dtype, raw)
        target.fortran = fortran is True
    else:
        raise PickleRefused(f"it sets the state of {describe(target)}")


def _fill(array: Ndarray, shape: object, dtype: object, raw: object) -> None:
    if array.dtype is not None:
        raise PickleRefused("an array whose state is set twice")
    if isinstance(raw, Text):  # a string of Python 2 that a later pickler wrote as text
        raw = Bytes(raw.start, raw.stop, latin1=True)
    if not isinstance(dtype, Dtype) or not isinstance(raw, Bytes):
        raise PickleRefused("an array without a dtype or without its numbers")
    array.dtype, array.shape, array.raw = dtype, checked_shape(shape), raw
    wanted, held = math.prod(array.shape) * WIDTHS[dtype.code], raw.stop - raw.start
    # As UTF-8 a byte takes one or two letters.
    if not (wanted <= held <= 2 * wanted if raw.latin1 else wanted == held):
        raise PickleRefused(f"an array of {list(array.shape)} takes {wanted:,} bytes, and {held:,} are there")


def checked_shape(shape: object) -> tuple[int, ...]:
    """The shape that numpy could give an array; raises PickleRefused."""
    if not isinstance(shape, (tuple, list)) or len(shape) > _MAX_RANK:
        raise PickleRefused("an array whose shape is none")
    if not all(type(size) is int and size >= 0 for size in shape):
        raise PickleRefused("an array whose shape is not made of sizes")
    if math.prod(size for size in shape if size) * max(WIDTHS.values()) >= 1 << 63:  # numpy leaves out sizes of 0, too
        raise PickleRefused(f"an array of {list(shape)}, larger than any memory")
    return tuple(shape)


def _set_dtype(dtype: Dtype, state: object, content: Content) -> None:
    if not isinstance(state, tuple) or len(state) < 5 or any(part is not None for part in state[2:5]):
        raise PickleRefused("a dtype that is not a plain number")
    order = text_of(state[1], content)
    if order not in ("<", ">", "|", "="):
        raise PickleRefused("a dtype of an unknown byte order")
    dtype.order = order


def _reconstruct(arguments: tuple[Any, ...], content: Content) -> Ndarray:
    if len(arguments) != 3 or arguments[0] != _NDARRAY or arguments[1] != (0,):
        raise PickleRefused("not for an empty array")
    return Ndarray()


def _dtype(arguments: tuple[Any, ...], content: Content) -> Dtype:
    code = text_of(arguments[0], content) if arguments else ""
    order = "<"
    if code[:1] in ("<", ">", "|", "="):
        order, code = code[0], code[1:]
    if code not in WIDTHS:
        raise PickleRefused(f"dtype {code!r} is not a number")
    return Dtype(code, order)


def _scalar(arguments: tuple[Any, ...], content: Content) -> Scalar:
    if len(arguments) != 2 or not isinstance(arguments[0], Dtype):
        raise PickleRefused("not for a number")
    return Scalar(arguments[0])


def _from_buffer(arguments: tuple[Any, ...], content: Content) -> Ndarray:
    if len(arguments) != 4:
        raise PickleRefused("not for an array")
    raw, dtype, shape, order = arguments
    array = Ndarray()
    _fill(array, shape, dtype, raw)
    array.fortran = text_of(order, content) == "F"
    return array


def _tuple(arguments: tuple[Any, ...], content: Content) -> tuple[Any, ...]:
    if len(arguments) != 1 or not isinstance(arguments[0], (tuple, list)):
        raise PickleRefused("not for a tuple")
    if len(arguments[0]) > 2:  # a name and an array: a copy of more would cost more than its opcode
        raise PickleRefused("not for a name and an array")
    return tuple(arguments[0])


def _eval(arguments: tuple[Any, ...], content: Content) -> Ndarray:
    if len(arguments) == 2 and isinstance(table := arguments[1], Table) and len(table.pairs) == 1:
        key, value = table.pairs[0]
        if text_of(arguments[0], content) == text_of(key, content) == "data" and isinstance(value, Ndarray):
            return value
    raise PickleRefused("only 'data' of an array is taken")


def _encode(arguments: tuple[Any, ...], content: Content) -> Bytes:
    if len(arguments) != 2 or not isinstance(text := arguments[0], Text):
        raise PickleRefused("not for text")
    if text_of(arguments[1], content) not in ("latin1", "latin-1"):
        raise PickleRefused("only latin-1 is taken")
    return Bytes(text.start, text.stop, latin1=True)


def _bytes(arguments: tuple[Any, ...], content: Content) -> Bytes:
    if arguments:
        raise PickleRefused("only without arguments")
    return Bytes(0, 0)


def _ordered(arguments: tuple[Any, ...], content: Content) -> Table:
    if arguments and (len(arguments) > 1 or arguments[0] != []):
        raise PickleRefused("only for an empty one, which is filled afterwards")
    return Table()


_Maker = Callable[[tuple[Any, ...], Content], Any]
_BY_MODULE: dict[tuple[str, ...], dict[str, _Maker | None]] = {
    ("numpy.core.multiarray", "numpy._core.multiarray"): {"_reconstruct": _reconstruct, "scalar": _scalar},
    ("numpy.core.numeric", "numpy._core.numeric"): {"_frombuffer": _from_buffer},
    ("numpy",): {"ndarray": None, "dtype": _dtype},
    ("builtins", "__builtin__"): {"tuple": _tuple, "eval": _eval, "bytes": _bytes},
    ("_codecs",): {"encode": _encode},
    ("collections",): {"OrderedDict": _ordered},
}
#: Every name that a pickle may ask for, with what stands in its place; None may be named but not called.
ALLOWED: Mapping[Global, _Maker | None] = {
    Global(module, name): maker
    for modules, makers in _BY_MODULE.items()
    for module in modules
    for name, maker in makers.items()
}

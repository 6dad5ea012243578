"""From a pickle of Paddle's to safetensors: the same names and numbers, one array in memory at a time."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterator
from pathlib import Path

from exporter.base.errors import UsageError
from exporter.base.files import written
from exporter.base.pickles.arrays import WIDTHS
from exporter.base.pickles.state import Joined, State, numbers
from exporter.base.pickles.values import Ndarray, PickleRefused

#: numpy's code -> the name in the file. Paddle has no dtype of 16 bits without a sign: it stores bfloat16 so.
_NAMES = {"b1": "BOOL", "i1": "I8", "u1": "U8", "f2": "F16", "i2": "I16", "u2": "BF16", "f4": "F32", "i4": "I32"}
_NAMES |= {"u4": "U32", "f8": "F64", "i8": "I64", "u8": "U64", "c8": "C64"}


def write_safetensors(state: State, path: Path) -> int:
    """Write the arrays, atomically, and return how many bytes the file has; equal arrays give equal bytes.

    Raises:
        UsageError: there is no array, or one that safetensors cannot hold; or `path` cannot be written.
        EnvironmentLacks: the disk is full.
    """
    if not state.arrays:
        raise UsageError("it holds no array", where=str(path), hint="import the file of a state dict")
    # The widest first, so that every array is aligned.
    order = sorted(state.arrays, key=lambda name: (-WIDTHS[_code(state.arrays[name])], name))
    size = 0
    with written(path) as stream:
        for piece in itertools.chain((_header(state, order, path),), _contents(state, order, path)):
            size += stream.write(piece)
    return size


def _header(state: State, order: list[str], path: Path) -> bytes:
    entries, end = {}, 0
    for name in order:
        array = state.arrays[name]
        if (code := _code(array)) not in _NAMES:
            hint = "store its real and imaginary parts, or as complex64"
            raise UsageError(f"{name!r} is complex128, which safetensors cannot hold", where=str(path), hint=hint)
        start, end = end, end + math.prod(array.shape) * WIDTHS[code]
        entries[name] = {"dtype": _NAMES[code], "shape": list(array.shape), "data_offsets": [start, end]}
    text = json.dumps(entries, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def _contents(state: State, order: list[str], path: Path) -> Iterator[bytes]:
    for name in order:
        try:
            array = numbers(state.arrays[name], state.content)
        except PickleRefused as error:
            raise UsageError(f"{name!r}: {error}", where=str(path), hint="get a fresh copy of the file") from error
        yield array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()


def _code(array: Ndarray | Joined) -> str:
    first = array.pieces[0] if isinstance(array, Joined) else array
    return first.dtype.code if first.dtype else ""

"""The tensors of a file that `paddle.save` wrote: a state dict of a layer or an optimizer."""

from __future__ import annotations

import math
import mmap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from exporter.base.errors import UsageError
from exporter.base.files import open_regular
from exporter.base.pickles.arrays import WIDTHS, checked_shape
from exporter.base.pickles.opcodes import MOST_OPCODES, Walk
from exporter.base.pickles.values import Bytes, Content, Ndarray, PickleRefused, Table, Text, describe, text_of

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Array: TypeAlias = npt.NDArray[Any]

#: What `paddle.save` and `paddle.static.save` call their files.
SUFFIXES = (".pdparams", ".pdopt")
#: A layer's names -> the framework's, in files of `paddle.save` up to 2.0 and of state dicts.
_NAMES = "StructuredToParameterName@@"
#: Protocols 2 and 3 hold no more than 4 GB in a piece, so Paddle cuts what is larger than 1 GB.
_PIECES = "UnpackBigParamInfor@@"
_MOST_DEPTH = 16
_ROWS = (list, tuple)  # and no named tuple of ours
#: Several names may share one array, as tied weights do; the numbers of all names together are at most this many files.
_MOST_SHARED = 16
_HINT = "write the state dict alone, or as safetensors: only arrays and plain containers are read from a pickle"


@dataclass(frozen=True, eq=False)
class Joined:
    """An array that lies in the file in pieces."""

    pieces: tuple[Ndarray, ...]
    shape: tuple[int, ...]


@dataclass(frozen=True)
class State:
    """What such a file holds: arrays by name, and in a few words everything else."""

    arrays: Mapping[str, Ndarray | Joined]
    others: Mapping[str, str]
    content: Content = field(repr=False)

    def tensors(self) -> dict[str, Array]:
        """The arrays, in the machine's byte order; those of bfloat16 as Paddle stores them: their bits, as uint16."""
        made: dict[int, Array] = {}
        for array in self.arrays.values():
            if id(array) not in made:
                made[id(array)] = numbers(array, self.content)
        return {name: made[id(array)] for name, array in self.arrays.items()}


def numbers(array: Ndarray | Joined, content: Content) -> Array:
    """The numbers of one array; raises PickleRefused where they are not as many as its shape says."""
    import numpy as np

    if isinstance(array, Joined):
        return np.concatenate([numbers(piece, content).reshape(-1) for piece in array.pieces]).reshape(array.shape)
    if array.dtype is None or array.raw is None:
        raise PickleRefused("an array whose state is never set")
    order = "<" if array.dtype.order in ("|", "=") else array.dtype.order
    dtype = np.dtype(f"{order}{array.dtype.code}")
    raw = _raw(array.raw, content)
    if len(raw) != math.prod(array.shape) * dtype.itemsize:
        raise PickleRefused(f"an array of {list(array.shape)} has {len(raw):,} bytes of numbers")
    shaped: np.ndarray[Any, Any] = np.frombuffer(raw, dtype).reshape(array.shape, order="F" if array.fortran else "C")
    return shaped.astype(dtype.newbyteorder("="), copy=False)


def _raw(raw: Bytes, content: Content) -> bytes | memoryview:
    if not raw.latin1:
        return memoryview(content)[raw.start : raw.stop]
    try:
        return content[raw.start : raw.stop].decode().encode("latin-1")
    except UnicodeError as error:
        raise PickleRefused("an array whose bytes are not written as latin-1") from error


def is_pickle(path: Path) -> bool:
    """Whether a file is to be read by :func:`read_state`: by its suffix, unless it is safetensors all the same."""
    if path.suffix not in SUFFIXES:
        return False
    try:
        with open_regular(path) as (stream, size):
            head = stream.read(min(size, 9))
    except OSError:
        return False  # whoever opens it says what is wrong
    return not (head[8:9] == b"{" and int.from_bytes(head[:8], "little") <= size - 8)


def read_state(path: Path) -> State:
    """Read a `.pdparams` or `.pdopt` file; nothing in it is imported, called or evaluated.

    Raises:
        UsageError: no such file; it is damaged; it holds something else than arrays and plain containers, which is
            named; or it announces more than it holds.
    """
    try:
        with open_regular(path) as (stream, size):
            content: Content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) if size else b""
    except OSError as error:
        raise UsageError(f"cannot be read: {error.strerror}", where=str(path), hint="check the path") from error
    try:
        return state_of(content)
    except PickleRefused as error:
        raise UsageError(f"not a pickle of arrays alone: {error}", where=str(path), hint=_HINT) from error


def read_tensors(path: Path) -> dict[str, Array]:
    """The arrays of such a file by name; raises as :func:`read_state`."""
    state = read_state(path)
    try:
        return state.tensors()
    except PickleRefused as error:
        raise UsageError(f"not a pickle of arrays alone: {error}", where=str(path), hint=_HINT) from error


def state_of(content: Content) -> State:
    """Walk a pickle; raises PickleRefused, whose text names the byte."""
    walk = Walk(content)
    try:
        value = walk.value()
    except PickleRefused as error:
        raise PickleRefused(f"at byte {walk.offset}: {error}") from error
    if not isinstance(value, Table):
        raise PickleRefused(f"it holds {describe(value)}, where a dictionary of tensors is due")
    arrays: dict[str, Ndarray | Joined] = {}
    others: dict[str, str] = {}
    table = _named(value, content)
    cut = _PIECES in table
    pieces = table.pop(_PIECES, None)
    if table.pop(_NAMES, None) is not None:
        others[_NAMES] = "the framework's names of the tensors"
    for name, leaf in _Leaves(content).below("", table):
        if name in arrays or name in others:
            raise PickleRefused(f"two entries are called {name!r}")
        if isinstance(leaf, Ndarray):
            arrays[name] = leaf
        else:
            others[name] = describe(leaf)
    if cut:
        _join(arrays, pieces, content)
    _refuse_too_much(arrays, len(content))
    return State(arrays, others, content)


def _named(table: Table, content: Content) -> dict[str, Any]:
    """The entries of a dictionary by name; a number as a key is its digits. The last of two entries counts."""
    return {str(key) if type(key) is int else text_of(key, content): value for key, value in table.pairs}


class _Leaves:
    """Everything in nested containers, each entry under the names on the way to it, joined by dots.

    A container may be met on many ways, and may hold itself: depth and the number of steps are limited.
    """

    def __init__(self, content: Content) -> None:
        self.content = content
        self._steps = 0

    def below(self, prefix: str, entries: Mapping[str, Any], depth: int = 0) -> list[tuple[str, Any]]:
        """Every entry; a container without arrays is one, whatever is in it."""
        leaves: list[tuple[str, Any]] = []
        for name, value in entries.items():
            self._steps += 1
            if depth > _MOST_DEPTH or self._steps > MOST_OPCODES:
                raise PickleRefused("containers in containers without an end")
            if (array := _tensor(value)) is not None:
                leaves.append((f"{prefix}{name}", array))
                continue
            inner = self.below(f"{prefix}{name}.", self._entries(value), depth + 1)
            holds = any(isinstance(leaf, Ndarray) for _, leaf in inner)
            leaves += inner if holds else [(f"{prefix}{name}", value)]
        return leaves

    def _entries(self, value: object) -> Mapping[str, Any]:
        if isinstance(value, Table):
            return _named(value, self.content)
        rows: Sequence[Any] = value if isinstance(value, (list, tuple)) and type(value) in _ROWS else ()
        return {str(place): item for place, item in enumerate(rows)}


def _tensor(value: object) -> Ndarray | None:
    """The array that a value is, or that stands beside its name as Paddle 2.1 and later writes it."""
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], (Text, Bytes)):
        value = value[1]
    return value if isinstance(value, Ndarray) else None


def _join(arrays: dict[str, Ndarray | Joined], table: object, content: Content) -> None:
    """Put together what was cut: `{name: {"OriginShape": shape, "slices": [name of a piece, ...]}}`."""
    if not isinstance(table, Table):
        raise PickleRefused(f"{_PIECES} is {describe(table)}")
    for name, about in _named(table, content).items():
        told = _named(about, content) if isinstance(about, Table) else {}
        shape, listed = told.get("OriginShape"), told.get("slices")
        if not isinstance(listed, list) or not listed:
            raise PickleRefused(f"{_PIECES} does not say how {name!r} was cut")
        pieces = [arrays.pop(text_of(piece, content), None) for piece in listed]
        arrays[name] = _joined(name, pieces, checked_shape(shape))


def _joined(name: str, pieces: Sequence[Ndarray | Joined | None], shape: tuple[int, ...]) -> Joined:
    parts = tuple(piece for piece in pieces if isinstance(piece, Ndarray))
    held = sum(math.prod(part.shape) for part in parts)
    if len(parts) != len(pieces) or math.prod(shape) != held:
        raise PickleRefused(f"the pieces of {name!r} do not make up {list(shape)}")
    if len({part.dtype.code for part in parts if part.dtype}) != 1:
        raise PickleRefused(f"the pieces of {name!r} differ in their dtype")
    return Joined(parts, shape)


def _refuse_too_much(arrays: Mapping[str, Ndarray | Joined], size: int) -> None:
    """Each array has numbers of its own in the file, and not all names may share one."""
    pieces = [piece for array in arrays.values() for piece in (array.pieces if isinstance(array, Joined) else (array,))]
    if any(piece.dtype is None for piece in pieces):
        raise PickleRefused("an array whose state is never set")
    own = {id(piece): _nbytes(piece) for piece in pieces}
    if sum(own.values()) > size or sum(map(_nbytes, pieces)) > _MOST_SHARED * size:
        raise PickleRefused("its arrays announce more numbers than the file holds")


def _nbytes(array: Ndarray) -> int:
    return math.prod(array.shape) * WIDTHS[array.dtype.code] if array.dtype else 0

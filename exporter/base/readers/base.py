"""What a reader tells of a file: `ModelFacts`, made of `Weight`s, without any engine.

A reader is total: any bytes give facts or a `BundleError` that names the offset, in time and memory that grow with the
file. Files are mapped, so the facts of a model of many gigabytes cost a few pages.
"""

from __future__ import annotations

import math
import mmap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from exporter.base.bounded_json import Data
from exporter.base.errors import BundleError, UsageError, did_you_mean_file
from exporter.base.tensors import TensorSpec

if TYPE_CHECKING:
    from exporter.base.tensors import Array

Content: TypeAlias = bytes | mmap.mmap
Piece: TypeAlias = tuple[int, int]

#: Width of one element. `string` has none.
BITS = {
    **dict.fromkeys(("bool", "int8", "uint8"), 8),
    **dict.fromkeys(("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"), 8),
    **dict.fromkeys(("int16", "uint16", "float16", "bfloat16"), 16),
    **dict.fromkeys(("int32", "uint32", "float32"), 32),
    **dict.fromkeys(("int64", "uint64", "float64", "complex64"), 64),
    **dict.fromkeys(("int4", "uint4", "float4_e2m1"), 4),
    "complex128": 128,
}
_NOT_NUMPY = ("bfloat16", "float8")
#: More than any format here allows (Paddle: 9), and as many as every numpy's arrays have (1.x: 32, 2.x: 64).
MAX_RANK = 32
#: numpy counts the bytes of an array in an int64 and leaves sizes of 0 out of the product.
_MOST_BYTES = 1 << 63
HINT = "get a fresh copy: it may be truncated, damaged, encrypted or of another kind"
#: How a file begins that Git LFS has not fetched.
_POINTER = b"version https://git-lfs.github.com/spec/"


@dataclass(frozen=True)
class Weight:
    """A tensor that a file stores or, with no `pieces`, only declares.

    `pieces` are the byte ranges (start, stop) of its little-endian content, in order; `varints` says that protobuf
    wrote it one number at a time. `file` is the external file, relative to this one, that the ranges count in.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    pieces: tuple[Piece, ...] = ()
    varints: bool = False
    file: str = ""

    @property
    def elements(self) -> int:
        """How many numbers the tensor has."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """How many bytes its numbers take when stored plainly; 0 for strings."""
        return (self.elements * BITS.get(self.dtype, 0) + 7) // 8

    def array(self, content: Content, *, copy: bool = True) -> Array:
        """The numbers. Where numpy lacks the dtype (bfloat16, float8) their bit patterns, as unsigned integers.

        Without `copy` they may lie in the file itself, which must then stay as it is.

        Raises:
            UsageError: the tensor is stored elsewhere, or its dtype has no array (strings, 4 bits).
            BundleError: the bytes are not as many as the shape says: the file is not the one that was read.
        """
        import numpy as np

        bits = BITS.get(self.dtype, 0)
        if self.file or bits < 8 or -1 in self.shape or (self.elements and not self.pieces):
            kept = f"in {self.file}" if self.file else f"as {self.dtype}" if bits < 8 else "elsewhere"
            what = f"tensor {self.name!r} is stored {kept}: its values cannot be read here"
            raise UsageError(what, hint="store it in the file itself, in a dtype of 8 bits or more")
        whole = not copy and len(self.pieces) == 1 and not self.varints
        raw: bytes | memoryview = memoryview(content)[slice(*self.pieces[0])] if whole else self._joined(content)
        if self.varints:
            raw = b"".join((n & ((1 << bits) - 1)).to_bytes(bits // 8, "little") for n in varints(bytes(raw)))
        if len(raw) != self.nbytes:
            what = f"tensor {self.name!r} {self.dtype}{list(self.shape)} has {len(raw)} bytes, not {self.nbytes}"
            raise damaged(what, self.file, self.pieces[0][0] if self.pieces else None)
        numpy_name = f"uint{bits}" if self.dtype.startswith(_NOT_NUMPY) else self.dtype
        return np.frombuffer(raw, np.dtype(numpy_name).newbyteorder("<")).reshape(self.shape)

    def _joined(self, content: Content) -> bytes:
        return b"".join(content[start:stop] for start, stop in self.pieces)


def varints(raw: bytes) -> list[int]:
    """Decode numbers that were checked to be whole (see `exporter.base.readers.kinds.onnx`)."""
    numbers, number, shift = [], 0, 0
    for byte in raw:
        number |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:
            numbers.append(number)
            number, shift = 0, 0
    return numbers


@dataclass(frozen=True)
class ModelFacts:
    """What a file says of itself.

    `operators` counts all blocks, regions and subgraphs. Inputs, outputs and parameters, which the Paddle formats write
    as operators too, are not among them.
    """

    format: str
    size: int
    inputs: tuple[TensorSpec, ...] = ()
    outputs: tuple[TensorSpec, ...] = ()
    operators: Mapping[str, int] = field(default_factory=dict)
    writer: str = ""
    versions: Mapping[str, int | str] = field(default_factory=dict)
    weights: tuple[Weight, ...] = ()

    def as_json(self) -> dict[str, Data]:
        """Plain values, for `inspect --json`."""
        return {
            "format": self.format,
            "size": self.size,
            "inputs": [specification(spec) for spec in self.inputs],
            "outputs": [specification(spec) for spec in self.outputs],
            "operators": dict(self.operators),
            "writer": self.writer,
            "versions": dict(self.versions),
            "parameters": {"count": len(self.weights), "elements": sum(one.elements for one in self.weights)},
        }


def specification(spec: TensorSpec) -> dict[str, Data]:
    """One input or output as plain values."""
    return {"name": spec.name, "dtype": spec.dtype, "shape": list(spec.shape)}


@dataclass(frozen=True)
class Reader:
    """A plugin: the facts of files with these suffixes. `facts(content, where)` raises `BundleError`."""

    suffixes: tuple[str, ...]
    facts: Callable[[Content, str], ModelFacts]


def damaged(what: str, where: str, offset: int | None = None) -> BundleError:
    """The error of a reader; `offset` is the byte at which the file stops making sense."""
    place = "" if offset is None else f"at byte {offset}: "
    return BundleError(f"{place}{what}", where=where, hint=HINT)


def checked_shape(dims: Sequence[object], where: str, offset: int | None = None) -> tuple[int, ...]:
    """Return `dims` if they can be the shape of a tensor (-1: unknown).

    Raises:
        BundleError: too many, too large each or together, below -1, or no integers.
    """
    if len(dims) > MAX_RANK:
        raise damaged(f"a tensor of {len(dims)} dimensions", where, offset)
    shape = tuple(dim for dim in dims if isinstance(dim, int) and not isinstance(dim, bool) and -1 <= dim < 1 << 63)
    if len(shape) != len(dims):
        raise damaged("a tensor whose shape is not made of sizes", where, offset)
    if math.prod(dim for dim in shape if dim > 0) * (max(BITS.values()) // 8) >= _MOST_BYTES:
        raise damaged(f"a tensor of {list(shape)}, larger than any memory", where, offset)
    return shape


def map_file(path: Path) -> Content:
    """The bytes of a file, mapped and not read.

    Raises:
        UsageError: no such file, not a plain file, or not readable.
        BundleError: a pointer of Git LFS lies in its place.
    """
    try:
        if not path.is_file():  # a folder, a pipe (which would block) or nothing
            what = "no such file" if not path.exists() else "not a file"
            raise UsageError(what, where=str(path), hint=did_you_mean_file(path, "check the path"))
        with path.open("rb") as stream:
            content: Content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ) if path.stat().st_size else b""
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"cannot be read: {reason}", where=str(path), hint="check the path and its rights") from error
    if content[: len(_POINTER)] == _POINTER:
        raise BundleError("a pointer of Git LFS, not the file itself", where=str(path), hint="run `git lfs pull`")
    return content

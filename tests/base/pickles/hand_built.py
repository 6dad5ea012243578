"""Pickles of layouts that the installed Paddle and numpy no longer write, and hostile ones, byte by byte."""

from __future__ import annotations

import collections
import pickle  # noqa: TID251  # written here, never read
import struct
from pathlib import Path
from typing import Any

import numpy as np

RNG = np.random.default_rng(0)
WEIGHTS = {
    "fc.weight": RNG.standard_normal((4, 3)).astype("float32"),
    "fc.bias": RNG.standard_normal(3),
    "steps": np.array(7, "int64"),
    "fortran": np.asfortranarray(RNG.integers(-9, 9, (3, 5, 2))),
    "big": RNG.standard_normal((2, 2)).astype(">f4"),
    "mask": np.array([True, False]),
}


def without_frame(content: bytes) -> bytes:
    """Protocol 4 without its frame, whose length a replaced name would make wrong; a reader needs none."""
    assert content[2:3] == b"\x95"
    return content[:2] + content[11:]


def of_numpy_1(content: bytes) -> bytes:
    """The same pickle as numpy 1 wrote it: its modules had no underscore."""
    for new, old in ((b"numpy._core.multiarray", b"numpy.core.multiarray"),):
        content = content.replace(bytes([0x8C, len(new)]) + new, bytes([0x8C, len(old)]) + old)
        content = content.replace(b"c" + new + b"\n", b"c" + old + b"\n")
    assert b"numpy._core" not in content
    return content


def write_old_layouts(folder: Path) -> None:
    """Files as Paddle 2.0 and earlier wrote them; `paddle.load` reads them all."""
    names = {"StructuredToParameterName@@": {"fc.weight": "linear_0.w_0"}}
    for protocol in (2, 3, 4):
        content = pickle.dumps({**WEIGHTS, **names}, protocol)
        content = of_numpy_1(without_frame(content) if protocol == 4 else content)
        (folder / f"old{protocol}.pdparams").write_bytes(content)
    ordered = collections.OrderedDict(WEIGHTS)
    (folder / "ordered.pdparams").write_bytes(pickle.dumps(ordered, 2))
    flat = RNG.standard_normal(10).astype("float32")
    pieces = {"a@@.0": flat[:4], "a@@.1": flat[4:8], "a@@.2": flat[8:], "b": WEIGHTS["fc.bias"]}
    about = {"UnpackBigParamInfor@@": {"a": {"OriginShape": (5, 2), "slices": ["a@@.0", "a@@.1", "a@@.2"]}}}
    (folder / "pieces.pdparams").write_bytes(pickle.dumps({**pieces, **about}, 2))
    tied = WEIGHTS["fc.weight"]
    (folder / "tied.pdparams").write_bytes(pickle.dumps({"embedding": tied, "head": tied}, 4))


def array(shape: tuple[int, ...], numbers: bytes, dtype: bytes = b"f4") -> bytes:
    """The opcodes of one array with any shape and any bytes, in protocol 3 as numpy 1 writes it."""
    made = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85C\x01b\x87R"
    kind = b"cnumpy\ndtype\nU" + bytes([len(dtype)]) + dtype + b"\x89\x88\x87R(K\x03U\x01<NNNJ\xff\xff\xff\xff"
    kind += b"J\xff\xff\xff\xffK\x00tb"
    sizes = b"(" + b"".join(b"\x8a\x08" + struct.pack("<q", size) for size in shape) + b"t"
    return made + b"(K\x01" + sizes + kind + b"\x89B" + struct.pack("<I", len(numbers)) + numbers + b"tb"


def file_of(*entries: bytes) -> bytes:
    """A pickle of a dictionary whose keys are a0, a1, ... and whose values are made by these opcodes."""
    pairs = b"".join(b"U\x02a%d" % number + entry for number, entry in enumerate(entries))
    return b"\x80\x03}(" + pairs + b"u."


def call(name: bytes, arguments: bytes) -> bytes:
    """The opcodes that call a global, as `os\\nsystem`, with a tuple of arguments."""
    return b"c" + name + b"\n(" + arguments + b"tR"


def text(content: str) -> bytes:
    """The opcode of a text."""
    return b"X" + struct.pack("<I", len(content.encode())) + content.encode()


class Calls:
    """Pickles as a call of what is given; the reduce protocol is what hostile files are made with."""

    def __init__(self, *reduced: Any) -> None:
        self._reduced = reduced

    def __reduce__(self) -> tuple[Any, ...]:
        return self._reduced

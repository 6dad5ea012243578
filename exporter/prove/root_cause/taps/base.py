"""The contract of a tap, and what taps share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from exporter.base.readers.external import lend

#: `tap(folder, into)` writes a copy of a variant's files into the empty folder `into`, whose program also puts out
#: every intermediate value that some operator reads, and returns the names of all its outputs in the file's order:
#: first those it had. The numbers it stores and the operators it runs are the artifact's own, faults included.
#: It raises `BundleError` where the program cannot be read.
Tap: TypeAlias = Callable[[Path, Path], tuple[str, ...]]


def link_others(folder: Path, into: Path, model: str) -> None:
    """Make every file but the model appear in `into` too: parameters and external data are not copied."""
    for path in folder.iterdir():
        if path.name != model:
            lend(path, into / path.name)


def varint(number: int) -> bytes:
    """A number as protobuf writes it."""
    encoded = bytearray()
    while number >= 0x80:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*encoded, number))


def field(number: int, content: bytes) -> bytes:
    """One length-delimited field of a protobuf message."""
    return varint(number << 3 | 2) + varint(len(content)) + content

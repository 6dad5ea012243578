"""`.pdiparams`: the parameters of a Paddle program in one file, without names.

Per tensor: uint32 version (0), uint64 number of LoD levels and for each a uint64 length and its bytes, uint32 version
(0), int32 length of a TensorDesc, the TensorDesc, the numbers; all little-endian. `.pdmodel` and PIR write the same
bytes, in the order of the names sorted byte by byte (measured: Paddle 2.6.2 to 3.3.1).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from exporter.base.errors import BundleError
from exporter.base.readers.base import Content, ModelFacts, Reader, Weight, damaged, map_file
from exporter.base.readers.framework import tensor_desc
from exporter.base.readers.wire import Message

_ANOTHERS = "give the parameters that were saved with this program, or a fresh copy of both"


def facts(content: Content, where: str) -> ModelFacts:
    """Facts with nameless weights, in file order.

    Raises:
        BundleError: truncated, bytes left over, or sizes that do not fit the file.
    """
    return ModelFacts("pdiparams", len(content), weights=tuple(weights(content, where)))


def weights(content: Content, where: str) -> Iterator[Weight]:
    """Walk the file; the name of each is its place, `#0`, `#1`, …; raises as :func:`facts`."""
    position = number = 0
    count = [0]
    while position < len(content):
        weight, position = _weight(content, where, position, count)
        yield replace(weight, name=f"#{number}")
        number += 1


def named(content: Content, where: str, declared: Sequence[Weight]) -> dict[str, Weight]:
    """Give the stored tensors the names that the program declares, which must fit one by one.

    Raises:
        BundleError: another number of tensors, or another dtype or shape: it belongs to another program.
    """
    stored, wanted = list(weights(content, where)), sorted(declared, key=lambda weight: weight.name.encode())
    if len(stored) != len(wanted):
        what = f"{len(stored)} tensors, but the program declares {len(wanted)}"
        raise BundleError(what, where=where, hint=_ANOTHERS)
    for have, want in zip(stored, wanted, strict=True):
        # A program may leave a size open (-1), never its rank.
        fits = len(have.shape) == len(want.shape) and all(
            b in (a, -1) for a, b in zip(have.shape, want.shape, strict=True)
        )
        if have.dtype != want.dtype or not fits:
            found, asked = f"{have.dtype}{list(have.shape)}", f"{want.dtype}{list(want.shape)}"
            what = f"tensor {have.name} is {found}, but the program's {want.name!r} is {asked}"
            raise BundleError(what, where=where, hint=_ANOTHERS)
    return {want.name: replace(have, name=want.name) for have, want in zip(stored, wanted, strict=True)}


def _weight(content: Content, where: str, begin: int, count: list[int]) -> tuple[Weight, int]:
    position = _version(content, where, begin)
    levels, position = _integer(content, where, position, 8)
    for _ in range(levels):  # a hostile count runs out of file, not of time: each level takes 8 bytes
        length, position = _integer(content, where, position, 8)
        position = _skip(content, where, position, length)
    position = _version(content, where, position)
    length, position = _integer(content, where, position, 4)
    start = _skip(content, where, position, length)
    dtype, shape = tensor_desc(Message(content, where, position, start, 0, count))
    if -1 in shape:
        raise damaged(f"a stored tensor of unknown size {list(shape)}", where, position)
    weight = Weight("", dtype, shape)
    stop = _skip(content, where, start, weight.nbytes)
    return replace(weight, pieces=((start, stop),)), stop


def _version(content: Content, where: str, position: int) -> int:
    version, after = _integer(content, where, position, 4)
    if version != 0:
        raise damaged(f"version {version} of a tensor, where only 0 exists", where, position)
    return after


def _integer(content: Content, where: str, position: int, width: int) -> tuple[int, int]:
    after = _skip(content, where, position, width)
    return int.from_bytes(content[position:after], "little"), after


def _skip(content: Content, where: str, position: int, length: int) -> int:
    if length > len(content) - position:
        raise damaged(f"{length} bytes wanted, {len(content) - position} are left", where, position)
    return position + length


def read_pdiparams(path: Path) -> ModelFacts:
    """Facts of a file; raises as :func:`facts`, and `UsageError` where it cannot be opened."""
    return facts(map_file(path), str(path))


plugin: Reader = Reader((".pdiparams",), facts)

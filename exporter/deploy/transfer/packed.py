"""A bundle as one file: a plain tar without anything that differs from one packing to the next.

Sorted names, no times, no owners, no compression; so the sha256 of the file says which bundle it is. It is read by a
reader of our own, which knows plain files alone: no links, no devices, no extended headers, and no name that leads
elsewhere. What is unpacked is opened as any bundle before it takes its place.
"""

from __future__ import annotations

import hashlib
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from exporter.base.errors import BundleError, UsageError
from exporter.base.files import locked, open_regular, replace_folder, safe_relative, translated, written
from exporter.bundle.open import Bundle, open_bundle
from exporter.bundle.subject import refuse_contradiction
from exporter.bundle.write import drafting, refuse_overwrite

#: A bundle has tens of files; the limit keeps a stranger's archive from filling a disk with names.
MOST_FILES = 10_000
_BLOCK = tarfile.BLOCKSIZE
_PIECE = 1 << 20
_HINT = "do not use it; ask for a fresh one"


@dataclass(frozen=True)
class Packed:
    """A packed bundle: where it lies, its size in bytes and its sha256 in hex."""

    path: Path
    size: int
    sha256: str


def pack(bundle: Bundle, out: Path) -> Packed:
    """Write every file of a bundle into one; an earlier file at `out` is replaced (:func:`written`).

    Raises:
        UsageError: `out` is a folder, lies in the bundle or cannot be written.
        BundleError: a file has a name that the form cannot hold; or the report is not that of the bundle's verdict.
        EnvironmentLacks: the disk is full.
    """
    if out.is_dir() or out.resolve().is_relative_to(bundle.folder.resolve()):
        raise UsageError("is a folder, or lies in the bundle", where=str(out), hint="name a file with -o")
    refuse_contradiction(bundle)
    digest, size = hashlib.sha256(), 0
    with written(out) as stream:
        for piece in _pieces(bundle.folder):
            stream.write(piece)
            digest.update(piece)
            size += len(piece)
    return Packed(out, size, digest.hexdigest())


def _pieces(folder: Path) -> Iterator[bytes]:
    """The bytes of the archive, by the names of the files in order."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        about = tarfile.TarInfo(name)
        about.size, about.mode = path.stat().st_size, 0o644
        try:
            yield about.tobuf(tarfile.USTAR_FORMAT, "utf-8", "strict")
        except ValueError as error:
            raise BundleError(
                f"cannot be packed: {error}", where=name, hint="release it with shorter names or smaller files"
            ) from error
        with path.open("rb") as stream:
            while piece := stream.read(_PIECE):
                yield piece
        yield bytes(-about.size % _BLOCK)
    yield bytes(2 * _BLOCK)


def unpack(archive: Path, into: Path) -> Bundle:
    """Put the bundle in an archive at `into`; an unverified or failed bundle there is replaced, a released one is not.

    Raises:
        UsageError: there is no such file, or `into` holds something else.
        BundleError: it is no packed bundle, or the bundle in it is damaged; nothing is left then.
        EnvironmentLacks: the disk is full.
    """
    refuse_overwrite(into)
    with drafting(into) as draft:
        unpack_files(archive, draft)
        if not (draft / "manifest.json").is_file():
            raise BundleError("holds no manifest.json, so no bundle", where=str(archive), hint=_HINT)
        unpacked = open_bundle(draft)
        refuse_contradiction(unpacked)
        with translated(into), locked(into.parent):
            refuse_overwrite(into)  # a release may have come meanwhile
            replace_folder(draft, into)
    return Bundle(into, unpacked.manifest)


def unpack_files(archive: Path, into: Path) -> None:
    """Write the files of an archive of this form into a folder that is there, whatever they are.

    Raises:
        UsageError: there is no such file.
        BundleError: it has another form.
    """
    with open_regular(archive) as (stream, size):
        _unpack(stream, size, into, str(archive))


def _unpack(stream: BinaryIO, size: int, into: Path, where: str) -> None:
    """Write the files of an archive of `size` bytes; it has to be laid out just as :func:`pack` does it."""
    names: list[str] = []
    left = size
    while (block := stream.read(_BLOCK)) != bytes(_BLOCK):
        about = _header(block, where)
        left -= len(block)
        if about.size + -about.size % _BLOCK > left:
            raise BundleError(f"ends within {about.name!r}", where=where, hint=_HINT)
        if about.name <= max(names, default="") or len(names) >= MOST_FILES:
            raise BundleError(f"{about.name!r} is out of order, or one file too many", where=where, hint=_HINT)
        names.append(about.name)
        path = into.joinpath(*safe_relative(about.name, where).parts)
        with translated(into):
            path.parent.mkdir(parents=True, exist_ok=True)
            _copy(stream, path, about.size)
        left -= about.size + -about.size % _BLOCK
        if any(stream.read(-about.size % _BLOCK)):
            raise BundleError(f"has more behind {about.name!r} than its size says", where=where, hint=_HINT)
    if stream.read(_BLOCK + 1) != bytes(_BLOCK):
        raise BundleError("goes on after its end", where=where, hint=_HINT)


def _header(block: bytes, where: str) -> tarfile.TarInfo:
    """One file's header, which holds just what :func:`pack` writes."""
    try:
        about = tarfile.TarInfo.frombuf(block, "utf-8", "strict")
        plain = tarfile.TarInfo(about.name)
        plain.size, plain.mode = about.size, 0o644
        if plain.tobuf(tarfile.USTAR_FORMAT, "utf-8", "strict") == block:
            return about
    except (tarfile.HeaderError, ValueError):
        pass
    raise BundleError("is no packed bundle", where=where, hint="give a file that `exporter pack` wrote")


def _copy(stream: BinaryIO, path: Path, size: int) -> None:
    with path.open("xb") as copy:
        for place in range(0, size, _PIECE):
            copy.write(stream.read(min(_PIECE, size - place)))

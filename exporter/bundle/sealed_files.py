"""The files of a bundle, as its verify.py reads them: are they the ones that were sealed, each a plain file?

Every bundle's verify.py holds a copy of this file, see :mod:`exporter.bundle.script`; it runs on Python 3.8.
"""

from __future__ import annotations

import hashlib
import json
import os
import stat
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: Bytes of a manifest, and of a header in the goldens: far more than any network needs.
MOST_JSON = 32 << 20
DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "|i1"}
DTYPES.update({"U64": "<u8", "U32": "<u4", "U16": "<u2", "U8": "|u1", "BOOL": "|b1"})


def read_manifest(bundle: Path) -> tuple[Any, list[str]]:
    """Return the manifest and what is wrong with it; every byte of the file counts, blanks too."""
    try:
        content = read_plain(bundle / "manifest.json", MOST_JSON)
        manifest = json.loads(content.decode("utf-8"))
        if (as_json(manifest, indent=2) + "\n").encode("utf-8") != content:
            return {}, ["manifest.json: changed: it is not laid out as it was written"]
        rest = {key: value for key, value in manifest.items() if key != "digest"}
        digest = hashlib.sha256(as_json(rest, separators=(",", ":")).encode("utf-8")).hexdigest()
        if digest != manifest.get("digest"):
            return {}, [f"manifest.json: changed: its digest is {digest}, not {manifest.get('digest')}"]
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        return {}, [f"manifest.json: cannot be read: {error}"]
    if manifest["schema"] != 1 or not all(manifest[key] for key in ("outputs", "variants", "cases")):
        return {}, ["manifest.json: not of schema 1, or without outputs, variants or cases: nothing could be proved"]
    return manifest, []


def as_json(value: Any, **layout: Any) -> str:
    """The one way in which manifests are written."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, allow_nan=False, **layout)


def read_plain(path: Path, most: int) -> bytes:
    """The content of a plain file of at most `most` bytes; a pipe or a device may never end.

    Raises:
        ValueError: it is something else, or larger.
        OSError: it cannot be read.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(str(path), flags), "rb") as stream:
        about = os.fstat(stream.fileno())
        if not stat.S_ISREG(about.st_mode) or about.st_size > most:
            raise ValueError(f"not a plain file of at most {most:,} bytes")
        return stream.read(about.st_size)


def damaged_files(bundle: Path, manifest: Any) -> list[str]:
    """Say of each file that is not as it was sealed what is wrong with it: not listed, missing or changed."""
    listed = manifest["files"]
    folders = {parent.as_posix() for name in listed for parent in PurePosixPath(name).parents}
    paths = [
        path
        for path in bundle.rglob("*")
        if path.is_symlink() or not path.is_dir() or path.relative_to(bundle).as_posix() not in folders
    ]
    found = {path.relative_to(bundle).as_posix(): path for path in paths}
    faults = [
        f"{name}: not a file of this bundle"
        for name in sorted(set(found) - set(listed) - {"manifest.json", "model.sig"})
    ]
    goldens = {"golden.safetensors"} | ({"decoding.safetensors"} if manifest.get("decoding") else set())
    used = goldens.union(*(variant["files"] for variant in manifest["variants"].values()))
    faults += [f"{name}: used, but not listed in manifest.json" for name in sorted(used - set(listed))]
    for name, entry in sorted(listed.items()):
        fault = fault_of(found[name], entry) if name in found else "missing"
        faults += [f"{name}: {fault}"] if fault else []
    return faults


def fault_of(path: Path, entry: Any) -> str:
    """Say what is wrong with a listed file; an empty text if nothing is."""
    try:
        if path.is_symlink() or not path.is_file():
            return "not a plain file"
        if path.stat().st_size != entry["size"]:
            return f"has {path.stat().st_size} bytes, not {entry['size']}"
        return "" if sha256(path) == entry["sha256"] else "changed: its sha256 is not the one in manifest.json"
    except OSError as error:
        return f"cannot be read: {error.strerror}"


def sha256(path: Path) -> str:
    """Hex sha256 of a file, read in pieces."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        for piece in iter(lambda: stream.read(1 << 20), b""):
            digest.update(piece)
    return digest.hexdigest()


def read_golden(bundle: Path, name: str = "golden.safetensors") -> dict[str, Array]:
    """Read a safetensors file: 8 bytes of length, a JSON header, the numbers.

    Raises:
        ValueError: it is none.
    """
    path = bundle / name
    content = read_plain(path, path.stat().st_size)
    begin = 8 + int.from_bytes(content[:8], "little")
    if begin > min(len(content), MOST_JSON):
        raise ValueError(f"{name} has no header")
    header = json.loads(content[8:begin].decode("utf-8"))
    tensors = {}
    for key in header.keys() - {"__metadata__"}:
        start, stop = header[key]["data_offsets"]
        numbers = np.frombuffer(content[begin + start : begin + stop], DTYPES[header[key]["dtype"]])
        tensors[key] = numbers.reshape(header[key]["shape"])
    return tensors

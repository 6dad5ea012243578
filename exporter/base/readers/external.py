"""The file beside an ONNX model that holds its large tensors (`external data`).

A model may name any file for any tensor. An engine reads what is named: another model's weights, a link to somebody's
key. So a program of ours names one file, which lies beside it under a name that follows from its own, and every tensor
has a place of its own in it.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from exporter.base.errors import BundleError
from exporter.base.readers.base import Weight, damaged

#: What is appended to the name of a program.
DATA = ".data"
#: The longest gap between two tensors: what aligns them to the pages of any system.
_GAP = 1 << 16


def data_of(program: Path) -> Path:
    """Return where the large tensors of a program lie, if they do not lie in itself."""
    return program.with_name(program.name + DATA)


def lend(file: Path, at: Path) -> None:
    """Make a file appear elsewhere, not copied where that can be.

    ONNX Runtime follows no link to tensors that leaves the model's folder (1.31), so these are a second name or a copy.
    """
    if file.suffix != DATA:
        return at.symlink_to(file.resolve())
    try:
        os.link(file.resolve(), at)
    except OSError:  # another file system, or one without such links
        shutil.copyfile(file, at)


def refuse_misplaced(weights: Iterable[Weight], folder: Path) -> None:
    """Make sure that each file which tensors name is a plain one that is full of them, each in a place of its own.

    Raises:
        BundleError: a file is missing, a link, truncated or longer than its tensors, or two tensors overlap.
    """
    places: dict[str, list[tuple[int, int, str]]] = {}
    for weight in weights:
        if weight.file:
            places.setdefault(weight.file, []).extend((start, stop, weight.name) for start, stop in weight.pieces)
    for name, taken in sorted(places.items()):
        path = folder / name
        if any(part.is_symlink() for part in (path, *path.parents) if part != folder and folder in part.parents):
            raise damaged("a link, where the numbers of tensors are due", str(path))
        if not path.is_file():
            what = f"the numbers of {len(taken)} tensors are not there, as of {taken[0][2]!r}"
            raise BundleError(what, where=str(path), hint="put this file beside the model")
        _refuse_overlap(sorted(taken), path)


def _refuse_overlap(places: list[tuple[int, int, str]], path: Path) -> None:
    """Raise `BundleError` where places, in their order, share bytes, leave room or are not in the file."""
    size, before = path.stat().st_size, 0
    for start, stop, name in places:
        if start < before or stop > size:
            what = f"tensor {name!r} at byte {start} to {stop}: " + (
                f"{size} bytes are here" if stop > size else f"another tensor ends at {before}"
            )
            raise damaged(what, str(path))
        if start - before > _GAP:
            raise damaged(f"{start - before} bytes before tensor {name!r} that no tensor takes", str(path), before)
        before = stop
    if size - before > _GAP:
        raise damaged(f"{size - before} bytes that no tensor takes", str(path), before)

"""Read what came back: `answers.json` and one file for each output of each case. All of it is a stranger's.

No path is taken from a file: the names of the files follow from the bundle's cases and outputs. Nothing is unpickled,
no link is followed, and no more is read than an answer can have. What cannot be read is a `Fault` with the reason, and
never an answer.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, TypeAlias

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from exporter.base.bounded_json import parse_json
from exporter.base.errors import ExporterError, UsageError, first_fault
from exporter.base.files import canonical_json, read_regular, sha256_bytes, sha256_file
from exporter.base.numbers.golden import GoldenCase
from exporter.base.tensors import Array, load_npy
from exporter.base.words import plain

ABOUT = "answers.json"
#: Bytes of answers.json, and values in it.
_MOST_ABOUT, _MOST_VALUES = 1 << 20, 20_000
#: How many times the bytes that are due an answer may have, and what is added: of another dtype it is read, and fails.
_TIMES, _SPARE = 8, 1 << 16
#: Entries of the folder that are looked at.
_MOST_FILES = 200_000
_NUMBERED = re.compile(r"(\d{1,9})\.(\d{1,9})\.(npy|bin)")
_HINT = "see the README of the kit, which says what comes back"

_Word = Annotated[str, Field(min_length=1, max_length=200)]


class About(BaseModel):
    """Who measured what, and with what, as answers.json says; keys that nobody reads are left alone."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)

    engine: _Word
    version: _Word
    device: _Word
    who: _Word
    when: _Word
    precision: _Word = "fp32"
    inputs: tuple[_Word, ...] | None = None
    outputs: tuple[_Word, ...] | None = None
    bundle: str | None = None

    def __str__(self) -> str:
        return plain(f"{self.engine} {self.version} on {self.device}, by {self.who}, {self.when}")


@dataclass(frozen=True)
class Fault:
    """Why there is no answer: `missing` where no file is there at all."""

    reason: str
    missing: bool = False


@dataclass(frozen=True)
class Due:
    """One answer that is due: its case and output by number, and what its golden has."""

    case: int
    output: int
    dtype: str
    shape: tuple[int, ...]

    @property
    def stem(self) -> str:
        """The name of its file without the ending."""
        return f"{self.case}.{self.output}"

    @property
    def bytes(self) -> int:
        """How many bytes its numbers take."""
        return math.prod(self.shape) * np.dtype(self.dtype).itemsize


#: What became of the answers of one case, by the names that the answers give to the outputs.
Answered: TypeAlias = Mapping[str, "Array | Fault"]


@dataclass(frozen=True)
class Answers:
    """All that came back: what is said of it, each case by its number, and the sha256 over every file that was read.

    `raw` names the answers that came as bare numbers. `notes` are sentences for the report.
    """

    about: About
    cases: Mapping[int, Answered]
    sha256: str
    raw: frozenset[tuple[int, str]] = frozenset()
    notes: tuple[str, ...] = ()


def read_about(folder: Path) -> About:
    """Read answers.json.

    Raises:
        UsageError: the folder or the file is not there, is a link, is too large, or says something else.
    """
    if not folder.is_dir():
        raise UsageError("no such folder", where=str(folder), hint=_HINT)
    path = folder / ABOUT
    if path.is_symlink():
        raise UsageError("is a symbolic link, which is not followed", where=str(path), hint=_HINT)
    if not path.exists():
        raise UsageError("is missing: it says who measured what, and when", where=str(path), hint=_HINT)
    raw = read_regular(path, _MOST_ABOUT)
    try:
        content = parse_json(raw, _MOST_VALUES)
        about = About.model_validate_json(raw) if isinstance(content, dict) else None
    except ValidationError as error:
        place, fault = first_fault(error)
        raise UsageError(f"{place}: {fault}", where=str(path), hint=_HINT) from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"is damaged: {error}", where=str(path), hint=_HINT) from error
    if about is None:
        raise UsageError("is no object", where=str(path), hint=_HINT)
    _refuse_strange(about, path)
    return about


def _refuse_strange(about: About, path: Path) -> None:
    """Dates that are none, words with control characters, and names given twice."""
    try:
        datetime.fromisoformat(about.when.replace("Z", "+00:00"))
    except ValueError as error:
        raise UsageError(
            f"when: '{plain(about.when)}' is no date", where=str(path), hint="write it as 2026-01-31"
        ) from error
    for key in ("engine", "version", "device", "who", "precision"):
        if not getattr(about, key).isprintable():
            raise UsageError(f"{key}: holds characters that cannot be printed", where=str(path), hint=_HINT)
    for key in ("inputs", "outputs"):
        names = getattr(about, key)
        if names is not None and len(set(names)) < len(names):
            raise UsageError(f"{key}: a name is given twice", where=str(path), hint=_HINT)


def read_answers(folder: Path, due: Sequence[Due], outputs: Sequence[str]) -> Answers:
    """Read all answers that are due; `outputs` are the bundle's names in the kit's order.

    Raises:
        UsageError: as :func:`read_about`, or the folder holds too many files.
    """
    about = read_about(folder)
    names = about.outputs or tuple(outputs)
    cases: dict[int, dict[str, Array | Fault]] = {}
    digests = {ABOUT: sha256_file(folder / ABOUT)}
    raw = set()
    for answer_due in due:
        name = names[answer_due.output] if answer_due.output < len(names) else f"output {answer_due.output}"
        value, path = read_answer(folder, answer_due)
        cases.setdefault(answer_due.case, {})[name] = value
        if path is not None and not isinstance(value, Fault):
            digests[path.name] = sha256_file(path)
            raw |= {(answer_due.case, name)} if path.suffix == ".bin" else set()
    known, count = {answer_due.case for answer_due in due}, len(outputs)
    strange = list(_others(folder))
    for case, output in strange:
        if case in known and output >= count:
            name = names[output] if output < len(names) else f"output {output}"
            cases[case].setdefault(name, np.zeros(0, "float32"))
    beyond = sorted({case for case, _ in strange if case not in known})
    notes = [f"answers came to cases that were not asked for: {', '.join(map(str, beyond[:8]))}"] if beyond else []
    return Answers(about, cases, sha256_bytes(canonical_json(digests)), frozenset(raw), tuple(notes))


def read_answer(folder: Path, due: Due) -> tuple[Array | Fault, Path | None]:
    """Read one answer; the file that held it comes with it."""
    paths = [folder / f"{due.stem}{suffix}" for suffix in (".npy", ".bin")]
    there = [path for path in paths if path.is_symlink() or path.exists()]
    if not there:
        return Fault(f"{due.stem}.npy (or .bin) is missing", missing=True), None
    if len(there) > 1:
        return Fault(f"{paths[0].name} and {paths[1].name} are both there, and may differ"), None
    path = there[0]
    if path.is_symlink():
        return Fault(f"{path.name} is a symbolic link, which is not followed"), path
    try:
        most = _TIMES * due.bytes + _SPARE
        if path.is_file() and (size := path.stat().st_size) > most:
            return Fault(f"{path.name} has {size:,} bytes, and {due.bytes:,} are due"), path
        value = _numbers(load_npy(path)) if path.suffix == ".npy" else _bare(path, due, most)
    except ExporterError as error:
        return Fault(f"{path.name}: {plain(error.what)}"), path
    except OSError as error:
        return Fault(f"{path.name} cannot be read: {error.strerror}"), path
    return value, path


def _numbers(value: Array) -> Array:
    """The array in the machine's own byte order.

    Raises:
        UsageError: it holds no numbers.
    """
    if value.dtype.kind not in "biufc":
        raise UsageError(f"holds {value.dtype.name}, which are no numbers", hint=_HINT)
    native: Array = np.ascontiguousarray(value.astype(value.dtype.newbyteorder("="), copy=False)).reshape(value.shape)
    return native


def _bare(path: Path, due: Due, most: int) -> Array:
    """The numbers of a `.bin`, by the dtype and shape that are due.

    Raises:
        UsageError: it has another size.
    """
    raw = read_regular(path, most)
    if len(raw) != due.bytes:
        raise UsageError(f"has {len(raw):,} bytes, and {due.bytes:,} are due{_guessed(len(raw), due)}", hint=_HINT)
    value: Array = np.frombuffer(raw, np.dtype(due.dtype).newbyteorder("<")).astype(due.dtype).reshape(due.shape)
    return value


def _guessed(size: int, due: Due) -> str:
    """Say what dtype would have the size that came."""
    count = math.prod(due.shape)
    named = [name for name in ("float16", "float32", "float64") if count and size == count * np.dtype(name).itemsize]
    return f": as many as of {named[0]}" if named else ": truncated" if size < due.bytes else ""


def _others(folder: Path) -> Iterator[tuple[int, int]]:
    """The number of case and output of each file that is named like an answer.

    Raises:
        UsageError: there are too many files.
    """
    for count, path in enumerate(folder.iterdir()):
        if count >= _MOST_FILES:
            raise UsageError(f"holds more than {_MOST_FILES:,} files", where=str(folder), hint=_HINT)
        if match := _NUMBERED.fullmatch(path.name):
            yield int(match[1]), int(match[2])


def due_of(selected: Sequence[tuple[int, GoldenCase]]) -> list[Due]:
    """List what is due of some cases, with their numbers in the bundle: each of their outputs."""
    return [
        Due(number, place, output.dtype, output.shape)
        for number, case in selected
        for place, output in enumerate(case.outputs.values())
    ]

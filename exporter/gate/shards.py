"""One gate over several machines: each releases its shard of the specs, and what each writes is joined again.

A shard is chosen by the specs' names alone, so that each machine finds the same without being told. What it writes says
what the whole gate was asked (`Selection`), so that a shard that is missing, given twice or of another gate is noticed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from exporter.base.bounded_json import parse_json
from exporter.base.errors import UsageError
from exporter.base.files import readable_json, sha256_bytes, sha256_file, write_bytes

if TYPE_CHECKING:
    from exporter.base.git import Base
    from exporter.gate.touched import Touched
    from exporter.report.gate import Gated

_SCHEMA = 1
#: Values in a shard's file: a report of 150 claims has about 10,000.
_MOST_VALUES = 10_000_000
_HINT = "give the files that `exporter gate --shard i/n --result FILE` has written, all of them from one gate"


@dataclass(frozen=True)
class Shard:
    """Part `number` of `of`, counted from 1."""

    number: int = 1
    of: int = 1

    @classmethod
    def parse(cls, text: str) -> Shard:
        """Read `2/4`.

        Raises:
            UsageError: it is no such thing.
        """
        found = re.fullmatch(r"(\d{1,6})/(\d{1,6})", text)
        if found is None or not 1 <= int(found[1]) <= int(found[2]):
            hint = "give i/n with i from 1 to n, as 2/4"
            raise UsageError(f"'{text}' is no shard", where="--shard", hint=hint)
        return cls(int(found[1]), int(found[2]))

    def part(self, paths: Collection[Path]) -> frozenset[Path]:
        """Those of this shard: each path is in one, and their sizes differ by one at most, whatever the files hold.

        The digest of a name puts it in its place, since neighbours by name often take as long as each other.
        """
        mixed = sorted({str(path) for path in paths}, key=lambda name: sha256_bytes(name.encode(errors="replace")))
        return frozenset(Path(name) for name in mixed[self.number - 1 :: self.of])

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


@dataclass(frozen=True)
class Selection:
    """What a gate was asked, which is the same for each of its shards.

    `commit` and `changes` (a digest of what differs from it) are empty where git does not tell; `base` is the merge
    base. `specs` has the digest of each file, empty for one that is not there, in the order in which they are told.
    """

    exporter: str
    commit: str
    changes: str
    base: str
    settings: tuple[str, ...]
    listed: bool
    trains: bool
    specs: Sequence[tuple[str, str]]

    @classmethod
    def of(
        cls, specs: Sequence[Touched], base: Base | None, settings: tuple[str, ...], *, listed: bool, trains: bool
    ) -> Selection:
        """Of the gate that runs here."""
        from exporter import __version__
        from exporter.base.git import changes_of, state_of

        here = Path.cwd()
        state = state_of(here)
        paths = dict.fromkeys(spec.path for spec in specs)
        files = [(str(path), sha256_file(path) if path.is_file() else "") for path in paths]
        about = (state.commit, changes_of(here)) if state else ("", "")
        return cls(__version__, *about, base.parted if base else "", settings, listed, trains, files)


def write_result(file: Path, shard: Shard, selection: Selection, results: Sequence[Gated]) -> None:
    """Write what :func:`merge` joins."""
    from exporter.gate.told import told_gated

    content = {
        **{"schema": _SCHEMA, "shard": asdict(shard)},
        **{"selection": asdict(selection), "specs": [told_gated(result) for result in results]},
    }
    write_bytes(file, readable_json(content))


@dataclass(frozen=True)
class _Result:
    """A shard's file."""

    file: Path
    shard: Shard
    selection: Selection
    results: Mapping[str, Gated]


def merge(files: Sequence[Path]) -> list[Gated]:
    """What became of each spec of a gate, in its order, from the files of all its shards.

    Raises:
        UsageError: a file is no shard's; a shard is missing or is there twice; they are not of one gate; or one holds
            other specs than its own.
    """
    results = [_read(file) for file in files]
    first = results[0]
    for result in results[1:]:
        if difference := _difference(first, result):
            hint = "run all shards of one commit with the same options"
            raise UsageError(f"is not of the gate of {first.file}: {difference}", where=str(result.file), hint=hint)
    _refuse_numbers(results)
    found: dict[str, Gated] = {}
    paths = [Path(name) for name, _ in first.selection.specs]
    for result in results:
        if {Path(name) for name in result.results} != result.shard.part(paths):
            raise UsageError(f"does not hold the specs of shard {result.shard}", where=str(result.file), hint=_HINT)
        found |= result.results
    return [found[str(path)] for path in paths]


def _read(file: Path) -> _Result:
    from pydantic import TypeAdapter

    from exporter.gate.told import gated_of

    if not file.is_file():
        raise UsageError("no such file", where=str(file), hint=_HINT)
    try:
        content = parse_json(file.read_bytes(), _MOST_VALUES)
        if content["schema"] != _SCHEMA:
            raise ValueError(f"schema {content['schema']!r}, not {_SCHEMA}")
        shard = Shard.parse(f"{content['shard']['number']}/{content['shard']['of']}")
        results = [gated_of(told) for told in content["specs"]]
        selection = TypeAdapter(Selection).validate_python(content["selection"])
    except (AttributeError, LookupError, TypeError, ValueError, UsageError) as error:
        raise UsageError(f"is no result of a gate: {error}", where=str(file), hint=_HINT) from error
    twice = [name for name, times in Counter(result.spec for result in results).items() if times > 1]
    if twice or not selection.specs:
        raise UsageError(f"is no result of a gate: {twice or 'no specs'}", where=str(file), hint=_HINT)
    return _Result(file, shard, selection, {result.spec: result for result in results})


def _difference(one: _Result, other: _Result) -> str:
    """The first thing in which two shards differ that shards of one gate have in common."""
    for name, what in _WORDS.items():
        mine, theirs = getattr(one.selection, name), getattr(other.selection, name)
        if mine != theirs:
            return f"{what} {_short(theirs)}, and there {_short(mine)}"
    if one.shard.of != other.shard.of:
        return f"it is one of {other.shard.of} shards, and that one of {one.shard.of}"
    return ""


_WORDS = {
    "exporter": "it was made by exporter",
    "commit": "its commit is",
    "changes": "its changes since the commit are",
    "base": "its base is",
    "settings": "its settings are",
    "listed": "--list is",
    "trains": "training is",
    "specs": "its specs are",
}


def _short(value: object) -> str:
    values = value if isinstance(value, (list, tuple)) else (value,)
    names = [item[0] if isinstance(item, (list, tuple)) else item for item in values]
    text = ", ".join(map(str, names))
    return f"{text[:200]}…" if len(text) > 200 else text or "none"


def _refuse_numbers(results: Sequence[_Result]) -> None:
    of, there = results[0].shard.of, Counter(result.shard.number for result in results)
    if missing := [number for number in range(1, of + 1) if number not in there]:
        what = ", ".join(f"{number}/{of}" for number in missing)
        hint = "run it again with --shard; one that left no file did not pass, and its log says why"
        raise UsageError(f"without {what} nothing tells whether all specs passed", where="merge", hint=hint)
    if twice := [number for number, times in there.items() if times > 1]:
        files = ", ".join(str(result.file) for result in results if result.shard.number == twice[0])
        raise UsageError(f"shard {twice[0]}/{of} is there twice: {files}", where="merge", hint=_HINT)

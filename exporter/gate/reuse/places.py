"""The paths in a request: what lies there, and JSON that names them by number, so that it holds in another run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from exporter.base.files import TEMPORARY, sha256_file
from exporter.process.scratch import PREFIX

#: For each path, the digests of the files below it (of itself: `.`), empty where nothing is.
Contents: TypeAlias = list[dict[str, str]]

#: How names begin that are of one run alone; and how long a path is at most.
_RUN, _LONGEST = (TEMPORARY, PREFIX), 4096
#: Stand around the number of a path: no text of ours has these characters.
_OPEN, _CLOSE = "\ue000", "\ue001"


class NotPortableError(Exception):
    """Nobody could make the same in another run."""


@dataclass(frozen=True)
class Places:
    """The paths in a request, in the order in which they stand there."""

    paths: tuple[str, ...]

    @classmethod
    def of(cls, request: Mapping[str, Any]) -> Places:
        """What lies in drafts and temporary folders or is to be written there, and all other files that are named."""
        from exporter.spec.named import leaves

        texts = dict.fromkeys(text for text in leaves(request) if isinstance(text, str))
        short = [text for text in texts if "\0" not in text and len(text) < _LONGEST]
        # `Path.is_file` raises for a name that is too long, as the arguments of a factory may be.
        return cls(tuple(text for text in short if _is_of_this_run(text) or os.path.isfile(text)))  # noqa: PTH113

    def names(self) -> list[str]:
        """Return what of each path lasts: of one of this run only the last name, and that if it was not drawn."""
        return [_lasting(path) for path in self.paths]

    def contents(self) -> Contents:
        """Return what lies there now."""
        return [contents_of(Path(path)) for path in self.paths]

    def path(self, name: str) -> Path:
        """Where a file lies that is named by the number of a path, a slash, and its place below that."""
        at, _, inner = name.partition("/")
        return Path(self.paths[int(at)], inner)

    def new(self, before: Contents) -> dict[str, str]:
        """Return the digests of the files that are new or others now, by name.

        Raises:
            NotPortableError: some are gone.
        """
        pairs = list(zip(before, self.contents(), strict=True))
        if any(was.keys() - now.keys() for was, now in pairs):
            raise NotPortableError
        return {
            f"{at}/{inner}": digest
            for at, (was, now) in enumerate(pairs)
            for inner, digest in now.items()
            if was.get(inner) != digest
        }

    def numbered(self, content: object) -> object:
        """Return JSON with numbers for the paths.

        Raises:
            NotPortableError: it names something else of this run.
        """
        marks = sorted(self._marks(), key=lambda pair: -len(pair[1]))

        def numbered(text: str) -> str:
            unknown = _OPEN in text
            for mark, path in marks:
                text = text.replace(path, mark)
            if unknown or any(f"{os.sep}{run}" in text for run in _RUN):
                raise NotPortableError
            return text

        return _mapped(content, numbered)

    def named(self, content: object) -> Any:
        """Return numbered JSON with the paths of this run."""
        marks = list(self._marks())

        def named(text: str) -> str:
            for mark, path in marks if _OPEN in text else ():
                text = text.replace(mark, path)
            return text

        return _mapped(content, named)

    def _marks(self) -> Iterator[tuple[str, str]]:
        """A mark for each path; and for the working folder, so that another checkout is told its own."""
        yield from ((f"{_OPEN}{at}{_CLOSE}", path) for at, path in enumerate(self.paths) if os.sep in path)
        if Path.cwd() != Path(Path.cwd().anchor):
            yield f"{_OPEN}here{_CLOSE}", f"{Path.cwd()}{os.sep}"


def contents_of(path: Path) -> dict[str, str]:
    """Return the digest of each file below a folder, by its place there, or of a file."""
    files = [path] if path.is_file() else sorted(inner for inner in path.rglob("*") if inner.is_file())
    return {file.relative_to(path).as_posix(): sha256_file(file) for file in files}


def _lasting(path: str) -> str:
    if not _is_of_this_run(path):
        return path.removeprefix(f"{Path.cwd()}{os.sep}")
    name = Path(path).name
    return "" if name.startswith(_RUN) else name


def _is_of_this_run(path: str) -> bool:
    return any(part.startswith(_RUN) for part in Path(path).parts)


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    """The same JSON with each text in it changed, names too."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(name): _mapped(inner, change) for name, inner in value.items()}
    return [_mapped(inner, change) for inner in value] if isinstance(value, list | tuple) else value

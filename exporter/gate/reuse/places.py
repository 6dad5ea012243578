"""The paths in a request: what lies there, and JSON that names them by number, so that it holds in another run."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from exporter.base.files import TEMPORARY, sha256_file
from exporter.process.scratch import PREFIX

#: For each path, the digests of the files below it (of itself: `""`); None where nothing is.
Contents: TypeAlias = list[dict[str, str] | None]

#: How names begin that are of one run alone; and how long a path is at most.
_RUN, _LONGEST = (TEMPORARY, PREFIX), 4096
#: Stand around the number of a path: no text of ours has these characters.
_OPEN, _CLOSE = "\ue000", "\ue001"


@dataclass(frozen=True)
class Places:
    """The paths in a request, in the order in which they stand there."""

    paths: tuple[str, ...]

    @classmethod
    def of(cls, request: Mapping[str, Any]) -> Places:
        """What lies in drafts and temporary folders or is to be written there, and all other files that are named."""
        texts = dict.fromkeys(text for text in _texts(request) if "\0" not in text and len(text) < _LONGEST)
        # `Path.is_file` raises for a name that is too long, as the arguments of a factory may be.
        return cls(tuple(text for text in texts if _is_of_this_run(text) or os.path.isfile(text)))  # noqa: PTH113

    def contents(self) -> Contents:
        """What lies there now."""
        return [_content(Path(path)) for path in self.paths]

    def path(self, name: str) -> Path:
        """Where a file lies that is named by the number of a path, a slash, and its place below that."""
        at, _, inner = name.partition("/")
        return Path(self.paths[int(at)], inner)

    def new(self, before: Contents) -> dict[str, str] | None:
        """The digests of the files that are new or others now, by name; None where some are gone."""
        after = self.contents()
        pairs = [(was or {}, is_ or {}) for was, is_ in zip(before, after, strict=True)]
        if any(set(was) - set(is_) for was, is_ in pairs):
            return None
        return {
            f"{at}/{inner}": digest
            for at, (was, is_) in enumerate(pairs)
            for inner, digest in is_.items()
            if was.get(inner) != digest
        }

    def keyed(self, request: Mapping[str, Any], contents: Contents) -> Any:
        """The request with what lies at each path; of a path of this run only its last name counts."""
        known = {
            path: {"path": _lasting(path), "at": at, "content": content}
            for at, (path, content) in enumerate(zip(self.paths, contents, strict=True))
        }

        def keyed(value: Any) -> Any:
            if isinstance(value, Mapping):
                return [[name, keyed(inner)] for name, inner in value.items()]
            if isinstance(value, list | tuple):
                return [keyed(one) for one in value]
            return known.get(value, value) if isinstance(value, str) else value

        return keyed(request)

    def numbered(self, answer: Any) -> Any:
        """An answer with numbers for the paths; None where it names something else of this run."""
        known = sorted(self._marks(), key=lambda one: -len(one[1]))

        def numbered(text: str) -> str:
            if _OPEN in text:
                raise ValueError
            for mark, path in known:
                text = text.replace(path, mark)
            if any(f"{os.sep}{run}" in text for run in _RUN):
                raise ValueError
            return text

        try:
            return _mapped(answer, numbered)
        except ValueError:
            return None

    def named(self, answer: Any) -> Any:
        """The answer with the paths of this run."""
        marks = list(self._marks())

        def named(text: str) -> str:
            for mark, path in marks if _OPEN in text else ():
                text = text.replace(mark, path)
            return text

        return _mapped(answer, named)

    def _marks(self) -> Iterator[tuple[str, str]]:
        """A mark for each path; and for the working folder, so that another checkout is told its own."""
        yield from ((f"{_OPEN}{at}{_CLOSE}", path) for at, path in enumerate(self.paths) if os.sep in path)
        if Path.cwd() != Path(Path.cwd().anchor):
            yield f"{_OPEN}here{_CLOSE}", f"{Path.cwd()}{os.sep}"


def _lasting(path: str) -> str:
    if not _is_of_this_run(path):
        return path.removeprefix(f"{Path.cwd()}{os.sep}")
    name = Path(path).name
    return "" if name.startswith(_RUN) else name


def _is_of_this_run(path: str) -> bool:
    return any(part.startswith(_RUN) for part in Path(path).parts)


def _content(path: Path) -> dict[str, str] | None:
    if path.is_file():
        return {"": sha256_file(path)}
    if not path.is_dir():
        return None
    inner = sorted(one for one in path.rglob("*") if one.is_file())
    return {one.relative_to(path).as_posix(): sha256_file(one) for one in inner}


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    """The same JSON with each text in it changed, names too."""
    if isinstance(value, str):
        return change(value)
    if isinstance(value, Mapping):
        return {change(name): _mapped(inner, change) for name, inner in value.items()}
    return [_mapped(one, change) for one in value] if isinstance(value, list | tuple) else value

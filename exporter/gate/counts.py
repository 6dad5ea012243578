"""Which files of a project count for a spec: all of them, but for those that there is a reason for.

A file does not count where it is documentation, another spec, Python that the spec's code cannot import, or what the
spec's `ignores` names; and it counts in any case where the spec names it. What is not known counts.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from exporter.gate.imports import SPECS, Reached, hides_installed, reached

if TYPE_CHECKING:
    from exporter.spec.model import Spec

#: Files that people read, by the last part of their paths; docs/cache.md lists them.
DOCUMENTATION = (
    *("*.md", "*.rst", "*.adoc", "LICENSE*", "LICENCE*", "NOTICE*", "COPYING*", "AUTHORS*", "CODEOWNERS"),
    *("CITATION.cff", ".gitignore", ".gitattributes", ".editorconfig", ".mailmap"),
)
#: Folders of such files.
_FOLDERS = (".idea/", ".vscode/", ".github/ISSUE_TEMPLATE/")
_REFERENCE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


#: How the reports of a gate begin (`--junit`, `--result`): one run leaves them, and the next one reads none.
_REPORTS = re.compile(rb'\s*(<\?xml[^>]*>\s*)?<testsuites name="exporter gate"|\{\s*"schema": \d+,\s*"selection": \{')
_HEAD = 200


@dataclass(frozen=True)
class Counting:
    """What a spec says of files: the code that it names, files and patterns that it names, patterns that it ignores.

    `texts` are what its factory is called with, which may be names of modules, too.
    """

    code: tuple[str, ...]
    names: tuple[str, ...]
    ignores: tuple[str, ...]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, spec: Spec) -> Counting:
        """Read it from a spec."""
        from exporter.export.sources.foreign import beside
        from exporter.spec.named import Names, named
        from exporter.steps.deployed import FILES
        from exporter.steps.settle import NAMED

        code, names = [], list[str]()
        if spec.source is not None:  # ranges are read from these, also from one that is added
            names += [str(Path(str(spec.args["program"])).parent / name) for name in FILES]
        names += [str(path) for candidate in spec.candidates if (path := beside(Path(candidate.file)))]
        for kind, text in named(spec):
            if kind is Names.CODE or (kind is Names.STEPS and _REFERENCE.fullmatch(text)):
                code.append(text)
            elif "\0" not in text:
                names.append(text)
                if kind is Names.STEPS and (configuration := NAMED.match(text)):
                    names.append(configuration[2])
        texts = tuple(_texts(spec.args))
        return cls(tuple(code), tuple(names), spec.ignores, texts)

    def within(self, files: Collection[str]) -> Counted:
        """Judge the files of a project, by their paths as seen from the working folder."""
        return Counted(self, frozenset(files))


def read_counting(content: Mapping[str, list[str]]) -> Counting:
    """Return it from JSON; raises LookupError or TypeError where it is none."""
    return Counting(*(tuple(content[name]) for name in ("code", "names", "ignores", "texts")))


@dataclass(frozen=True)
class Counted:
    """What counts of the files of a project."""

    by: Counting
    files: frozenset[str]

    @cached_property
    def _reached(self) -> Reached:
        return reached(self.by.code, self.by.texts, self.files)

    def excuse(self, name: str) -> str:
        """Say why a file does not count; return an empty text where it counts."""
        path = PurePosixPath(name)
        if any(_names(pattern, name) for pattern in self.by.names):
            return ""
        if any(_names(pattern, name) for pattern in self.by.ignores):
            return "its `ignores` names it"
        if any(fnmatch(path.name, pattern) for pattern in DOCUMENTATION) or name.startswith(_FOLDERS):
            return "it is documentation"
        if SPECS.fullmatch(name):
            return "it is another spec"
        if path.suffix in (".xml", ".json") and _is_report(name):
            return "it is a report of a gate"
        if path.suffix != ".py" or hides_installed(name) or self._reached.blind or name in self._reached.files:
            return ""
        return "no code of the spec imports it"

    def first(self, changed: Iterable[str]) -> str:
        """Name the first of the changed files that counts, with the reason; return an empty text where none does."""
        for name in sorted(changed):
            if not self.excuse(name):
                return f"{name} {'changed' if os.path.lexists(name) else 'is gone'}{self._hint(name)}"
        return ""

    def excuses(self, changed: Iterable[str]) -> Iterator[str]:
        """Yield each changed file that does not count, and why."""
        yield from (f"{name}: {why}" for name in sorted(changed) if (why := self.excuse(name)))

    def digests(self, digests: Mapping[str, str]) -> Mapping[str, str]:
        """Return those of the files that count."""
        return {name: digest for name, digest in digests.items() if not self.excuse(name)}

    def _hint(self, name: str) -> str:
        """Say why a Python file counts where no reading tells who imports it."""
        blind = self._reached.blind if name.endswith(".py") else ""
        return f": any module may be imported, since {blind}" if blind else ""


def _names(pattern: str, name: str) -> bool:
    """Return whether a pattern or a path of a spec names a file, or a folder that it lies in."""
    plain = os.path.normpath(os.path.relpath(pattern) if os.path.isabs(pattern) else pattern)  # noqa: PTH117
    return name == plain or name.startswith(f"{plain}/") or fnmatch(name, plain.replace("**/", "*"))


def _is_report(name: str) -> bool:
    """Return whether a file begins as a report of a gate."""
    try:
        with Path(name).open("rb") as stream:
            return _REPORTS.match(stream.read(_HEAD)) is not None
    except OSError:
        return False


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield str(key)
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)

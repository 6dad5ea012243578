"""Which files of a project count for a spec: all of them, but for those that there is a reason for.

A file does not count where it is documentation, another spec, Python that the spec's code cannot import, or what the
spec's `ignores` names; and it counts in any case where the spec names it. What is not known counts.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatch, translate
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from exporter.base.errors import ExporterError
from exporter.base.watch import watching
from exporter.gate.imports import SPECS, Reached, hides_installed, reached

if TYPE_CHECKING:
    from exporter.spec.model import Spec

#: Files that people read, by the last part of their paths; docs/cache.md lists them.
DOCUMENTATION = (
    *("*.md", "*.rst", "*.adoc", "LICENSE*", "LICENCE*", "NOTICE*", "COPYING*", "AUTHORS*", "CODEOWNERS"),
    *("CITATION.cff", ".gitignore", ".editorconfig", ".mailmap"),
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

    `texts` are what its factory is called with, and its steps, which may be names of modules, too.
    """

    code: tuple[str, ...]
    names: tuple[str, ...]
    ignores: tuple[str, ...]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, spec: Spec) -> Counting:
        """Read it from a spec."""
        from exporter.export.sources.foreign import beside
        from exporter.gate.reuse.depends import Depends
        from exporter.spec.named import Names, leaves, named
        from exporter.steps.deployed import FILES
        from exporter.steps.settle import NAMED

        code, names, texts = [], list[str](), [leaf for leaf in leaves(spec.args) if isinstance(leaf, str)]
        if spec.source is not None:  # ranges are read from these, also from one that is added
            names += [str(Path(str(spec.args["program"])).parent / name) for name in FILES]
        names += [str(path) for candidate in spec.candidates if (path := beside(Path(candidate.file)))]
        for kind, text in named(spec):
            if kind is Names.CODE:
                code.append(text)
            elif kind is Names.STEPS and _REFERENCE.fullmatch(text):
                texts.append(text)
            elif "\0" not in text:
                names.append(text)
                if kind is Names.STEPS and (configuration := NAMED.match(text)):
                    names.append(configuration[2])
        seen = watching()
        with contextlib.suppress(ExporterError):  # a release says what is wrong
            _ = spec.pipeline and spec.pipeline.settled()
        names += map(glob.escape, Depends.of(seen, (), (), ()).files)
        return cls(tuple(code), tuple(names), spec.ignores, tuple(texts))

    def within(self, files: Collection[str]) -> Counted:
        """Judge the files of a project, by their paths as seen from the working folder."""
        return Counted(self, frozenset(files))


@dataclass(frozen=True)
class Counted:
    """What counts of the files of a project."""

    by: Counting
    files: frozenset[str]

    @cached_property
    def _reached(self) -> Reached:
        return reached(self.by.code, self.by.texts, self.files)

    @cached_property
    def _named(self) -> _Patterns:
        return _Patterns((*self.by.names, *_targets(self.by.names)))

    @cached_property
    def _ignored(self) -> _Patterns:
        return _Patterns(self.by.ignores)

    def excuse(self, name: str) -> str:
        """Say why a file, or the folder of a submodule, does not count; return an empty text where it counts."""
        path = PurePosixPath(name)
        if self._named.match(name) or name in self._named.above:
            return ""
        if self._ignored.match(name):
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
                blind = self._reached.blind if name.endswith(".py") else ""
                reason = f": any module may be imported, since {blind}" if blind else ""
                return f"{name} {'changed' if os.path.lexists(name) else 'is gone'}{reason}"
        return ""

    def excuses(self, changed: Iterable[str]) -> Iterator[str]:
        """Yield each changed file that does not count, and why."""
        yield from (f"{name}: {why}" for name in sorted(changed) if (why := self.excuse(name)))


class _Patterns:
    """Patterns and paths of a spec, each with all that lies in a folder of that name; `above` are the folders above."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._plain = {os.path.normpath(os.path.relpath(text) if os.path.isabs(text) else text) for text in texts}  # noqa: PTH117
        self.above = {parent for text in self._plain for parent in _parents(text)}
        patterns = [translate(text.replace("**/", "*")) for text in self._plain if glob.has_magic(text)]
        self._expression = re.compile("|".join(patterns) or r"(?!)")

    def match(self, name: str) -> bool:
        """Return whether one names a file, or a folder that it lies in."""
        return not self._plain.isdisjoint((name, *_parents(name))) or self._expression.match(name) is not None


def _parents(name: str) -> list[str]:
    return [str(parent) for parent in PurePosixPath(name).parents][:-1]


def _targets(names: Iterable[str]) -> Iterator[str]:
    """Yield where links lead that a spec names, or that lie on the way to what it names."""
    for name in names:
        for path in (name, *glob.iglob(name, recursive=True)):  # noqa: PTH207 - absolute ones too
            if (target := os.path.realpath(path)) != os.path.abspath(path):  # noqa: PTH100
                yield target


def _is_report(name: str) -> bool:
    """Return whether a file begins as a report of a gate."""
    with contextlib.suppress(OSError), Path(name).open("rb") as stream:
        return _REPORTS.match(stream.read(_HEAD)) is not None
    return False

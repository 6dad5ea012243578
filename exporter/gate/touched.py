"""Which specs does a change touch? Told by files: the spec's own, those that it names, and the code of those.

Where these did not change and something else did, the model is built and run once, the data loaded and the pipeline's
functions called, to see what they open. In doubt a spec is touched: also where a process or a compiled package may have
read what nobody saw.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

import exporter
from exporter.base.diagnostics import short
from exporter.base.errors import ExporterError, UsageError
from exporter.base.git import Base, Changed, changed_since
from exporter.base.references import find_source, split
from exporter.base.watch import not_seen
from exporter.spec.recipe.source import sources

if TYPE_CHECKING:
    from exporter.gate.shards import Shard
    from exporter.process.workers import Setting
    from exporter.spec.model import Spec

#: What pins the toolchain, by the names of files: another Paddle may export another program from the same code.
TOOLCHAIN = (
    *("pyproject.toml", "setup.cfg", "setup.py", "*.lock", "Pipfile", ".python-version", ".tool-versions"),
    *("*requirements*.txt", "*requirements*.in", "*constraints*.txt", "environment*.y*ml", "conda*.y*ml"),
)
#: Folders whose text files do, as `requirements/base.txt`.
_TOOLCHAIN_FOLDERS = ("requirements", "constraints")
_SPECS = Path("specs")
_SUFFIXES = (".yaml", ".yml")
_REFERENCE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")


@dataclass(frozen=True)
class Touched:
    """One spec, and why it must pass the gate again; an empty `why` means that the change does not touch it.

    One that the change deletes is `deleted`: nothing is gated, and nothing guards what it guarded. One of another shard
    is `elsewhere`, and is not judged here.
    """

    path: Path
    why: str
    deleted: bool = False
    elsewhere: bool = False


def find_specs(given: Sequence[Path]) -> tuple[Path, ...]:
    """The specs that were named, each once, or all of `specs/` and its folders: every file that ends in .yaml or .yml.

    Folders that are hidden are left out, and links to folders are followed.

    Raises:
        UsageError: there is none: a gate that found no spec must not look like one that passed.
    """
    each_once: dict[Path, Path] = {}
    for path in given:
        each_once.setdefault(path.resolve(), path)
    found = tuple(each_once.values()) or tuple(sorted(_below(_SPECS)))
    if not found:
        hint = "run from the folder that holds specs/, or name specs"
        raise UsageError("no spec was found, so there is nothing that could pass", where="specs", hint=hint)
    if missing := [path for path in found if not path.is_file()]:
        raise UsageError(
            "no such spec", where=str(missing[0]), hint="check the path; specs/ is looked through if none is named"
        )
    return found


def _below(folder: Path, above: tuple[Path, ...] = ()) -> Iterator[Path]:
    """The specs in a folder and its folders; a link that leads back into one of those `above` is not followed."""
    own = folder.resolve()
    for path in folder.iterdir() if folder.is_dir() and own not in above else ():
        if path.is_dir() and not path.name.startswith("."):
            yield from _below(path, (*above, own))
        elif path.suffix.lower() in _SUFFIXES and (path.is_file() or path.is_symlink()):  # a link into nothing is told
            yield path


def touched(
    specs: Sequence[Path],
    base: Base | None,
    settings: tuple[str, ...],
    setting: Setting,
    shard: Shard | None = None,
) -> Iterator[Touched]:
    """Judge each spec by what differs from where it and a commit have parted; without a commit, all are touched.

    `settings` are overrides of the specs' keys. Behind the specs come those of specs/ that are no more. With a `shard`
    only its own are judged.

    Raises:
        UsageError, EnvironmentLacks: as :class:`exporter.base.git.Base`.
    """
    changed = changed_since(base) if base else Changed(frozenset(), frozenset())
    deleted = list(_deleted(specs, changed))
    own = shard.part([*specs, *deleted]) if shard else {*specs, *deleted}
    for path in [*specs, *deleted]:
        if path not in own:
            yield Touched(path, "", elsewhere=True)
        elif base is None:
            yield Touched(path, "asked for")
        elif path in deleted:
            yield Touched(path, "", deleted=True)
        else:
            yield Touched(path, _why(path, changed, base.top.resolve(), settings, setting))


def _deleted(specs: Sequence[Path], changed: Changed) -> Iterator[Path]:
    """The files of specs/ that are no more."""
    folder = _SPECS.resolve()
    for path in sorted(changed.gone):
        if path.is_relative_to(folder) and path.suffix.lower() in _SUFFIXES:
            spec = _SPECS / path.relative_to(folder)
            if spec not in specs and not any(part.startswith(".") for part in spec.parts[1:-1]):
                yield spec


def _why(path: Path, changed: Changed, top: Path, settings: tuple[str, ...], setting: Setting) -> str:
    """The first reason for which a spec is touched."""
    if general := _toolchain(changed):
        return general
    everything = changed.present | changed.gone
    from exporter.spec.read import read_spec

    try:
        spec = read_spec(path, settings)
        files = [path, *_files_of(spec)]
    except UsageError as error:  # the release will say the same, in its own words
        return f"{error}"
    if not everything:
        return ""
    if hit := _first(files, everything):
        return f"{short(hit)} changed"
    if why := _of_patterns(spec, everything):
        return why
    from exporter.gate.opened import opened  # with what children need, which a change that is seen at once does not

    try:
        seen = opened(spec, top, setting)
    except ExporterError as error:
        return f"nothing tells which files it opens: {error}"
    listed = [file for file in everything if file.parent in seen.listed]
    if hit := _first([*sorted(seen.read), *sorted(seen.listed), *sorted(listed)], everything):
        return f"{short(hit)} changed, which it opens"
    if seen.hidden and not spec.depends:
        return not_seen(seen.hidden)
    return ""


def _first(files: Iterable[Path], everything: frozenset[Path]) -> Path | None:
    """What of a change is the first of files, a link on the way to one, or a folder above it.

    A folder of a change is a repository inside this one (a submodule): git does not tell what changed in it.
    """
    for file in files:
        for path in (Path(os.path.abspath(file)), file.resolve()):  # noqa: PTH100 - a link may be what changed
            if hit := next((one for one in (path, *path.parents) if one in everything), None):
                return hit
    return None


def _toolchain(changed: Changed) -> str:
    """What touches every spec: the exporter itself, pinned packages, and code that is gone, since any may import it."""
    ours = Path(exporter.__file__).resolve().parent
    for path in sorted(changed.present | changed.gone):
        if path.is_relative_to(ours):
            return f"the exporter itself changed: {short(path)}"
        pins = path.suffix in (".txt", ".in") and path.parent.name in _TOOLCHAIN_FOLDERS
        if pins or any(fnmatch(path.name, pattern) for pattern in TOOLCHAIN):
            return f"the toolchain may have changed: {short(path)}"
    gone = sorted(path for path in changed.gone if path.suffix == ".py")
    return f"{short(gone[0])} is gone, and may have been imported" if gone else ""


def _files_of(spec: Spec) -> Iterator[Path]:
    """Every file that a spec names, whatever the key, and the code that it names with all that this imports.

    Raises:
        UsageError: it names a module that is not there.
    """
    from exporter.export.sources.foreign import beside
    from exporter.spec.named import Names, named
    from exporter.steps.deployed import FILES
    from exporter.steps.settle import NAMED

    if spec.source is not None:  # ranges are read from these, also from one that the change adds
        yield from (Path(str(spec.args["program"])).parent / name for name in FILES)
    yield from filter(None, (beside(Path(candidate.file)) for candidate in spec.candidates))
    for kind, text in named(spec):
        if kind in (Names.FILE, Names.STEPS) and "\0" not in text:
            yield Path(text)
            if kind is Names.STEPS and (configuration := NAMED.match(text)):
                yield Path(configuration[2])
        function = kind is Names.STEPS and _REFERENCE.fullmatch(text) and find_source(split(text)[0])
        if (kind is Names.CODE or function) and not _installed(text):
            yield from (file for _, file in sources(text))


def _of_patterns(spec: Spec, everything: frozenset[Path]) -> str:
    """Which changed file a pattern of the spec names, in words; it may be gone, or lie behind a link."""
    from exporter.spec.named import Names, named

    for pattern in [text for kind, text in named(spec) if kind is Names.PATTERN]:
        full = os.path.normpath(Path(glob.escape(str(Path.cwd())), pattern)).replace("**/", "*")
        hits = sorted(file for file in everything if fnmatch(str(file), full))
        there = (Path(name) for name in glob.iglob(pattern, recursive=True))  # noqa: PTH207 - absolute ones too
        if hit := hits[0] if hits else _first(there, everything):
            return f"{short(hit)} changed, which '{pattern}' of the spec names"
    return ""


def _installed(reference: str) -> bool:
    """A model of a library, such as `paddle.vision.models:resnet18`: its code changes with the toolchain alone."""
    source = find_source(split(reference)[0])
    return source is not None and bool({"site-packages", "dist-packages"} & set(source.resolve().parts))

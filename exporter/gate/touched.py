"""Which specs does a change touch? Each for which one of the changed files counts (:mod:`exporter.gate.counts`).

In doubt a file counts, and the spec is touched.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import exporter
from exporter.base.diagnostics import short
from exporter.base.errors import UsageError
from exporter.base.git import Base, Changed, changed_since
from exporter.base.references import find_source, split
from exporter.spec.recipe.source import sources

if TYPE_CHECKING:
    from exporter.gate.shards import Shard

_SPECS = Path("specs")
_SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True)
class Touched:
    """One spec, and why it must pass the gate again; an empty `why` means that the change does not touch it.

    `excuses` then say of each changed file why it does not count.

    One that the change deletes is `deleted`: nothing is gated, and nothing guards what it guarded. One of another shard
    is `elsewhere`, and is not judged here.
    """

    path: Path
    why: str
    deleted: bool = False
    elsewhere: bool = False
    excuses: tuple[str, ...] = ()


def find_specs(paths: Sequence[Path]) -> tuple[Path, ...]:
    """The specs that were named, each once, or all of `specs/` and its folders: every file that ends in .yaml or .yml.

    Folders that are hidden are left out, and links to folders are followed.

    Raises:
        UsageError: there is none: a gate that found no spec must not look like one that passed.
    """
    each_once: dict[Path, Path] = {}
    for path in paths:
        each_once.setdefault(path.resolve(), path)
    specs = tuple(each_once.values()) or tuple(sorted(_below(_SPECS)))
    if not specs:
        hint = "run from the folder that holds specs/, or name specs"
        raise UsageError("no spec was found, so there is nothing that could pass", where="specs", hint=hint)
    if missing := [path for path in specs if not path.is_file()]:
        raise UsageError(
            "no such spec", where=str(missing[0]), hint="check the path; specs/ is looked through if none is named"
        )
    return specs


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
    listed = tuple(os.path.relpath(file) for file in base.files()) if base else ()
    for path in [*specs, *deleted]:
        if path not in own:
            yield Touched(path, "", elsewhere=True)
        elif base is None:
            yield Touched(path, "asked for")
        elif path in deleted:
            yield Touched(path, "", deleted=True)
        else:
            why, excuses = _why(path, changed, settings, listed)
            yield Touched(path, why, excuses=excuses)


def _deleted(specs: Sequence[Path], changed: Changed) -> Iterator[Path]:
    """The files of specs/ that are no more."""
    folder = _SPECS.resolve()
    for path in sorted(changed.gone):
        if path.is_relative_to(folder) and path.suffix.lower() in _SUFFIXES:
            spec = _SPECS / path.relative_to(folder)
            if spec not in specs and not any(part.startswith(".") for part in spec.parts[1:-1]):
                yield spec


def _why(path: Path, changed: Changed, settings: tuple[str, ...], listed: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """Return the first reason why a spec is touched; if there is none, why each changed file does not count."""
    from exporter.gate.counts import Counting
    from exporter.spec.read import read_spec

    everything = changed.present | changed.gone
    ours = Path(exporter.__file__).resolve().parent
    if own := sorted(path for path in everything if path.is_relative_to(ours)):
        return f"the exporter itself changed: {short(own[0])}", ()
    try:
        counting = Counting.of(read_spec(path, settings))
        _refuse_missing_code(counting.code)
    except UsageError as error:  # the release will say the same, in its own words
        return f"{error}", ()
    if path.resolve() in everything or Path(os.path.abspath(path)) in everything:  # noqa: PTH100 - a link may be what changed
        return f"{short(path)} changed", ()
    names = {os.path.relpath(file) for file in everything}
    counted = counting.within({*listed, *names})
    why = counted.first(names)
    return why, () if why else tuple(counted.excuses(names))


def _refuse_missing_code(references: Iterable[str]) -> None:
    """Make sure that the code which a spec names is there; that of a library changes with its package alone.

    Raises:
        UsageError: it names a module that is not there, or cannot be read.
    """
    for reference in references:
        source = find_source(split(reference)[0])
        if source is None or not {"site-packages", "dist-packages"} & set(source.resolve().parts):
            sources(reference)

"""Which specs does a change touch? Told by files: the spec's own, those that its model and its recipe are made of.

In doubt a spec is touched. What code reads while it runs (data sets, other files) is not seen here: `--all` gates
whatever may have changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import exporter
from exporter.errors import UsageError
from exporter.git import Base, Changed, changed_since
from exporter.recipe.source import sources
from exporter.references import find_source, short, split
from exporter.spec.read import read_spec

#: What pins the toolchain: another Paddle may export another program from the same code.
TOOLCHAIN = ("pyproject.toml", "requirements*.txt", "*.lock", "poetry.lock", "uv.lock", "setup.cfg", "setup.py")


@dataclass(frozen=True)
class Touched:
    """One spec, and why it must pass the gate again; an empty `why` means that the change does not touch it."""

    path: Path
    why: str


def find_specs(given: Sequence[Path]) -> tuple[Path, ...]:
    """The specs that were named, or all of `specs/`.

    Raises:
        UsageError: there is none: a gate that found no spec must not look like one that passed.
    """
    found = tuple(given) or tuple(sorted(path for path in Path("specs").glob("*.y*ml") if path.is_file()))
    if not found:
        hint = "run from the folder that holds specs/, or name specs"
        raise UsageError("no spec was found, so there is nothing that could pass", where="specs", hint=hint)
    if missing := [path for path in found if not path.is_file()]:
        raise UsageError(
            "no such spec", where=str(missing[0]), hint="check the path; specs/ is looked through if none is named"
        )
    return found


def touched(specs: Sequence[Path], base: Base | None) -> tuple[Touched, ...]:
    """Judge each spec by what differs from a commit; without one, all are touched.

    Raises:
        UsageError, EnvironmentLacks: as :class:`exporter.git.Base`.
    """
    if base is None:
        return tuple(Touched(path, "asked for") for path in specs)
    changed = changed_since(base)
    return tuple(Touched(path, _why(path, changed)) for path in specs)


def _why(path: Path, changed: Changed) -> str:
    """The first reason for which a spec is touched."""
    if general := _toolchain(changed):
        return general
    try:
        files = list(_files_of(path))
    except UsageError as error:  # the release will say the same, in its own words
        return f"{error}"
    hit = next((file for file in files if file.resolve() in changed.present | changed.gone), None)
    return f"{short(hit.resolve())} changed" if hit else ""


def _toolchain(changed: Changed) -> str:
    """What touches every spec: the exporter itself, pinned packages, and code that is gone, since any may import it."""
    ours = Path(exporter.__file__).resolve().parent
    for path in sorted(changed.present | changed.gone):
        if path.is_relative_to(ours):
            return f"the exporter itself changed: {short(path)}"
        if any(fnmatch(path.name, pattern) for pattern in TOOLCHAIN):
            return f"the toolchain may have changed: {short(path)}"
    gone = sorted(path for path in changed.gone if path.suffix == ".py")
    return f"{short(gone[0])} is gone, and may have been imported" if gone else ""


def _files_of(path: Path) -> Iterator[Path]:
    """Every file that a spec is made of, as far as files tell.

    Raises:
        UsageError: it is not valid, or names a module that is not there.
    """
    yield path
    spec = read_spec(path)
    for name in (spec.checkpoint, *(one.values for one in spec.inputs.values() if one.values.endswith(".npy"))):
        if name is not None:
            yield Path(name)
    for reference in (spec.model, spec.recipe):
        if reference is not None and not _installed(reference):
            yield from (file for _, file in sources(reference))


def _installed(reference: str) -> bool:
    """A model of a library, such as `paddle.vision.models:resnet18`: its code changes with the toolchain alone."""
    source = find_source(split(reference)[0])
    return source is not None and bool({"site-packages", "dist-packages"} & set(source.resolve().parts))

"""Which specs does a change touch? Told by files: the spec's own, those that its model and its recipe are made of.

Where these did not change and something else did, the model is built and the data loaded, to see what they open. In
doubt a spec is touched.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

import exporter
from exporter.diagnostics import short
from exporter.errors import ExporterError, UsageError
from exporter.git import Base, Changed, changed_since
from exporter.recipe.source import sources
from exporter.references import find_source, split

if TYPE_CHECKING:
    from exporter.gate.shards import Shard
    from exporter.spec.model import Spec
    from exporter.workers import Setting

#: What pins the toolchain: another Paddle may export another program from the same code.
TOOLCHAIN = ("pyproject.toml", "requirements*.txt", "*.lock", "poetry.lock", "uv.lock", "setup.cfg", "setup.py")
_SPECS = Path("specs")


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
    """The specs that were named, or all of `specs/`.

    Raises:
        UsageError: there is none: a gate that found no spec must not look like one that passed.
    """
    found = tuple(given) or tuple(sorted(path for path in _SPECS.glob("*.y*ml") if path.is_file()))
    if not found:
        hint = "run from the folder that holds specs/, or name specs"
        raise UsageError("no spec was found, so there is nothing that could pass", where="specs", hint=hint)
    if missing := [path for path in found if not path.is_file()]:
        raise UsageError(
            "no such spec", where=str(missing[0]), hint="check the path; specs/ is looked through if none is named"
        )
    return found


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
        UsageError, EnvironmentLacks: as :class:`exporter.git.Base`.
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
        if path.parent == folder and path.match("*.y*ml") and _SPECS / path.name not in specs:
            yield _SPECS / path.name


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
    if hit := next((file for file in files if file.resolve() in everything), None):
        return f"{short(hit.resolve())} changed"
    if hits := sorted(file for file in everything if _depends(spec, file)):
        return f"{short(hits[0])} changed, which `depends` names"
    if not everything:
        return ""
    from exporter.gate.opened import opened  # with what children need, which a change that is seen at once does not

    try:
        seen = opened(spec, top, setting)
    except ExporterError as error:
        return f"nothing tells which files it opens: {error}"
    hits = sorted(file for file in everything if file in seen.read or file.parent in seen.listed)
    return f"{short(hits[0])} changed, which it opens" if hits else ""


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


def _files_of(spec: Spec) -> Iterator[Path]:
    """Every file that a spec names, and the code of its model and its recipe.

    Raises:
        UsageError: it names a module that is not there.
    """
    for name in (spec.checkpoint, *(one.values for one in spec.inputs.values() if one.values.endswith(".npy"))):
        if name is not None:
            yield Path(name)
    for reference in (spec.model, spec.recipe):
        if reference is not None and not _installed(reference):
            yield from (file for _, file in sources(reference))


def _depends(spec: Spec, path: Path) -> bool:
    """Whether a pattern of the spec names a path, which may be gone."""
    if not path.is_relative_to(Path.cwd()):
        return any(fnmatch(str(path), pattern) for pattern in spec.depends)
    here = path.relative_to(Path.cwd()).as_posix()
    return any(fnmatch(here, pattern) or fnmatch(here, pattern.replace("**/", "")) for pattern in spec.depends)


def _installed(reference: str) -> bool:
    """A model of a library, such as `paddle.vision.models:resnet18`: its code changes with the toolchain alone."""
    source = find_source(split(reference)[0])
    return source is not None and bool({"site-packages", "dist-packages"} & set(source.resolve().parts))

"""What to give where a folder was named that is no bundle: the bundles below it, or the one whose name is near."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from exporter.base.errors import UsageError, closest
from exporter.bundle.manifest import NAME
from exporter.spec.reserved import RESERVED
from exporter.spec.source import is_program

_MADE = "give a folder that `exporter release` wrote"
_DEEPEST, _FEW = 3, 4


def no_bundle(path: Path) -> UsageError:
    """Return the error about a path at which no bundle lies."""
    where, shell = str(path), shlex.quote(str(path))
    if path.is_dir():
        if (below := _bundles(path)) and not is_program(path):
            what = f"holds {'a bundle' if len(below) == 1 else f'{len(below)} bundles'}, and is none itself"
            return UsageError(what, where=where, hint=_given(below))
        program = f"exporter convert {shell} makes a bundle of the program that lies here"
        hint = program if is_program(path) else f"{_MADE}: it holds {NAME}"
        return UsageError(f"no {NAME} here, so this is no bundle", where=where, hint=hint)
    if path.is_file():
        hint = _of_file(path.suffix, shell)
        return UsageError("is a file, and a bundle is a folder", where=where, hint=hint)
    above = next((folder for folder in path.parents if folder.is_dir()), Path())
    near = _near(path, above, _bundles(above)) if above.name else []
    return UsageError("no such bundle", where=where, hint=_given(near) if near else _MADE)


def _of_file(suffix: str, shell: str) -> str:
    if suffix in (".yaml", ".yml"):
        return f"exporter release {shell} makes the bundle of a spec"
    if suffix in (".json", ".pdmodel"):
        return f"exporter convert {shell} makes a bundle of a program"
    return f"{_MADE}; exporter unpack makes one of a packed file"


def _bundles(folder: Path) -> list[Path]:
    """The bundles below a folder, the newest first; what did not pass comes last."""
    depths = ("/".join(["*"] * depth) for depth in range(1, _DEEPEST + 1))
    manifests = [path for depth in depths for path in folder.glob(f"{depth}/{NAME}") if path.is_file()]
    times = {path.parent: path.stat().st_mtime for path in manifests}
    return sorted(times, key=lambda bundle: (bundle.name in RESERVED, -times[bundle], str(bundle)))


def _near(path: Path, above: Path, bundles: Sequence[Path]) -> list[Path]:
    """The bundles that were likely meant: other versions of the model that is named, else a name that is near."""
    if same := [bundle for bundle in bundles if bundle.parent in (path, path.parent)]:
        return same
    models = {str(place.relative_to(above)): bundle for bundle in bundles for place in (bundle, bundle.parent)}
    near = closest(str(path.relative_to(above)), sorted(models))
    return [models[near]] if near else []


def _given(bundles: list[Path]) -> str:
    if len(bundles) == 1:
        return f"give '{bundles[0]}'"
    more = ", …" if len(bundles) > _FEW else ""
    return f"give '{bundles[0]}', or another of them: {', '.join(map(str, bundles[1:_FEW]))}{more}"

"""The verify.py and infer.py of a bundle, held against those that the exporter writes which its provenance names.

They are programs that a receiver starts, so another one is refused. Which exporter wrote a bundle is told by the
version and the digests of modules in its provenance. Where the modules that make the scripts are others here, what it
wrote is unknown, and a note says so.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from exporter import __version__
from exporter.base.bounded_json import read_json
from exporter.base.distribution import NAME as PACKAGE
from exporter.base.errors import BundleError
from exporter.base.files import sha256_bytes, sha256_file
from exporter.bundle import infer, script
from exporter.bundle.layout import INFER, PIPELINE, VERIFY
from exporter.bundle.manifest import PROVENANCE, Manifest
from exporter.spec.model import Spec

_ROOT = Path(__file__).parents[2]
_HINT = "do not use this bundle, and run nothing of it; ask for a fresh one"


def refuse_other_scripts(folder: Path, manifest: Manifest, spec: Spec) -> None:
    """Refuse a bundle whose scripts are not those that this exporter writes, where it is the one that is named.

    Raises:
        BundleError: one is another, or is missing, or is none that a release writes.
    """
    if manifest.verdict == "unverified":
        return
    due = _due(spec)
    for name in (VERIFY, INFER, PIPELINE):
        if (name in due) != (name in manifest.files):
            said = f"lists no {name}, and a release" if name in due else f"lists {name}, and no release"
            raise BundleError(f"{said} of its spec writes one", where=str(folder), hint=_HINT)
        if name in due and not unlike(folder, name) and sha256_bytes(due[name]) != manifest.files[name].sha256:
            what = f"is not the {name} that exporter {__version__} writes, which its provenance names"
            raise BundleError(what, where=str(folder / name), hint=_HINT)


def not_compared(folder: Path, manifest: Manifest) -> list[str]:
    """A sentence where the scripts of a bundle could not be held against those that its exporter writes."""
    others = [name for name in (VERIFY, INFER) if name in manifest.files and unlike(folder, name)]
    if not others:
        return []
    made = manifest.provenance.get("exporter", "of an unknown version")
    return [
        f"{' and '.join(others)} could not be compared: exporter {made} wrote this bundle, "
        f"{_why(made)}; verify the bundle with that one, or read them before you run them"
    ]


def unlike(folder: Path, name: str) -> bool:
    """Return whether another exporter than this wrote a script, as the provenance names version and modules."""
    recorded = made_by(folder)
    due = script.modules() if name == VERIFY else infer.modules()
    return any(recorded.get(module) != sha256_file(_ROOT / module) for module in due)


def same_code(folder: Path, *below: str) -> bool:
    """Return whether the exporter that wrote a bundle has the modules of this one below some of its folders."""
    recorded = {name: digest for name, digest in made_by(folder).items() if name.startswith(below)}
    here = {
        path.relative_to(_ROOT).as_posix(): sha256_file(path) for name in below for path in (_ROOT / name).rglob("*.py")
    }
    return recorded == here


def made_by(folder: Path) -> Mapping[str, str]:
    """The digests of the exporter's modules by the provenance of a bundle; none where another version is named."""
    statement = read_json(folder / PROVENANCE)
    every = statement["predicate"]["buildDefinition"]["resolvedDependencies"]
    uri = f"pkg:pypi/{PACKAGE}@{__version__}"
    return next((entry["annotations"]["modules"] for entry in every if entry.get("uri") == uri), {})


def _due(spec: Spec) -> dict[str, bytes]:
    return {VERIFY: script.verify_script().encode("utf-8"), **infer.documents(spec)}


def _why(made: str) -> str:
    return "and its modules are others than those of this one" if made == __version__ else f"and this is {__version__}"

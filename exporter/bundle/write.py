"""Seal a bundle: everything in a temporary sibling first, then one rename."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from exporter.bundle.manifest import NAME, parse, sealed
from exporter.bundle.open import Bundle, open_bundle
from exporter.errors import UsageError
from exporter.files import canonical_json, replace_folder, sha256_bytes, sha256_file, sibling, translated, write_bytes

VERIFY = "verify.py"


def refuse_overwrite(final: Path) -> None:
    """Only what is empty, or a bundle that was never verified, may be written over.

    Raises:
        UsageError: something else lies there.
    """
    refuse_strangers(final)
    if (final / NAME).is_file() and open_bundle(final).manifest.verdict == "passed":
        raise UsageError("holds a released bundle", where=str(final), hint="choose another --out")


def refuse_strangers(final: Path) -> None:
    """A user's own files are never replaced by a bundle.

    Raises:
        UsageError: files that are no bundle lie at `final`.
    """
    if final.is_dir() and any(final.iterdir()) and not (final / NAME).is_file():
        raise UsageError("holds files that are no bundle", where=str(final), hint="choose another --out")
    if final.exists() and not final.is_dir():
        raise UsageError("is a file", where=str(final), hint="choose another --out")


@contextmanager
def drafting(final: Path) -> Iterator[Path]:
    """Yield a folder to build a bundle in; what is not sealed in the end is removed."""
    with sibling(final) as draft:
        with translated(final):
            draft.mkdir(parents=True)
        yield draft


def seal(draft: Path, final: Path, content: Mapping[str, Any], *, runnable: bool) -> Bundle:
    """Hash every file of the draft into the manifest, and put it in the place of `final`.

    `runnable` adds the script that checks the bundle without us; it needs goldens.

    Raises:
        UsageError: `final` holds something that is no bundle, or cannot be written.
        EnvironmentLacks: the disk is full. The earlier bundle stays as it was.
    """
    refuse_strangers(final)
    with translated(final):
        if runnable:
            shutil.copyfile(Path(__file__).with_name("verify_template.py"), draft / VERIFY)
        files = {
            path.relative_to(draft).as_posix(): {"sha256": sha256_file(path), "size": path.stat().st_size}
            for path in sorted(draft.rglob("*"))
            if path.is_file()
        }
        manifest = sealed({**content, "files": files})
        write_bytes(draft / NAME, manifest)
        replace_folder(draft, final)
    return Bundle(final, parse(manifest, str(final / NAME)))


def content_version(spec: Mapping[str, Any], parameters: Mapping[str, str], folder: Path) -> str:
    """A version for a spec that names none: equal for equal specs, parameters and artifacts."""
    files = {
        path.relative_to(folder).as_posix(): sha256_file(path) for path in sorted(folder.rglob("*")) if path.is_file()
    }
    return f"c{sha256_bytes(canonical_json([dict(spec), dict(parameters), files]))[:12]}"

"""Seal again what was changed, as whoever made the bundle could: hashes, digests of tensors, and the manifest's own."""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from exporter.base.errors import ExporterError
from exporter.bundle.manifest import BOM, PROVENANCE, sealed
from exporter.export.lower.stored import stored_digests
from tests.documents import state_again

#: What reading a document or a manifest of another shape raises.
_NOT_SO = (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError)


def files_of(bundle: Path) -> dict[str, dict[str, Any]]:
    """The sizes and hashes of what lies there."""
    return {
        path.relative_to(bundle).as_posix(): {
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
            "size": path.stat().st_size,
        }
        for path in sorted(bundle.rglob("*"))
        if path.is_file() and not path.is_symlink() and path.name != "manifest.json"
    }


def seal(bundle: Path, manifest: Mapping[str, Any], *, files: bool = True, documents: bool = True) -> None:
    """Write the manifest with its own digest, and with the hashes of the files that lie there.

    The documents are made to state the same, where they and the manifest can still be read so.
    """
    content = dict(manifest)
    if documents:
        with contextlib.suppress(*_NOT_SO):
            state_again(bundle, content)
    if files:
        content["files"] = files_of(bundle)
    elif documents and isinstance(content.get("files"), dict):
        now = files_of(bundle)
        content["files"] = content["files"] | {name: now[name] for name in (PROVENANCE, BOM) if name in now}
    (bundle / "manifest.json").write_bytes(_sealed(content))


def _sealed(content: Mapping[str, Any]) -> bytes:
    try:
        return sealed(dict(content))
    except (ValueError, TypeError, RecursionError):  # what cannot be written canonically is written as it can be
        return json.dumps(content, indent=2).encode()


def digests_again(bundle: Path, manifest: dict[str, Any]) -> None:
    """Make the recorded digests of tensors those of the files, the layer's own by their origins too."""
    for variant in manifest["variants"].values():
        try:
            stored = stored_digests(tuple(variant["files"]), bundle)
        except ExporterError:
            continue
        variant["weights"] = stored
        manifest["parameters"] |= {own: stored[name] for name, own in variant["origins"].items() if name in stored}

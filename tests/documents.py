"""The documents of a bundle that was changed, made to state what it is now, as whoever seals it again would."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from exporter.bundle.manifest import BOM, PROVENANCE
from exporter.files import readable_json, sha256_file


def state_again(bundle: Path, content: Mapping[str, Any]) -> None:
    """Write into both documents, where they lie, the digests of all files, and what the manifest's content says."""
    if not content.get("documents"):
        return
    later = ("manifest.json", "model.sig", "verify.py", PROVENANCE, BOM)
    paths = {path.relative_to(bundle).as_posix(): path for path in sorted(bundle.rglob("*")) if path.is_file()}
    digests = {name: sha256_file(path) for name, path in paths.items() if name not in later and not path.is_symlink()}
    if (bundle / PROVENANCE).is_file():
        _state_provenance(bundle / PROVENANCE, content, digests)
    if (bundle / BOM).is_file():
        _state_bill(bundle / BOM, content, digests)


def _state_provenance(path: Path, content: Mapping[str, Any], digests: Mapping[str, str]) -> None:
    statement = json.loads(path.read_bytes())
    statement["subject"] = [{"name": name, "digest": {"sha256": digest}} for name, digest in digests.items()]
    definition, origin = statement["predicate"]["buildDefinition"], content["provenance"]
    definition["externalParameters"]["spec"] = content["spec"]
    definition["internalParameters"] = {
        key: origin[key] for key in ("machine", "python", "training") if key in (origin or {})
    }
    path.write_bytes(readable_json(statement))


def _state_bill(path: Path, content: Mapping[str, Any], digests: Mapping[str, str]) -> None:
    bill = json.loads(path.read_bytes())
    bill["metadata"]["component"] |= {"name": content["name"], "version": content["version"]}
    files = [
        {"type": "file", "name": name, "bom-ref": f"file:{name}", "hashes": [{"alg": "SHA-256", "content": digest}]}
        for name, digest in digests.items()
    ]
    bill["components"] = files + [part for part in bill["components"] if part["type"] != "file"]
    path.write_bytes(readable_json(bill))

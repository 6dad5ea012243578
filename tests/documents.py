"""The documents of a bundle that was changed, made to state what it is now, as whoever seals it again would."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from exporter.base.files import readable_json, sha256_file
from exporter.bundle.layout import INFER, PIPELINE, VERIFY
from exporter.bundle.manifest import BOM, NAME, PROVENANCE, SIGNATURE


def state_again(bundle: Path, content: Mapping[str, Any]) -> None:
    """Write into both documents, where they lie, the digests of all files, and what the manifest's content says."""
    if not content.get("documents"):
        return
    later = (NAME, SIGNATURE, VERIFY, INFER, PIPELINE, PROVENANCE, BOM)
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
    if isinstance(origin, dict):
        _state_origin(statement, origin)
    path.write_bytes(readable_json(statement))


def _state_origin(statement: dict[str, Any], origin: Mapping[str, Any]) -> None:
    statement["predicate"]["runDetails"]["builder"]["version"]["exporter"] = origin.get("exporter")
    code, packages, weights = (origin.get(key) or {} for key in ("code", "packages", "weights"))
    for entry in statement["predicate"]["buildDefinition"]["resolvedDependencies"]:
        name = entry["name"]
        if name == "checkpoint":
            entry["digest"] = {"sha256": weights.get("sha256")}
        elif entry.get("uri") == f"file:{name}" and name in code:
            entry["digest"] = {"sha256": code[name]}
        elif name in packages:
            entry["uri"] = f"pkg:pypi/{name}@{packages[name]}"


def _state_bill(path: Path, content: Mapping[str, Any], digests: Mapping[str, str]) -> None:
    bill = json.loads(path.read_bytes())
    bill["metadata"]["component"] |= {"name": content["name"], "version": content["version"]}
    files = [
        {"type": "file", "name": name, "bom-ref": f"file:{name}", "hashes": [{"alg": "SHA-256", "content": digest}]}
        for name, digest in digests.items()
    ]
    rest = [part for part in bill["components"] if part["type"] != "file"]
    packages = (content["provenance"] or {}).get("packages") or {}
    for part in rest:
        part["version"] = packages.get(part["name"], part["version"])
    bill["components"] = files + rest
    path.write_bytes(readable_json(bill))

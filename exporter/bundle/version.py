"""The version of a bundle whose spec names none: it follows from the content."""

from __future__ import annotations

from collections.abc import Mapping

from exporter.base.files import canonical_json, sha256_bytes
from exporter.bundle.manifest import FileFacts
from exporter.spec.source import FACTORY


def content_version(
    spec: Mapping[str, object],
    parameters: Mapping[str, str],
    files: Mapping[str, FileFacts],
    provenance: Mapping[str, object],
) -> str:
    """Return a version for a spec that names none: equal for equal specs, parameters and artifacts.

    A model that is a file counts by the digests in its provenance, and not by the path where it lay.
    """
    hashes = {name: facts.sha256 for name, facts in files.items()}
    described, code, arguments = dict(spec), provenance.get("code"), spec.get("args")
    if spec.get("model") == FACTORY and isinstance(code, Mapping) and isinstance(arguments, Mapping):
        paths = {key: arguments[key] for key in ("program", "parameters") if key in arguments}
        described["args"] = {**arguments, **{key: code.get(str(path)) for key, path in paths.items()}}
    return f"c{sha256_bytes(canonical_json([described, dict(parameters), hashes]))[:12]}"

"""What the provenance and the bill of materials of a bundle state, held against the bundle that they are about.

They tell of much that nothing here can compute: modules, packages, a commit. What can be computed from the files, or
stands in the manifest as well, must be the same there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel

from exporter.base.bounded_json import read_json
from exporter.base.distribution import NAME as PACKAGE
from exporter.base.errors import BundleError, first_fault
from exporter.base.files import readable_json, write_bytes
from exporter.bundle.layout import INFER, PIPELINE, VERIFY
from exporter.bundle.manifest import BOM, NAME, PROVENANCE, FileFacts, Manifest
from exporter.bundle.slsa import PREDICATE, STATEMENT

_HINT = "do not use this bundle; ask for a fresh one"
_PYPI = "pkg:pypi/"
_ALGORITHMS = {"SHA-256": "sha256"}


class _Part(BaseModel):
    """Keys that are read are of these types; others may be anything."""

    model_config = ConfigDict(extra="allow", strict=True, alias_generator=to_camel)


class _Named(_Part):
    name: str = ""
    uri: str = ""
    digest: dict[str, str] = {}
    annotations: Any = None


class _Definition(_Part):
    external_parameters: dict[str, Any]
    internal_parameters: dict[str, Any] = {}
    resolved_dependencies: list[_Named] = []


class _Builder(_Part):
    version: dict[str, str] = {}


class _Details(_Part):
    builder: _Builder


class _Predicate(_Part):
    build_definition: _Definition
    run_details: _Details


class _Statement(_Part):
    type_: str = Field(alias="_type")
    predicate_type: str
    subject: list[_Named]
    predicate: _Predicate


class _Hash(_Part):
    alg: str
    content: str


class _Component(_Part):
    type: str
    name: str
    version: str = ""
    hashes: list[_Hash] = []


class _Metadata(_Part):
    component: _Component


class _Bill(_Part):
    bom_format: str
    metadata: _Metadata
    components: list[_Component]


def refuse_other_statements(folder: Path, manifest: Manifest) -> None:
    """Refuse a bundle whose documents state something else than the bundle is.

    Raises:
        BundleError: they do, or are none; the first contradiction is named.
    """
    if manifest.documents is None:
        what = f"names no {PROVENANCE} and no {BOM}, and every bundle of its schema holds them"
        raise BundleError(what, where=NAME, hint=_HINT)
    for name, kind, contradictions in ((PROVENANCE, _Statement, _of_statement), (BOM, _Bill, _of_bill)):
        try:
            document = kind.model_validate(read_json(folder / name))
        except ValidationError as error:
            place, fault = first_fault(error)
            raise BundleError(f"is wrong at {place}: {fault}", where=str(folder / name), hint=_HINT) from error
        for what in contradictions(document, manifest):
            raise BundleError(f"contradicts the bundle: {what}", where=str(folder / name), hint=_HINT)


def state_again(bundle: Path, into: Path, content: Mapping[str, Any], files: Mapping[str, FileFacts]) -> None:
    """Write the documents of `bundle` into another folder, to state the spec in `content` and these files of it."""
    statement, bill = read_json(bundle / PROVENANCE), read_json(bundle / BOM)
    statement["subject"] = [{"name": name, "digest": {"sha256": files[name].sha256}} for name in sorted(files)]
    statement["predicate"]["buildDefinition"]["externalParameters"]["spec"] = content["spec"]
    bill["metadata"]["component"]["version"] = content["version"]
    parts = [part for part in bill["components"] if part["type"] != "file"]
    for name in sorted(files):
        hashes = [{"alg": "SHA-256", "content": files[name].sha256}]
        parts.append({"type": "file", "name": name, "bom-ref": f"file:{name}", "hashes": hashes})
    bill["components"] = parts
    for name, document in ((PROVENANCE, statement), (BOM, bill)):
        write_bytes(into / name, readable_json(document))


def _files(manifest: Manifest) -> dict[str, str]:
    """What the documents are about: all files that are written before them."""
    later = (PROVENANCE, BOM, VERIFY, INFER, PIPELINE)
    return {name: facts.sha256 for name, facts in manifest.files.items() if name not in later}


def _of_statement(statement: Any, manifest: Manifest) -> Iterator[str]:
    if (statement.type_, statement.predicate_type) != (STATEMENT, PREDICATE):
        yield f"it is no {PREDICATE} of in-toto"
    yield from _other_files("subject", [(entry.name, entry.digest) for entry in statement.subject], manifest)
    definition, origin = statement.predicate.build_definition, manifest.provenance
    if definition.external_parameters.get("spec") != manifest.spec:
        yield "its spec is not the manifest's"
    for key, value in definition.internal_parameters.items():
        if origin.get(key) != value:
            yield f"its {key[:80]!r} is not the manifest's"
    builder = statement.predicate.run_details.builder.version.get("exporter")
    if builder != origin.get("exporter"):
        yield f"it was built by exporter {builder!r}, and the manifest says {origin.get('exporter')!r}"
    dependencies = definition.resolved_dependencies
    made_by = [entry for entry in dependencies if entry.uri == f"{_PYPI}{PACKAGE}@{builder}"]
    if len(made_by) != 1 or not _modules(made_by[0].annotations):
        yield f"it does not tell the modules of exporter {builder!r}"
    yield from _other_inputs(dependencies, origin)
    uris = [entry.uri for entry in dependencies if entry.uri.startswith(_PYPI)]
    pairs = [(name, version) for name, _, version in (uri[len(_PYPI) :].rpartition("@") for uri in uris)]
    yield from _other_versions(pairs, origin)


def _modules(annotations: Any) -> dict[str, str]:
    """The digests of modules that an entry is annotated with; none where these are no digests by name."""
    modules = annotations.get("modules") if isinstance(annotations, dict) else None
    return modules if isinstance(modules, dict) and all(isinstance(value, str) for value in modules.values()) else {}


def _other_inputs(dependencies: list[_Named], origin: Mapping[str, Any]) -> Iterator[str]:
    """The checkpoint and the files of code, as far as the manifest records them."""
    weights, code = origin.get("weights", {}), origin.get("code", {})
    for entry in dependencies:
        digest = entry.digest.get("sha256")
        if entry.name == "checkpoint" and digest != weights.get("sha256"):
            yield "its checkpoint is not the manifest's"
        elif entry.uri == f"file:{entry.name}" and entry.name in code and digest != code[entry.name]:
            yield f"its {entry.name!r} is not the one that the manifest records"


def _of_bill(bill: Any, manifest: Manifest) -> Iterator[str]:
    if bill.bom_format != "CycloneDX":
        yield "it is no bill of CycloneDX"
    about = bill.metadata.component
    if (about.name, about.version) != (manifest.name, manifest.version):
        yield f"it is about {about.name[:80]!r} {about.version[:80]!r}"
    files = [part for part in bill.components if part.type == "file"]
    hashes = [
        (part.name, {_ALGORITHMS.get(hash_.alg, hash_.alg): hash_.content for hash_ in part.hashes}) for part in files
    ]
    yield from _other_files("list", hashes, manifest)
    libraries = [(part.name, part.version) for part in bill.components if part.type == "library"]
    yield from _other_versions(libraries, manifest.provenance)


def _other_files(what: str, stated: list[tuple[str, dict[str, str]]], manifest: Manifest) -> Iterator[str]:
    due = {name: {"sha256": digest} for name, digest in _files(manifest).items()}
    wrong = [name for name, digests in stated if due.get(name) != digests]
    wrong += sorted(set(due) - {name for name, _ in stated})
    if wrong or len(stated) != len(due):
        name = wrong[0] if wrong else max(Counter(name for name, _ in stated).items(), key=lambda pair: pair[1])[0]
        yield f"its {what} has {name[:80]!r} otherwise than the bundle's files"


def _other_versions(stated: list[tuple[str, str]], origin: Mapping[str, Any]) -> Iterator[str]:
    """Packages that the manifest records as well."""
    recorded: Mapping[str, str] = origin.get("packages", {})
    for name, version in stated:
        if recorded.get(name, version) != version:
            yield f"its {name} is {version[:80]}, and the manifest's {recorded[name][:80]}"

"""A bill of materials held against known advisories, given as a file: no network is asked.

An advisory is a record of the OSV schema (https://ossf.github.io/osv-schema/): the file holds one, a list of them, or
`{"vulns": [...]}` as its interface answers. Only packages of the ecosystem PyPI are compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.version import InvalidVersion, Version

from exporter.base.bounded_json import parse_json
from exporter.base.errors import BundleError, UsageError
from exporter.base.files import read_regular
from exporter.bundle.manifest import BOM
from exporter.bundle.open import open_bundle

#: All advisories of the ecosystem together have some 100 MB.
_MOST_BYTES, _MOST_VALUES = 256 << 20, 20_000_000
_HINT = "give records of the OSV schema, as osv.dev exports them"


@dataclass(frozen=True)
class Hit:
    """A package of the bill that an advisory is about."""

    advisory: str
    package: str
    version: str
    summary: str
    fixed: tuple[str, ...]


@dataclass(frozen=True)
class Compared:
    """What was compared, and the hits."""

    packages: int
    advisories: int
    hits: tuple[Hit, ...]

    @property
    def cure(self) -> str:
        """What to do about the first hit; empty where there is none."""
        for hit in self.hits:
            wanted = f"{hit.package}=={hit.fixed[0]}" if hit.fixed else f"another version of {hit.package}"
            return f"install {wanted}, then exporter release SPEC, which records it"
        return ""


def compare(bill: Path, advisories: Path) -> Compared:
    """Hold the bill of a bundle (its folder), or one in a file, against advisories.

    Raises:
        UsageError: a file is not there or not what it should be.
        BundleError: the bundle is damaged, or has no bill.
    """
    packages, records = _packages(bill), _records(advisories)
    hits = [
        hit for name, version in sorted(packages.items()) for record in records for hit in _hits(name, version, record)
    ]
    return Compared(len(packages), len(records), tuple(dict.fromkeys(hits)))


def _packages(path: Path) -> dict[str, str]:
    """The packages of PyPI in a bill, by their plain names."""
    if path.is_dir():
        documents = open_bundle(path).manifest.documents
        if documents is None:
            hint = "release it again: a release writes one"
            raise BundleError("holds no bill of materials", where=str(path), hint=hint)
        path = path / documents.bom
    content = _json(path)
    if not isinstance(content, dict) or content.get("bomFormat") != "CycloneDX":
        raise UsageError("no bill of materials", where=str(path), hint=f"name a bundle, or its {BOM}")
    try:
        urls = [
            part["purl"] for part in content.get("components", []) if str(part.get("purl", "")).startswith("pkg:pypi/")
        ]
        pairs = [url.removeprefix("pkg:pypi/").partition("?")[0].rsplit("@", 1) for url in urls]
        return {_normal(name): version for name, version in pairs}
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        raise UsageError("no bill of materials of packages", where=str(path), hint="name one of CycloneDX") from error


def _records(path: Path) -> list[dict[str, Any]]:
    content = _json(path)
    if isinstance(content, dict):
        content = content.get("vulns", [content])
    if not isinstance(content, list) or not all(
        isinstance(one, dict) and isinstance(one.get("id"), str) for one in content
    ):
        raise UsageError("no advisories: a record has no id", where=str(path), hint=_HINT)
    if not content:
        raise UsageError("holds no advisory, so nothing was compared", where=str(path), hint=_HINT)
    for record in content:
        _refuse_shape(record, path)
    return [record for record in content if not record.get("withdrawn")]


def _refuse_shape(record: dict[str, Any], path: Path) -> None:
    """An advisory that cannot be understood must not pass for one that does not apply."""
    try:
        for affected in record.get("affected", []):
            name, ecosystem = affected["package"]["name"], affected["package"]["ecosystem"]
            versions = affected.get("versions", [])
            events = [event for span in affected.get("ranges", []) for event in span["events"]]
            texts = [name, ecosystem, *versions, *(value for event in events for value in event.values())]
            if not all(isinstance(text, str) for text in texts):
                raise TypeError("not text")
    except (TypeError, AttributeError, LookupError) as error:
        where = f"{path}: {record['id']}"
        raise UsageError(
            f"not an advisory of the OSV schema ({type(error).__name__})", where=where, hint=_HINT
        ) from error


def _json(path: Path) -> Any:
    try:
        return parse_json(read_regular(path, _MOST_BYTES), _MOST_VALUES)
    except ValueError as error:
        raise UsageError(f"not JSON: {error}", where=str(path), hint="name a JSON file") from error


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _hits(name: str, version: str, record: Mapping[str, Any]) -> Iterator[Hit]:
    for affected in record.get("affected", []):
        package = affected["package"]
        if package["ecosystem"].partition(":")[0] != "PyPI" or _normal(package["name"]) != name:
            continue
        ranges = [span["events"] for span in affected.get("ranges", []) if span.get("type") in ("ECOSYSTEM", "SEMVER")]
        listed = version in affected.get("versions", []) or any(
            _same(version, one) for one in affected.get("versions", [])
        )
        if listed or any(_within(version, events) for events in ranges):
            fixed = tuple(event["fixed"] for events in ranges for event in events if "fixed" in event)
            yield Hit(record["id"], name, version, str(record.get("summary", ""))[:200], fixed)


def _same(one: str, other: str) -> bool:
    first, second = _version(one), _version(other)
    return first is not None and first == second


def _version(text: str) -> Version | None:
    try:
        return Version(text)
    except InvalidVersion:
        return None


def _within(version: str, events: list[Mapping[str, str]]) -> bool:
    """OSV's rule: the last event at or before a version decides. What cannot be compared counts as within."""
    own = _version(version)
    points = [(kind, _version(text)) for event in events for kind, text in event.items() if kind != "limit"]
    if own is None or any(point is None for _, point in points):
        return True
    inside = False
    # At one version what is introduced counts after what is fixed.
    for kind, point in sorted(points, key=lambda pair: (pair[1], pair[0] == "introduced")):
        if point is None or point > own:
            break
        if kind == "introduced":
            inside = True
        elif kind == "fixed" or (kind == "last_affected" and point < own):
            inside = False
    return inside


def as_json(compared: Compared) -> dict[str, object]:
    """What `doctor --bom --json` prints."""
    hits = [{**hit.__dict__, "fixed": list(hit.fixed)} for hit in compared.hits]
    return {"packages": compared.packages, "advisories": compared.advisories, "hits": hits}


def as_text(compared: Compared) -> str:
    """The same for a person; names come from foreign files."""
    from exporter.base.errors import printable

    lines = []
    for hit in compared.hits:
        cure = f"; fixed in {', '.join(hit.fixed)}" if hit.fixed else ""
        lines.append(f"{hit.advisory}: {hit.package} {hit.version}: {hit.summary or 'no summary'}{cure}")
    lines.append(f"{compared.packages} packages, {compared.advisories} advisories: {len(compared.hits)} apply")
    return "".join(printable(line) + "\n" for line in lines)

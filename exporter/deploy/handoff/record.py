"""The record of a hand-over, MANIFEST.json: which bundle, which variant, and where each file comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import TypeAdapter

from exporter import __version__
from exporter.bundle.manifest import Tensor
from exporter.deploy.handoff.base import Chosen, Proof, Rows

#: Its schema.
SCHEMA = 2


@dataclass(frozen=True)
class BundleName:
    """The bundle that was handed over."""

    name: str
    version: str
    digest: str


@dataclass(frozen=True)
class VariantName:
    """The variant in it."""

    name: str
    format: str
    precision: str


@dataclass(frozen=True)
class FileFacts:
    """Where a file comes from (`made` for this target, or a path in the bundle), its sha256 and size."""

    origin: str
    sha256: str
    size: int

    @classmethod
    def of(cls, content: Any) -> FileFacts:
        """Read what a record tells of a file.

        Raises:
            LookupError, TypeError, ValueError: it is something else.
        """
        return cls(str(content["from"]), str(content["sha256"]), int(content["size"]))

    def content(self) -> dict[str, object]:
        """Return it as the record has it."""
        return {"from": self.origin, "sha256": self.sha256, "size": self.size}


@dataclass(frozen=True)
class VersionRecord:
    """One version in a repository of models."""

    bundle: BundleName
    variant: VariantName
    verified_here: Proof
    rows: Rows | None = None


_VERSION = TypeAdapter(VersionRecord)


@dataclass(frozen=True)
class Earlier:
    """What is read again of the record of an earlier hand-over: the versions in a repository, and all its files."""

    versions: Mapping[str, VersionRecord]
    files: Mapping[str, FileFacts]

    @classmethod
    def of(cls, content: Any) -> Earlier:
        """Read a record.

        Raises:
            AttributeError, LookupError, TypeError, ValueError: it is none of this schema.
        """
        if content["schema"] != SCHEMA:
            raise ValueError(f"schema {content['schema']!r}, not {SCHEMA}")
        versions = {path: _VERSION.validate_python(own) for path, own in content.get("versions", {}).items()}
        if any(version_number(path) < 1 for path in versions):
            raise ValueError("a version has no number")
        return cls(versions, {name: FileFacts.of(facts) for name, facts in content["files"].items()})


@dataclass(frozen=True)
class Record:
    """The record of a hand-over; in a repository of models, `versions` and `files` are those of all hand-overs."""

    target: str
    chosen: Chosen
    files: Mapping[str, FileFacts]
    verified_here: Proof
    versions: Mapping[str, VersionRecord]

    @property
    def version(self) -> VersionRecord:
        """What a repository tells of the version that is handed over."""
        bundle, variant = self.chosen.manifest, self.chosen.variant
        return VersionRecord(
            BundleName(bundle.name, bundle.version, bundle.digest),
            VariantName(self.chosen.name, variant.format, variant.precision),
            self.verified_here,
            self.chosen.rows,
        )

    def content(self) -> dict[str, object]:
        """Return it as MANIFEST.json has it."""
        bundle, variant = self.chosen.manifest, self.chosen.variant
        content = {
            "schema": SCHEMA,
            "target": self.target,
            "exporter": __version__,
            **_version(self.version),
            "inputs": [_tensor(*pair) for pair in zip(bundle.inputs, variant.inputs, strict=True)],
            "outputs": [_tensor(*pair) for pair in zip(bundle.outputs, variant.outputs, strict=True)],
            "dims": bundle.dims,
            "waivers": list(bundle.waivers),
            "files": {name: facts.content() for name, facts in self.files.items()},
        }
        versions = {path: _version(version) for path, version in self.versions.items()}
        return {**content, "versions": versions} if versions else content


def _version(version: VersionRecord) -> dict[str, object]:
    """Return it as the record has it: without `rows` where nobody had to look, and `partial` where all was run."""
    content = asdict(version)
    if not version.verified_here.partial:
        del content["verified_here"]["partial"]
    return {key: value for key, value in content.items() if key != "rows" or value is not None}


def version_number(path: str) -> int:
    """Return the number of a version's folder.

    Raises:
        ValueError: it has none.
    """
    return int(path.rpartition("/")[2])


def _tensor(tensor: Tensor, native: str) -> dict[str, object]:
    """Return what the bundle calls it, and what the artifact calls it (`native`)."""
    return {**tensor.model_dump(mode="json"), "native": native}

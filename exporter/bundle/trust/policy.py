"""What is trusted: public keys and certificates, what each may sign, and until when.

    keys:
      - key: release.pub                # PEM, relative to this file; or `certificate: root.pem`
        name: release team              # how messages call it; the file's name by default
        models: [digits, "resnet*/2.*"] # NAME or NAME/VERSION with * and ?; everything by default
        until: 2027-06-30               # the last day (UTC); without it, for ever
        signers: ["CN=release,*"]       # of a certificate: the subject or an alternative name of the signer's own
        may_waive: true                 # the waivers in what it signs count; false by default

A PEM file by itself is trusted for every model, for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, Strict, ValidationError, model_validator

from exporter.base.errors import UsageError, first_fault
from exporter.base.files import read_regular
from exporter.bundle.trust import keys
from exporter.spec import yaml12

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    key: str | None = None
    certificate: str | None = None
    name: Annotated[str, Field(min_length=1, max_length=200)] | None = None
    models: Annotated[tuple[str, ...], Field(min_length=1)] = ("*",)
    until: date | None = None
    signers: Annotated[tuple[str, ...], Field(min_length=1)] = ("*",)
    may_waive: Annotated[bool, Strict()] = False

    @model_validator(mode="after")
    def _one_kind(self) -> _Entry:
        if (self.key is None) == (self.certificate is None):
            raise ValueError("give either a key or a certificate")
        if self.key is not None and self.signers != ("*",):
            raise ValueError("signers are those below a certificate; a key has none")
        return self


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    keys: Annotated[tuple[_Entry, ...], Field(min_length=1)]


@dataclass(frozen=True)
class Anchor:
    """A key or certificates that somebody trusts, and for what."""

    name: str
    key: ec.EllipticCurvePublicKey | None = None
    certificates: tuple[x509.Certificate, ...] = ()
    models: tuple[str, ...] = ("*",)
    until: date | None = None
    signers: tuple[str, ...] = ("*",)
    may_waive: bool = False

    def may_sign(self, model: str, version: str) -> bool:
        """Whether it is trusted for this model; a pattern without a slash means every version."""
        full = f"{model}/{version}"
        return any(fnmatchcase(full if "/" in pattern else model, pattern) for pattern in self.models)

    def expired(self, today: date) -> bool:
        """Whether its last day has passed."""
        return self.until is not None and today > self.until

    def speaks_for(self, names: Sequence[str]) -> bool:
        """Whether a signer whose certificate bears these names is meant."""
        return any(fnmatchcase(name, pattern) for name in names for pattern in self.signers)


def anchors(paths: Sequence[Path]) -> tuple[Anchor, ...]:
    """What is trusted by these files: each a trust file (.yaml), or a public key or certificates as PEM.

    Raises:
        UsageError: a file is not there or is none of these; no entry may be trusted by mistake.
        EnvironmentLacks: the library that reads keys is not installed.
    """
    keys.require_library()
    return tuple(anchor for path in paths for anchor in _anchors(path))


def _anchors(path: Path) -> tuple[Anchor, ...]:
    if path.suffix in (".yaml", ".yml"):
        return tuple(_of_entry(entry, path) for entry in _entries(path))
    key, certificates = _material(path)
    return (Anchor(path.name, key, certificates),)


def _entries(path: Path) -> tuple[_Entry, ...]:
    hint = "see docs/trust.md: keys: [{key: release.pub, models: [digits], until: 2027-06-30}]"
    try:
        text = read_regular(path, yaml12.MOST_BYTES).decode("utf-8")
    except UnicodeDecodeError as error:
        raise UsageError("not UTF-8", where=str(path), hint=hint) from error
    content, _ = yaml12.load(text, str(path))
    try:
        return _File.model_validate(content).keys
    except ValidationError as error:
        place, fault = first_fault(error)
        raise UsageError(f"{fault} at {place or 'the top'}", where=str(path), hint=hint) from error


def _of_entry(entry: _Entry, file: Path) -> Anchor:
    named = entry.key or entry.certificate or ""
    path = file.parent / named
    key, certificates = _material(path)
    if (key is None) == (entry.key is not None):
        kind = "a key" if entry.key else "a certificate"
        raise UsageError(f"is not {kind}, as the entry says", where=str(path), hint=f"mend the entry in {file}")
    return Anchor(
        entry.name or Path(named).name, key, certificates, entry.models, entry.until, entry.signers, entry.may_waive
    )


def _material(path: Path) -> tuple[ec.EllipticCurvePublicKey | None, tuple[x509.Certificate, ...]]:
    """Return the public key or the certificates in a file."""
    public, certificates = keys.public_material(path)
    return public[0] if public else None, certificates

"""Is this folder what somebody trusted has signed? Asked before anything in it but the signature is read."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from exporter.base.errors import BundleError, UsageError
from exporter.base.files import read_regular, sha256_bytes, sha256_file
from exporter.bundle.absent import no_bundle
from exporter.bundle.manifest import NAME, SIGNATURE, Manifest, parse
from exporter.bundle.trust import keys
from exporter.bundle.trust.policy import Anchor
from exporter.bundle.trust.statement import MOST_BYTES, Signature, Statement, authenticated, read_statement, refusal
from exporter.bundle.trust.statement import parse as parse_signature

#: Entries of a folder: a bundle has about 20.
_MOST_ENTRIES = 10_000
_MOST_MANIFEST = 64 << 20


@dataclass(frozen=True)
class Trusted:
    """A bundle whose every file was signed by somebody trusted: who, and the manifest that was signed.

    `may_waive`: whoever signed it is trusted with exemptions as well.
    """

    signer: str
    manifest: Manifest
    files: int
    may_waive: bool = False


def verify(
    folder: Path, trusted: Sequence[Anchor], signature: Path | None = None, at: datetime | None = None
) -> Trusted:
    """Prove that a trusted key signed just the files of a folder, and may sign this model.

    Raises:
        UsageError: there is no such folder, or no such signature file though one was named.
        BundleError: there is no signature, nobody trusted made it, it is of another bundle, a file was changed, added
            or removed since, or the key may not sign this model (any more); the reason is said.
    """
    at = at or datetime.now(timezone.utc)
    if not folder.is_dir():
        raise no_bundle(folder)
    place = signature or folder / SIGNATURE
    signed, where = _signature(place, signature is not None), str(place)
    makers = _makers(signed, trusted, at, where)
    statement = read_statement(signed.payload, where)
    manifest = _manifest(folder, statement, place)
    _refuse_changed(folder, manifest, statement)
    refusals = [_refuses(maker.anchor, manifest, at) for maker in makers]
    if "" not in refusals:
        raise refusal(refusals[0], where)
    allowed = [maker for maker, why in zip(makers, refusals, strict=True) if not why]
    may_waive = any(maker.anchor.may_waive for maker in allowed)
    return Trusted(allowed[0].who, manifest, len(statement.files), may_waive)


@dataclass(frozen=True)
class _Maker:
    """Something trusted that made the signature, and who that is in words."""

    anchor: Anchor
    who: str


def _refuses(anchor: Anchor, manifest: Manifest, at: datetime) -> str:
    """Why it may not have signed this bundle; empty where it may."""
    if anchor.expired(at.date()):
        return f"is of '{anchor.name}', which is trusted only until {anchor.until}"
    if not anchor.may_sign(manifest.name, manifest.version):
        model, allowed = f"{manifest.name} {manifest.version}", ", ".join(anchor.models)
        return f"is of '{anchor.name}', which may not sign {model}: it may sign {allowed}"
    return ""


def _signature(path: Path, named: bool) -> Signature:
    if not (path.exists() or path.is_symlink()):
        if named:
            raise UsageError("no such signature", where=str(path), hint="check the path of --signature")
        raise refusal(f"is not signed: there is no {SIGNATURE} in it", str(path.parent))
    if path.is_symlink() and not named:
        raise refusal("is a symbolic link", str(path))
    try:
        return parse_signature(read_regular(path, MOST_BYTES), str(path))
    except UsageError as error:
        raise refusal(error.what, str(path)) from error


def _makers(signed: Signature, trusted: Sequence[Anchor], at: datetime, where: str) -> list[_Maker]:
    """What is trusted and made this signature: one key may stand in several entries, each for other models."""
    if signed.certificates:
        return _by_certificate(signed, trusted, at, where)
    content = authenticated(signed.payload)
    known = [(anchor, anchor.key, keys.fingerprint(anchor.key)) for anchor in trusted if anchor.key is not None]
    meant = [entry for entry in known if signed.hint in ("", entry[2])]
    makers = [
        _Maker(anchor, f"'{anchor.name}', key sha256:{print_}")
        for anchor, key, print_ in meant
        if keys.holds(key, signed.signature, content)
    ]
    if makers:
        return makers
    if signed.hint and meant:
        raise refusal(f"names the key of '{meant[0][0].name}', which did not sign what is in it", where)
    said = ", ".join(sorted(f"'{anchor.name}'" for anchor, _, _ in known)) or "no key, only certificates"
    signer = f"of key sha256:{signed.hint[:64]}" if signed.hint else "of an unnamed key"
    raise refusal(f"is {signer}, which is not trusted: trusted is {said}", where)


def _by_certificate(signed: Signature, trusted: Sequence[Anchor], at: datetime, where: str) -> list[_Maker]:
    makers, reasons = [], []
    for anchor in trusted:
        if not anchor.certificates:
            continue
        try:
            leaf = keys.signer_of(signed.certificates, anchor.certificates, at)
        except keys.NotTrusted as error:
            reasons.append(f"'{anchor.name}': {error}")
            continue
        names = keys.names_of(leaf)
        if not keys.holds(leaf.public_key(), signed.signature, authenticated(signed.payload)):  # type: ignore[arg-type]
            raise refusal(f"names the certificate of {names[0]}, whose key did not sign what is in it", where)
        if anchor.speaks_for(names):
            makers.append(_Maker(anchor, f"{', '.join(names)} by '{anchor.name}'"))
        else:
            reasons.append(f"'{anchor.name}': it is trusted for {', '.join(anchor.signers)}, not {', '.join(names)}")
    if not makers:
        said = "; ".join(reasons) or "only keys are trusted, and a certificate made it"
        raise refusal(f"is of nobody trusted: {said}", where)
    return makers


def files_in(folder: Path, signature: Path) -> dict[str, Path]:
    """Every file of a folder by its path in it, all but the signature.

    Raises:
        BundleError: it holds something else than files and folders, or more than any bundle.
    """
    left_out = signature.absolute()
    return {path.relative_to(folder).as_posix(): path for path in _regular(folder) if path.absolute() != left_out}


def _regular(folder: Path) -> Iterator[Path]:
    waiting, count = [folder], 0
    while waiting:
        with os.scandir(waiting.pop()) as entries:
            for entry in entries:
                count += 1
                if count > _MOST_ENTRIES:
                    raise refusal(f"holds more than {_MOST_ENTRIES:,} files", str(folder))
                mode = entry.stat(follow_symlinks=False).st_mode
                if stat.S_ISDIR(mode):
                    waiting.append(Path(entry.path))
                elif stat.S_ISREG(mode):
                    yield Path(entry.path)
                else:
                    raise refusal("is a symbolic link" if stat.S_ISLNK(mode) else "is no regular file", entry.path)


def _faults(found: set[str], signed: set[str]) -> list[str]:
    """What the names alone tell: a file that nobody signed may be of any size, and is not read."""
    faults = [f"{name} was not signed" for name in sorted(found - signed)]
    faults += [f"{name} is missing, which was signed" for name in sorted(signed - found)]
    return [*faults[:8], f"and {len(faults) - 8} more"] if faults[8:] else faults


def _manifest(folder: Path, statement: Statement, signature: Path) -> Manifest:
    """The manifest, read once, and parsed only where it and the names of all files are those that were signed."""
    path, where = folder / NAME, str(signature)
    if NAME not in statement.files:
        raise refusal(f"was made over a folder without {NAME}, so it is the signature of no bundle", where)
    faults = _faults(set(files_in(folder, signature)), set(statement.files))
    try:
        raw = read_regular(path, _MOST_MANIFEST)
    except UsageError as error:
        raise BundleError("; ".join(faults) or error.what, where=str(folder), hint=error.hint) from error
    if sha256_bytes(raw) != statement.files[NAME]:
        said = "; ".join([f"{NAME} is not the file that was signed", *faults])
        what = f"is the signature of another bundle (signed as {statement.name!r}), or this one was sealed again since"
        raise refusal(f"{what}: {said}", where)
    if faults:
        raise refusal("; ".join(faults), str(folder))
    return parse(raw, str(path))


def _refuse_changed(folder: Path, manifest: Manifest, statement: Statement) -> None:
    """Compare each file with what was signed: first its size, which the manifest tells, so none is read for ever."""
    if strange := statement.files.keys() ^ {*manifest.files, NAME}:
        raise refusal(f"{min(strange)} was signed and is not in the manifest, or the other way round", str(folder))
    for name, facts in manifest.files.items():
        path = folder / name
        if path.stat().st_size != facts.size or sha256_file(path) != statement.files[name]:
            raise refusal(f"{name} is not the file that was signed", str(folder))


def require_digest(manifest: Manifest, wanted: str, where: str) -> None:
    """Compare a bundle's digest with the one that somebody expects, with or without `sha256:` before it.

    Raises:
        UsageError: what is expected is no digest.
        BundleError: it is another bundle.
    """
    digest = wanted.removeprefix("sha256:").lower()
    if len(digest) != 64 or set(digest) - set("0123456789abcdef"):
        hint = "give the whole digest that `release` and `inspect` print: sha256:..."
        raise UsageError("not a sha256", where=f"--digest {wanted}", hint=hint)
    if manifest.digest != digest:
        raise refusal(f"is another bundle: its digest is sha256:{manifest.digest}, expected was sha256:{digest}", where)

"""Sign a bundle: every file of it, by a key and where there is one with its certificate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from exporter.base.errors import UsageError
from exporter.base.files import sha256_file, write_bytes
from exporter.bundle.manifest import SIGNATURE
from exporter.bundle.open import Bundle, released_spec
from exporter.bundle.trust import keys
from exporter.bundle.trust.statement import Signature, authenticated, statement, written
from exporter.bundle.trust.verify import files_in


@dataclass(frozen=True)
class Signer:
    """The files of whoever signs: a private key; a certificate of it and those above, where there are any."""

    key: Path
    certificate: Path | None = None
    chain: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Signed:
    """What was signed, and where the signature lies."""

    path: Path
    files: int
    signer: str


def sign(bundle: Bundle, signer: Signer, into: Path | None = None, *, replace: bool = False) -> Signed:
    """Write the signature of a bundle that was opened, which is to say checked, into it or to a file beside it.

    Raises:
        BundleError: it is not what a release of its spec writes.
        UsageError: the key or a certificate is none, or they do not belong together; or there is a signature already.
        EnvironmentLacks: the library that reads keys is not installed.
    """
    keys.require_library()
    released_spec(bundle)
    place = _place(bundle, into, replace)
    key = keys.private_key(signer.key)
    chain = keys.certificates([signer.certificate, *signer.chain]) if signer.certificate else ()
    if chain and keys.fingerprint(chain[0].public_key()) != keys.fingerprint(key.public_key()):  # type: ignore[arg-type]
        hint = "name as --certificate the one that was issued for this key"
        raise UsageError(f"is not the certificate of {signer.key}", where=str(signer.certificate), hint=hint)
    files = {name: sha256_file(path) for name, path in files_in(bundle.folder, place).items()}
    inside = place.absolute().parent == bundle.folder.absolute()
    payload = statement(bundle.folder.absolute().name, files, (place.name,) if inside else ())
    signed = Signature(
        payload,
        keys.signature(key, authenticated(payload)),
        keys.fingerprint(key.public_key()),
        tuple(map(keys.der, chain)),
    )
    write_bytes(place, written(signed))
    who = keys.names_of(chain[0])[0] if chain else f"key sha256:{signed.hint}"
    return Signed(place, len(files), who)


def _place(bundle: Bundle, into: Path | None, replace: bool) -> Path:
    place = into or bundle.folder / SIGNATURE
    inside = bundle.folder.resolve() in place.resolve().parents
    if inside and place.resolve() != bundle.folder.resolve() / SIGNATURE:
        hint = f"leave --signature out (it is {SIGNATURE} in it then), or name a file elsewhere"
        raise UsageError("a bundle holds no file of this name", where=str(place), hint=hint)
    if (place.exists() or place.is_symlink()) and not replace:
        raise UsageError("is signed already", where=str(place), hint="give --replace to sign it anew")
    return place

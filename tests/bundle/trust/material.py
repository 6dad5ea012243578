"""Keys and certificates of the tests, made anew in each run, and bundles that are signed, changed or exchanged."""

from __future__ import annotations

import atexit
import functools
import json
import shutil
import tempfile
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from exporter.base.files import sha256_file
from exporter.bundle.manifest import sealed
from exporter.bundle.open import open_bundle
from exporter.bundle.trust.sign import Signer
from exporter.bundle.trust.sign import sign as sign_bundle
from tests.command import ROOT, STORED, Done, exporter
from tests.conftest import working_folder
from tests.described import small
from tests.documents import state_again

RECORDED = ROOT / "tests/data/trust"
#: What makes a whole verify short: one engine, one case.
QUICK = ("--engines", "onnxruntime", "--case", "batch=1", "--without", "process,metric", "--quiet")


@dataclass(frozen=True)
class Pair:
    """A private and a public key in files, and where there is one the certificate."""

    private: Path
    public: Path
    certificate: Path
    key: ec.EllipticCurvePrivateKey


def make_key(folder: Path, name: str, curve: ec.EllipticCurve | None = None, password: str = "") -> Pair:
    key = ec.generate_private_key(curve or ec.SECP256R1())
    pair = Pair(folder / f"{name}.pem", folder / f"{name}.pub", folder / f"{name}.crt", key)
    lock = BestAvailableEncryption(password.encode()) if password else NoEncryption()
    pair.private.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, lock))
    pair.public.write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    return pair


@dataclass(frozen=True)
class Wanted:
    """What a certificate shall say; days count from now."""

    first: int = -10
    last: int = 10
    is_ca: bool = False
    usage: str = "digital_signature"
    mail: str = ""


def certify(pair: Pair, name: str, wanted: Wanted, issuer: Pair | None = None) -> x509.Certificate:
    """Write the certificate of a key, issued by another or by itself."""
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    above = x509.load_pem_x509_certificate(issuer.certificate.read_bytes()) if issuer else None
    signer = (issuer or pair).key
    now = datetime.now(timezone.utc)
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(above.subject if above else subject)
        .public_key(pair.key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + timedelta(days=wanted.first))
        .not_valid_after(now + timedelta(days=wanted.last))
        .add_extension(x509.BasicConstraints(wanted.is_ca, None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(pair.key.public_key()), critical=False)
        .add_extension(x509.AuthorityKeyIdentifier.from_issuer_public_key(signer.public_key()), critical=False)
    )
    if wanted.usage == "digital_signature":
        sign, issue = not wanted.is_ca, wanted.is_ca
        usage = x509.KeyUsage(sign, False, False, False, False, issue, issue, False, False)
        builder = builder.add_extension(usage, critical=True)
    elif wanted.usage == "code_signing":
        builder = builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CODE_SIGNING]), critical=False)
    if wanted.mail:
        builder = builder.add_extension(x509.SubjectAlternativeName([x509.RFC822Name(wanted.mail)]), critical=False)
    certificate = builder.sign(signer, hashes.SHA256())
    pair.certificate.write_bytes(certificate.public_bytes(Encoding.PEM))
    return certificate


def chain_of(folder: Path, root: Wanted, leaf: Wanted, prefix: str = "") -> tuple[Pair, Pair, Pair]:
    """A root, one certificate below it, and the signer's below that."""
    top, middle, last = (make_key(folder, f"{prefix}{name}") for name in ("root", "middle", "leaf"))
    certify(top, "the root", Wanted(root.first, root.last, is_ca=True))
    certify(middle, "the middle", Wanted(is_ca=True), top)
    certify(last, "the release", leaf, middle)
    return top, middle, last


def bundle_in(folder: Path, name: str = "bundle") -> Path:
    return Path(shutil.copytree(STORED, folder / name))


def sign(bundle: Path, pair: Pair, *options: str | Path) -> Done:
    return exporter("sign", bundle, "--key", pair.private, *options, cwd=bundle.parent)


def signed(bundle: Path, pair: Pair, chain: tuple[Path, ...] = (), *, replace: bool = False) -> Path:
    """The same in this process, for tests that are about what comes after."""
    signer = Signer(pair.private, pair.certificate if chain else None, chain)
    sign_bundle(open_bundle(bundle), signer, replace=replace)
    return bundle


def verify(bundle: Path, *options: str | Path) -> Done:
    return exporter("verify", bundle, *options, *QUICK, cwd=bundle.parent)


@functools.cache
def _other() -> Path:
    """A released bundle of another model, under the name and version of the stored one."""
    place = Path(tempfile.mkdtemp(prefix="other-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    work = working_folder(place / "work")
    keys = {"name": "pictures", "version": "1.0.0", "formats": ["onnx"], "engines": ["onnxruntime"]}
    (work / "other.yaml").write_text(json.dumps(small("models.sound:mlp", weights="factory", **keys)))
    done = exporter("release", "other.yaml", "--quiet", cwd=work)
    assert done.code == 0, done.err
    return work / "artifacts/pictures/1.0.0"


def with_other_goldens(folder: Path) -> Path:
    """A bundle of the name and version of the signed one, with other weights and goldens that fit them: it verifies."""
    return Path(shutil.copytree(_other(), folder / "other"))


def reseal(bundle: Path, content: dict[str, object]) -> Path:
    """Write the manifest of what lies in a folder, with its digests, as whoever wants to be believed would."""
    state_again(bundle, content)
    files = {
        path.relative_to(bundle).as_posix(): {"sha256": sha256_file(path), "size": path.stat().st_size}
        for path in sorted(bundle.rglob("*"))
        if path.is_file() and path.name not in ("manifest.json", "model.sig")
    }
    (bundle / "manifest.json").write_bytes(sealed({**content, "files": files}))
    return bundle

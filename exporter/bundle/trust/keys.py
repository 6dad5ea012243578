"""Keys and certificates: the one file that knows the library `cryptography`.

Elliptic curves P-256, P-384 and P-521, each with the hash of its size, as OpenSSF Model Signing takes them.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exporter.base.distribution import how_to_install
from exporter.base.errors import EnvironmentLacks, UsageError
from exporter.base.files import read_regular

if TYPE_CHECKING:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec

#: The password of an encrypted private key; never on a command line, which other users of the machine can read.
PASSWORD = "EXPORTER_KEY_PASSWORD"  # noqa: S105 - the name of a variable
_MOST_BYTES = 1 << 20
_CURVES = {"secp256r1": "SHA256", "secp384r1": "SHA384", "secp521r1": "SHA512"}
_MAKE = "openssl ecparam -name prime256v1 -genkey -noout -out key.pem; openssl ec -in key.pem -pubout -out key.pub"


def require_library() -> None:
    """Make sure that signatures can be made and checked here.

    Raises:
        EnvironmentLacks: `cryptography` is not installed.
    """
    try:
        import cryptography  # noqa: F401
    except ImportError as error:
        raise EnvironmentLacks(
            "cryptography is not installed", where="signatures", hint=how_to_install("sign")
        ) from error


def private_key(path: Path) -> ec.EllipticCurvePrivateKey:
    """The private key in a PEM file.

    Raises:
        UsageError: it is none, is encrypted and its password is not in the environment, or of another kind.
    """
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization

    password = os.environ.get(PASSWORD)
    try:
        key = serialization.load_pem_private_key(
            read_regular(path, _MOST_BYTES), password.encode() if password else None
        )
    except TypeError as error:  # a password is missing, or given for a key that has none
        hint = f"set {PASSWORD} for an encrypted key, and for no other"
        raise UsageError(str(error).lower().rstrip("."), where=str(path), hint=hint) from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise UsageError("not a private key as PEM, or another password", where=str(path), hint=_MAKE) from error
    _refuse_curve(key.public_key(), path)
    return key  # type: ignore[return-value]


def _refuse_curve(key: Any, path: Path) -> None:
    from cryptography.hazmat.primitives.asymmetric import ec

    if not isinstance(key, ec.EllipticCurvePublicKey) or key.curve.name not in _CURVES:
        hint = f"use a key on P-256, P-384 or P-521: {_MAKE}"
        raise UsageError("not a key that models are signed with", where=str(path), hint=hint)


def signature(key: ec.EllipticCurvePrivateKey, content: bytes) -> bytes:
    """Sign some bytes, by the hash of the key's size."""
    return key.sign(content, _ecdsa(key.public_key()))


def holds(key: ec.EllipticCurvePublicKey, signed: bytes, content: bytes) -> bool:
    """Whether this key signed these bytes."""
    from cryptography.exceptions import InvalidSignature

    try:
        key.verify(signed, content, _ecdsa(key))
    except InvalidSignature:
        return False
    return True


def _ecdsa(key: ec.EllipticCurvePublicKey) -> ec.ECDSA:
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec

    return ec.ECDSA(getattr(hashes, _CURVES[key.curve.name])())


def fingerprint(key: ec.EllipticCurvePublicKey) -> str:
    """Hex sha256 of the public key as PEM, which a signature names its key by."""
    from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

    return hashlib.sha256(key.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)).hexdigest()


def public_material(path: Path) -> tuple[tuple[ec.EllipticCurvePublicKey, ...], tuple[x509.Certificate, ...]]:
    """What a PEM file may be trusted for: one public key, or certificates.

    Raises:
        UsageError: it holds neither, or a private key.
    """
    from cryptography import x509
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization

    content = read_regular(path, _MOST_BYTES)
    if b"PRIVATE KEY" in content:
        hint = "hand out the public key: openssl ec -in key.pem -pubout -out key.pub"
        raise UsageError("holds a private key, which stays with whoever signs", where=str(path), hint=hint)
    try:
        if b"BEGIN CERTIFICATE" in content:
            return (), tuple(x509.load_pem_x509_certificates(content))
        key = serialization.load_pem_public_key(content)
    except (ValueError, UnsupportedAlgorithm) as error:
        hint = "name a public key or certificates as PEM, or a trust file that ends in .yaml"
        raise UsageError("neither a public key nor a certificate", where=str(path), hint=hint) from error
    _refuse_curve(key, path)
    return (key,), ()  # type: ignore[return-value]


def certificates(paths: Sequence[Path]) -> tuple[x509.Certificate, ...]:
    """The certificates in PEM files, in their order; raises UsageError where a file holds none."""
    loaded: list[x509.Certificate] = []
    for path in paths:
        _, inside = public_material(path)
        if not inside:
            raise UsageError("holds no certificate", where=str(path), hint="name a certificate as PEM")
        loaded += inside
    return tuple(loaded)


def der(certificate: x509.Certificate) -> bytes:
    """A certificate as bytes."""
    from cryptography.hazmat.primitives.serialization import Encoding

    return certificate.public_bytes(Encoding.DER)


class NotTrusted(Exception):
    """A chain of certificates does not reach what is trusted; the text says why."""


def signer_of(chain: Sequence[bytes], trusted: Sequence[x509.Certificate], at: datetime) -> x509.Certificate:
    """The signer's certificate in a chain (DER) that leads from it to a trusted one.

    The chain has to be valid at the moment of checking: nothing else says when the signature was made.

    Raises:
        NotTrusted: no chain leads to a trusted certificate, one of it is not valid at that time, or the signer's is not
            for signatures.
    """
    from cryptography import x509
    from cryptography.x509.verification import (
        Criticality,
        ExtensionPolicy,
        PolicyBuilder,
        Store,
        VerificationError,
    )

    try:
        leaf, *loaded = [x509.load_der_x509_certificate(raw) for raw in chain]
        _refuse_usage(leaf)
        _refuse_times(leaf, at)
    except (ValueError, TypeError, x509.DuplicateExtension) as error:
        raise NotTrusted(f"a certificate in it cannot be read ({error})") from error
    try:
        above = ExtensionPolicy.permit_all().require_present(x509.BasicConstraints, Criticality.AGNOSTIC, None)
        builder = PolicyBuilder().store(Store(list(trusted))).time(at)
        builder = builder.extension_policies(ca_policy=above, ee_policy=ExtensionPolicy.permit_all())
        builder.build_client_verifier().verify(leaf, loaded)
    except VerificationError as error:
        raise NotTrusted(f"no valid chain leads from {leaf.subject.rfc4514_string()} to what is trusted") from error
    return leaf


def _refuse_usage(leaf: x509.Certificate) -> None:
    from cryptography import x509
    from cryptography.hazmat.primitives.asymmetric import ec

    name = leaf.subject.rfc4514_string()
    key = leaf.public_key()
    if not isinstance(key, ec.EllipticCurvePublicKey) or key.curve.name not in _CURVES:
        raise NotTrusted(f"the key of {name} is not one that models are signed with")
    try:
        if leaf.extensions.get_extension_for_class(x509.KeyUsage).value.digital_signature:
            return
    except x509.ExtensionNotFound:
        pass
    try:
        usages = leaf.extensions.get_extension_for_class(x509.ExtendedKeyUsage).value
    except x509.ExtensionNotFound:
        usages = x509.ExtendedKeyUsage([x509.ObjectIdentifier("1.2.3")])
    if x509.oid.ExtendedKeyUsageOID.CODE_SIGNING not in usages:
        raise NotTrusted(f"the certificate of {name} is not one for signatures (its key usage)")


def _refuse_times(leaf: x509.Certificate, at: datetime) -> None:
    name = leaf.subject.rfc4514_string()
    if at > leaf.not_valid_after_utc:
        raise NotTrusted(f"the certificate of {name} expired at {leaf.not_valid_after_utc:%Y-%m-%d %H:%M} UTC")
    if at < leaf.not_valid_before_utc:
        raise NotTrusted(
            f"the certificate of {name} is not valid before {leaf.not_valid_before_utc:%Y-%m-%d %H:%M} UTC"
        )


def names_of(leaf: x509.Certificate) -> tuple[str, ...]:
    """What a certificate calls its owner: the subject, and its alternative names (addresses, URIs, hosts)."""
    from cryptography import x509

    try:
        alternative = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return (leaf.subject.rfc4514_string(),)
    kinds: tuple[Any, ...] = (x509.RFC822Name, x509.UniformResourceIdentifier, x509.DNSName)
    return (leaf.subject.rfc4514_string(), *(name for kind in kinds for name in alternative.get_values_for_type(kind)))

"""What a signature says, byte for byte as OpenSSF Model Signing 1.0 writes and reads it.

A Sigstore bundle (JSON) holds a DSSE envelope; its payload is an in-toto statement that names every file of the folder
with its sha256. The stock command `model_signing` (1.1.1) verifies what is written here, and the other way round.
Its package is not used: it imports pyopenssl, which it does not declare, brings 21 more packages to a machine that only
verifies, takes an expired certificate for a valid one, and reads a signature file of any size.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from exporter.base.bounded_json import parse_json
from exporter.base.errors import BundleError
from exporter.base.files import safe_relative

#: Bytes of a signature file: 200 for each file that it names.
MOST_BYTES = 8 << 20
_MEDIA = "application/vnd.dev.sigstore.bundle.v0.3+json"
_PAYLOAD = "application/vnd.in-toto+json"
_STATEMENT = "https://in-toto.io/Statement/v1"
_PREDICATE = "https://model_signing/signature/v1.0"
#: What the stock command leaves out of every folder by default, and so names in a signature of its own.
_IGNORED = (".git", ".gitattributes", ".github", ".gitignore")
_HINT = "do not use this bundle; ask whoever signs for a fresh one"


def refusal(what: str, where: str) -> BundleError:
    """The error of a signature that does not hold."""
    return BundleError(what, where=where, hint=_HINT)


@dataclass(frozen=True)
class Signature:
    """A signature file taken apart: the payload, the signature over it, and who signed. Nothing of it is proven.

    `hint` is the sha256 of the signer's public key, as PEM; `certificates` (DER) are the signer's and those above it.
    """

    payload: bytes
    signature: bytes
    hint: str = ""
    certificates: tuple[bytes, ...] = ()


def authenticated(payload: bytes) -> bytes:
    """The bytes that are signed: DSSE's pre-authentication encoding."""
    return b"DSSEv1 %d %s %d %s" % (len(_PAYLOAD), _PAYLOAD.encode(), len(payload), payload)


def statement(name: str, files: Mapping[str, str], ignored: tuple[str, ...]) -> bytes:
    """The statement on a folder: the sha256 of each file by its path; `ignored` paths are left out by verifiers."""
    names = sorted(files, key=lambda path: PurePosixPath(path).parts)
    content = {
        "_type": _STATEMENT,
        "subject": [{"name": name, "digest": {"sha256": _root([files[path] for path in names])}}],
        "predicateType": _PREDICATE,
        "predicate": {
            "serialization": {
                "method": "files",
                "hash_type": "sha256",
                "allow_symlinks": False,
                "ignore_paths": [*ignored, *_IGNORED],
            },
            "resources": [{"name": path, "algorithm": "sha256", "digest": files[path]} for path in names],
        },
    }
    return json.dumps(content, indent=2, ensure_ascii=False).encode()


def _root(digests: list[str]) -> str:
    return hashlib.sha256(b"".join(map(bytes.fromhex, digests))).hexdigest()


def written(signed: Signature) -> bytes:
    """The signature file: a Sigstore bundle of version 0.3."""
    chain = [{"rawBytes": _base64(certificate)} for certificate in signed.certificates]
    signer = {"x509CertificateChain": {"certificates": chain}} if chain else {"publicKey": {"hint": signed.hint}}
    content = {
        "mediaType": _MEDIA,
        "verificationMaterial": {**signer, "tlogEntries": []},
        "dsseEnvelope": {
            "payload": _base64(signed.payload),
            "payloadType": _PAYLOAD,
            "signatures": [{"sig": _base64(signed.signature), "keyid": ""}],
        },
    }
    return json.dumps(content, separators=(",", ":")).encode()


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def parse(raw: bytes, where: str) -> Signature:
    """Take a signature file apart; nothing of it is proven by that.

    Raises:
        BundleError: it is none, or one of another kind, which is named.
    """
    content = _parsed(raw, where)
    try:
        if content["mediaType"] != _MEDIA:
            raise refusal(f"is of the kind {content['mediaType']!r}, not a Sigstore bundle of version 0.3", where)
        material, envelope = content["verificationMaterial"], content["dsseEnvelope"]
        if envelope["payloadType"] != _PAYLOAD:
            raise refusal(f"signs {envelope['payloadType']!r}, not an in-toto statement", where)
        if "certificate" in material:
            raise refusal("is keyless: verify it with `model_signing verify sigstore`, which asks its log", where)
        (entry,) = envelope["signatures"]
        chain = material.get("x509CertificateChain", {}).get("certificates", [])
        return Signature(
            _bytes(envelope["payload"]),
            _bytes(entry["sig"]),
            str(material.get("publicKey", {}).get("hint") or ""),
            tuple(_bytes(one["rawBytes"]) for one in chain),
        )
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise refusal(f"is no signature of a model ({type(error).__name__})", where) from error


def _bytes(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from error


def _parsed(raw: bytes, where: str) -> Any:
    """The JSON in some bytes; raises BundleError where there is none, or more than any signature needs."""
    try:
        return parse_json(raw)
    except ValueError as error:
        raise refusal(f"is damaged: {error}", where) from error


@dataclass(frozen=True)
class Statement:
    """A statement whose signature holds: what the folder was called, and the sha256 of each file in it."""

    name: str
    digest: str
    files: Mapping[str, str]


def read_statement(payload: bytes, where: str) -> Statement:
    """The statement in a payload whose signature was proven before.

    Raises:
        BundleError: it is none of this kind, or contradicts itself.
    """
    content = _parsed(payload, where)
    try:
        (subject,) = content["subject"]
        predicate, serialization = content["predicate"], content["predicate"]["serialization"]
        if (content["_type"], content["predicateType"]) != (_STATEMENT, _PREDICATE):
            raise refusal(f"states {content['predicateType']!r}, not what a model is made of", where)
        if (serialization["method"], serialization["hash_type"]) != ("files", "sha256"):
            said = f"{serialization['method']} by {serialization['hash_type']}"
            raise refusal(f"was made over {said}: sign whole files by sha256, as is the default", where)
        resources = [(one["name"], one["algorithm"], one["digest"]) for one in predicate["resources"]]
        files = {safe_relative(name, where).as_posix(): digest for name, _, digest in resources}
        root, name = subject["digest"]["sha256"], subject["name"]
        if len(files) < len(resources) or {algorithm for _, algorithm, _ in resources} != {"sha256"}:
            raise refusal("names a file twice, or by another digest than sha256", where)
        if root != _root([digest for _, _, digest in resources]):
            raise refusal("contradicts itself: its digest is not that of the files that it names", where)
        return Statement(str(name), str(root), files)
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise refusal(f"signs no statement on a model ({type(error).__name__})", where) from error

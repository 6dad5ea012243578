"""Statements that a trusted key signed and that say something else than a bundle's files; signatures of other kinds."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from exporter.base.errors import BundleError
from exporter.bundle.open import open_bundle
from exporter.bundle.trust import keys
from exporter.bundle.trust.policy import Anchor, anchors
from exporter.bundle.trust.statement import Signature, authenticated, parse, written
from exporter.bundle.trust.verify import verify
from exporter.deploy.transfer.packed import pack, unpack
from tests.bundle.trust.material import Pair, bundle_in, make_key, signed


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Pair]:
    folder = tmp_path_factory.mktemp("statement")
    key = make_key(folder, "release")
    return signed(bundle_in(folder), key), key


def trusted(pair: Pair) -> tuple[Anchor, ...]:
    return anchors([pair.public])


def statement_of(bundle: Path) -> Any:
    return json.loads(parse((bundle / "model.sig").read_bytes(), "").payload)


def signed_anew(place: tuple[Path, Pair], statement: Any) -> Path:
    """The statement under a genuine signature of the trusted key, in a file beside the bundle."""
    bundle, pair = place
    payload = statement if isinstance(statement, bytes) else json.dumps(statement).encode()
    made = Signature(payload, keys.signature(pair.key, authenticated(payload)), keys.fingerprint(pair.key.public_key()))
    path = bundle.parent / "other.sig"
    path.write_bytes(written(made))
    return path


def check(place: tuple[Path, Pair], statement: Any) -> None:
    bundle, pair = place
    signature = bundle / "model.sig"
    genuine = signature.read_bytes()
    signature.write_bytes(signed_anew(place, statement).read_bytes())
    try:
        verify(bundle, trusted(pair))
    finally:
        signature.write_bytes(genuine)


def test_the_genuine_statement_holds_when_it_is_signed_anew(place: tuple[Path, Pair]) -> None:
    """What the others below differ from by little."""
    assert check(place, statement_of(place[0])) is None


def _resources(statement: Any) -> Any:
    return statement["predicate"]["resources"]


CHANGES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "shards": (lambda s: s["predicate"]["serialization"].update(method="shards"), "sign whole files by sha256"),
    "blake2b": (lambda s: s["predicate"]["serialization"].update(hash_type="blake2b"), "sign whole files by sha256"),
    "one by blake2b": (lambda s: _resources(s)[0].update(algorithm="blake2b"), "another digest than sha256"),
    "another predicate": (lambda s: s.update(predicateType="https://slsa.dev/provenance/v1"), "not what a model is"),
    "another statement": (lambda s: s.update(_type="https://in-toto.io/Statement/v0.1"), "not what a model is"),
    "two subjects": (lambda s: s["subject"].append(s["subject"][0]), "no statement on a model"),
    "no subject": (lambda s: s["subject"].clear(), "no statement on a model"),
    "no predicate": (lambda s: s.pop("predicate"), "no statement on a model"),
    "resources of text": (lambda s: s["predicate"].update(resources="abc"), "no statement on a model"),
    "a file twice": (lambda s: _resources(s).append(_resources(s)[0]), "names a file twice"),
    "a path that climbs out": (lambda s: _resources(s)[0].update(name="../bundle/x"), "unsafe path"),
    "an absolute path": (lambda s: _resources(s)[0].update(name="/etc/passwd"), "unsafe path"),
    "a digest that is none": (lambda s: _resources(s)[0].update(digest="xyz"), "no statement on a model"),
    "another root": (lambda s: s["subject"][0]["digest"].update(sha256="0" * 64), "contradicts itself"),
    "a file less": (lambda s: _resources(s).pop(0), "contradicts itself"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_statement_that_says_something_else(name: str, place: tuple[Path, Pair]) -> None:
    change, said = CHANGES[name]
    statement = statement_of(place[0])
    change(statement)
    with pytest.raises(BundleError, match=said):
        check(place, statement)


@pytest.mark.parametrize("payload", [b"", b"[]", b"null", b"{", b'{"a": 1, "a": 2}', b"[" * 50_000, b"\xff"])
def test_a_payload_that_is_no_statement(payload: bytes, place: tuple[Path, Pair]) -> None:
    with pytest.raises(BundleError):
        check(place, payload)


def _file(place: tuple[Path, Pair]) -> Any:
    return json.loads((place[0] / "model.sig").read_bytes())


FILES: dict[str, tuple[Callable[[Any], Any], str]] = {
    "another media type": (lambda f: f.update(mediaType="application/json"), "not a Sigstore bundle"),
    "another payload type": (lambda f: f["dsseEnvelope"].update(payloadType="text/plain"), "not an in-toto statement"),
    "keyless": (lambda f: f["verificationMaterial"].update(certificate={"rawBytes": ""}), "is keyless"),
    "two signatures": (lambda f: f["dsseEnvelope"]["signatures"].append({"sig": ""}), "no signature of a model"),
    "no signature": (lambda f: f["dsseEnvelope"]["signatures"].clear(), "no signature of a model"),
    "no base64": (lambda f: f["dsseEnvelope"].update(payload="*"), "no signature of a model"),
    "no envelope": (lambda f: f.pop("dsseEnvelope"), "no signature of a model"),
    "material of text": (lambda f: f.update(verificationMaterial="x"), "no signature of a model"),
    "another payload": (lambda f: f["dsseEnvelope"].update(payload=base64.b64encode(b"{}").decode()), "did not sign"),
    "an empty signature": (lambda f: f["dsseEnvelope"]["signatures"][0].update(sig=""), "did not sign"),
    "certificates that are none": (
        lambda f: f.update(verificationMaterial={"x509CertificateChain": {"certificates": [{"rawBytes": "AAAA"}]}}),
        "only keys are trusted",
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_a_signature_file_of_another_kind(name: str, place: tuple[Path, Pair], tmp_path: Path) -> None:
    change, said = FILES[name]
    content = _file(place)
    change(content)
    path = tmp_path / "changed.sig"
    path.write_text(json.dumps(content))
    genuine = (place[0] / "model.sig").read_bytes()
    (place[0] / "model.sig").write_bytes(path.read_bytes())
    try:
        with pytest.raises(BundleError, match=said):
            verify(place[0], trusted(place[1]))
    finally:
        (place[0] / "model.sig").write_bytes(genuine)


def test_an_older_signature_names_no_key_and_holds_by_any_that_is_trusted(
    place: tuple[Path, Pair], tmp_path: Path
) -> None:
    content = _file(place)
    content["verificationMaterial"]["publicKey"] = {}
    bundle, pair = place
    genuine = (bundle / "model.sig").read_bytes()
    (bundle / "model.sig").write_text(json.dumps(content))
    try:
        assert verify(bundle, (*trusted(make_key(tmp_path, "other")), *trusted(pair))).files == 15
        with pytest.raises(BundleError, match="of an unnamed key"):
            verify(bundle, trusted(make_key(tmp_path, "third")))
    finally:
        (bundle / "model.sig").write_bytes(genuine)


def test_the_signature_travels_in_one_file(place: tuple[Path, Pair], tmp_path: Path) -> None:
    bundle, pair = place
    pack(open_bundle(bundle), tmp_path / "bundle.tar")
    moved = unpack(tmp_path / "bundle.tar", tmp_path / "elsewhere").folder
    assert moved.name != bundle.name
    assert verify(moved, trusted(pair)).manifest.digest == open_bundle(bundle).manifest.digest
    (moved / "report.html").write_text("")
    with pytest.raises(BundleError, match=r"report\.html is not the file that was signed"):
        verify(moved, trusted(pair))

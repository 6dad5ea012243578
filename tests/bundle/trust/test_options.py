"""Keys, certificates, trust files and options that are wrong: exit 2, and what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from tests.bundle.trust.material import Wanted, bundle_in, certify, make_key, reseal, sign, signed, verify
from tests.command import COMMAND, environment, exporter, refused
from tests.sampling import some
from tests.test_architecture import loaded_by


@pytest.mark.parametrize(
    "curve", some([ec.SECP256R1(), ec.SECP384R1(), ec.SECP521R1()], 3), ids=lambda curve: curve.name
)
def test_every_curve_of_model_signing(curve: ec.EllipticCurve, tmp_path: Path) -> None:
    bundle, key = bundle_in(tmp_path), make_key(tmp_path, "key", curve)
    assert sign(bundle, key).code == 0
    assert verify(bundle, "--trust", key.public).code == 0


def test_a_key_of_another_kind_is_refused(tmp_path: Path) -> None:
    bundle = bundle_in(tmp_path)
    key = rsa.generate_private_key(65537, 2048)
    (tmp_path / "rsa.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    (tmp_path / "rsa.pub").write_bytes(key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo))
    refused(exporter("sign", bundle, "--key", "rsa.pem", cwd=tmp_path), 2, "P-256")
    refused(verify(bundle, "--trust", tmp_path / "rsa.pub"), 2, "P-256")
    odd = make_key(tmp_path, "odd", ec.SECP256K1())
    refused(sign(bundle, odd), 2, "P-256")


def test_an_encrypted_key_takes_its_password_from_the_environment(tmp_path: Path) -> None:
    bundle, key = bundle_in(tmp_path), make_key(tmp_path, "key", password="a secret")
    refused(sign(bundle, key), 2, "EXPORTER_KEY_PASSWORD")
    for password, code in (("another", 2), ("a secret", 0)):
        env = environment(EXPORTER_KEY_PASSWORD=password)
        done = exporter("sign", bundle, "--key", key.private, cwd=tmp_path, env=env)
        assert done.code == code and "a secret" not in done.err + done.out


@pytest.mark.parametrize("content", ["", "no key", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----\n"])
def test_what_is_no_key(content: str, tmp_path: Path) -> None:
    bundle = bundle_in(tmp_path)
    (tmp_path / "k.pem").write_text(content)
    refused(exporter("sign", bundle, "--key", "k.pem", cwd=tmp_path), 2, "not a private key")
    refused(verify(bundle, "--trust", tmp_path / "k.pem"), 2, "neither a public key nor a certificate")


def test_a_private_key_is_nothing_to_trust(tmp_path: Path) -> None:
    key = make_key(tmp_path, "key")
    refused(verify(bundle_in(tmp_path), "--trust", key.private), 2, "holds a private key")


@pytest.mark.parametrize("where", some(["/dev/zero", "/proc/kmsg", "nowhere.pub", "."], 2))
def test_files_that_never_end(where: str, tmp_path: Path) -> None:
    bundle = bundle_in(tmp_path)
    assert verify(bundle, "--trust", where).code == 2
    assert exporter("sign", bundle, "--key", where, cwd=tmp_path).code == 2
    key = make_key(tmp_path, "key")
    done = verify(bundle, "--trust", key.public, "--signature", where)
    assert done.code in (2, 5), done.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "keys"),
        ("keys: []\n", "keys"),
        ("keys:\n  - {}\n", "either a key or a certificate"),
        ("keys:\n  - {key: key.pub, certificate: key.pub}\n", "either a key or a certificate"),
        ("keys:\n  - {key: key.pub, untill: 2027-01-01}\n", "untill"),
        ("keys:\n  - {key: key.pub, until: soon}\n", "until"),
        ("keys:\n  - {key: key.pub, models: []}\n", "models"),
        ("keys:\n  - {key: key.pub, signers: [x]}\n", "signers"),
        ("keys:\n  - {certificate: key.pub}\n", "is not a certificate"),
        ("keys:\n  - {key: nowhere.pub}\n", "nowhere.pub"),
        ("keys:\n  - key: key.pub\n    key: other.pub\n", "twice"),
        ("trusted:\n  - {key: key.pub}\n", "keys"),
    ],
)
def test_a_trust_file_that_says_something_else_trusts_nobody(text: str, said: str, tmp_path: Path) -> None:
    bundle = signed(bundle_in(tmp_path), make_key(tmp_path, "key"))
    (tmp_path / "trust.yaml").write_text(text)
    refused(verify(bundle, "--trust", tmp_path / "trust.yaml"), 2, said)


def test_waivers_count_where_whoever_signed_may_waive(tmp_path: Path) -> None:
    """Nothing is proven by one case, and the bundle waives it: its maker has not asked whoever receives it."""
    bundle, key = bundle_in(tmp_path), make_key(tmp_path, "key")
    content = json.loads((bundle / "manifest.json").read_bytes())
    waiver = {"claim": "onnx/*", "reason": "known and accepted", "until": "2999-01-01"}
    content["waivers"] = content["spec"]["waivers"] = [waiver]
    case = next(case for case in content["cases"] if case["name"] == "batch=1")
    case["outputs"]["scores"]["gate"] = "eager gives other values each time"
    reseal(bundle, content)
    signed(bundle, key)

    def code_of(*options: str | Path) -> int:
        return exporter("verify", bundle, "--engines", "onnxruntime", *options, cwd=tmp_path).code

    assert [code_of(), code_of("--accept-waivers")] == [1, 0]
    for said, code in (("", 1), (", may_waive: false", 1), (", may_waive: true", 0), (", may_waive: 1", 2)):
        (tmp_path / "trust.yaml").write_text(f"keys:\n  - {{key: key.pub{said}}}\n")
        assert code_of("--trust", tmp_path / "trust.yaml") == code, said


def test_sign_refuses_what_would_not_hold(tmp_path: Path) -> None:
    bundle, key, other = bundle_in(tmp_path), make_key(tmp_path, "key"), make_key(tmp_path, "other")
    certify(other, "somebody else", Wanted())
    refused(sign(bundle, key, "--certificate", other.certificate), 2, "is not the certificate of")
    refused(sign(bundle, key, "--certificate", key.public), 2, "holds no certificate")
    refused(sign(bundle, key, "--chain", other.certificate), 2, "--certificate")
    refused(sign(bundle, key, "--signature", bundle / "x.sig"), 2, "no file of this name")
    assert sign(bundle, key).code == 0
    refused(sign(bundle, key), 2, "signed already", "--replace")
    assert sign(bundle, other, "--replace", "--json").json()["files"] == 15
    refused(verify(bundle, "--signature", bundle / "model.sig"), 2, "--trust")
    (bundle / "report.html").write_text("")
    refused(sign(bundle, key, "--replace"), 5, "report.html")


def test_what_the_gate_did_not_let_through_is_not_signed(tmp_path: Path) -> None:
    bundle = bundle_in(tmp_path)
    reseal(bundle, {**json.loads((bundle / "manifest.json").read_bytes()), "verdict": "failed"})
    refused(sign(bundle, make_key(tmp_path, "key")), 1, "verdict is failed")
    assert not (bundle / "model.sig").exists()


def test_help_and_verify_load_no_cryptography() -> None:
    for verb in ("sign", "verify", "doctor", "import"):
        assert not loaded_by(COMMAND[2], verb, "--help") & {"cryptography", "cyclonedx", "numpy", "pydantic"}
    assert "cryptography" not in loaded_by(
        "import exporter.pipeline, exporter.bundle.trust.verify, exporter.bundle.trust.sign"
    )

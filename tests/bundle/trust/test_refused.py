"""`verify --trust` through the command line: what holds exits 0, what does not exits 5 and says why."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.bundle.trust.cases import CASES
from tests.bundle.trust.material import RECORDED, Wanted, bundle_in, chain_of, make_key, reseal, sign, signed, verify
from tests.command import STORED, refused
from tests.sampling import some


@pytest.mark.parametrize("name", CASES)
def test_what_somebody_trusted_signed_holds_and_nothing_else(name: str, tmp_path: Path) -> None:
    case = CASES[name](tmp_path)
    done = verify(case.bundle, "--trust", case.trust)
    if case.said:
        refused(done, 5, *case.said)
        assert not done.out, "nothing was judged"
    else:
        assert done.code == 0, done.err


@pytest.mark.parametrize(
    ("anchor", "signature"),
    some([("key.pub", "stock-key.sig"), ("key384.pub", "stock-key384.sig"), ("root.pem", "stock-certificate.sig")], 2),
)
def test_what_the_stock_command_signed_holds(anchor: str, signature: str, tmp_path: Path) -> None:
    """Recorded: `model_signing` 1.1.1 signed the stored bundle. With another key or file it does not hold."""
    bundle = bundle_in(tmp_path)
    options = ("--trust", RECORDED / anchor, "--signature", RECORDED / signature)
    done = verify(bundle, *options)
    assert done.code == 0, done.err
    other = "key.pub" if anchor != "key.pub" else "root.pem"
    refused(verify(bundle, "--trust", RECORDED / other, *options[2:]), 5, "trusted")
    (bundle / "parity.json").write_text("{}")
    refused(verify(bundle, *options), 5, "parity.json is not the file that was signed")


def test_several_trusted_one_signed(tmp_path: Path) -> None:
    keys = [make_key(tmp_path, name) for name in ("a", "b", "c")]
    bundle = signed(bundle_in(tmp_path), keys[1])
    done = verify(bundle, *(option for key in keys for option in ("--trust", key.public)))
    assert done.code == 0, done.err


def test_one_key_in_two_entries_may_sign_what_either_allows(tmp_path: Path) -> None:
    key = make_key(tmp_path, "release")
    bundle = signed(bundle_in(tmp_path), key)
    trust = tmp_path / "trust.yaml"
    for models, code in (("digits", 5), ("pictures", 0)):
        trust.write_text(
            f"keys:\n  - {{key: release.pub, models: [x]}}\n  - {{key: release.pub, models: [{models}]}}\n"
        )
        assert verify(bundle, "--trust", trust).code == code


def test_the_signer_below_a_root_is_the_one_that_is_meant(tmp_path: Path) -> None:
    _, middle, leaf = chain_of(tmp_path, Wanted(), Wanted(mail="release@models.test"))
    bundle, trust = bundle_in(tmp_path), tmp_path / "trust.yaml"
    assert sign(bundle, leaf, "--certificate", leaf.certificate, "--chain", middle.certificate).code == 0
    for signers, code in (("release@models.*", 0), ("CN=the release", 0), ("CN=the mid*", 5), ("*@other.test", 5)):
        trust.write_text(f"keys:\n  - certificate: root.crt\n    signers: ['{signers}']\n")
        done = verify(bundle, "--trust", trust)
        assert done.code == code, done.err
        if code:
            refused(done, 5, f"trusted for {signers}, not CN=the release, release@models.test")


def test_without_trust_a_signature_is_no_strangers_file_and_proves_nothing(tmp_path: Path) -> None:
    bundle = signed(bundle_in(tmp_path), make_key(tmp_path, "release"))
    (bundle / "model.sig").write_text("no signature at all")
    assert verify(bundle).code == 0


def test_a_bundle_may_be_signed_beside_it(tmp_path: Path) -> None:
    bundle, key = bundle_in(tmp_path), make_key(tmp_path, "release")
    assert sign(bundle, key, "--signature", tmp_path / "bundle.sig").code == 0
    assert not (bundle / "model.sig").exists()
    options = ("--trust", key.public, "--signature", tmp_path / "bundle.sig")
    done = verify(bundle, *options)
    assert done.code == 0, done.err
    (bundle / "onnx/model.onnx").write_bytes(b"")
    refused(verify(bundle, *options), 5, "onnx/model.onnx is not the file")


@pytest.mark.parametrize("prefix", ["sha256:", ""])
def test_the_digest_that_is_expected(prefix: str, tmp_path: Path) -> None:
    bundle = bundle_in(tmp_path)
    digest = json.loads((bundle / "manifest.json").read_bytes())["digest"]
    assert verify(bundle, "--digest", f"{prefix}{digest}").code == 0
    refused(verify(bundle, "--digest", f"{prefix}{digest[::-1]}"), 5, f"its digest is sha256:{digest}")
    refused(verify(bundle, "--digest", f"{prefix}{digest[:-1]}"), 2, "not a sha256")
    other = bundle_in(tmp_path, "other")
    content = json.loads((other / "manifest.json").read_bytes())
    reseal(other, {**content, "notes": [*content["notes"], "sealed once more"]})
    refused(verify(other, "--digest", f"{prefix}{digest}"), 5, "another bundle")


def test_nothing_of_an_untrusted_bundle_is_read(tmp_path: Path) -> None:
    """Not even the manifest: one that would take the reader down is refused for its signature."""
    key = make_key(tmp_path, "release")
    bundle = signed(bundle_in(tmp_path), key)
    (bundle / "manifest.json").write_bytes(b"[" * 100_000)
    refused(verify(bundle, "--trust", key.public), 5, "manifest.json is not the file that was signed")


@pytest.mark.parametrize("kind", ["folder", "pipe", "link"])
def test_a_signature_is_a_regular_file(kind: str, tmp_path: Path) -> None:
    bundle, key = bundle_in(tmp_path), make_key(tmp_path, "release")
    path = bundle / "model.sig"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "link":
        path.symlink_to(signed(bundle_in(tmp_path, "other"), key) / "model.sig")
    else:
        path.mkdir()
    refused(verify(bundle), 5, "model.sig")
    refused(verify(bundle, "--trust", key.public), 5, "model.sig")


def test_a_file_of_any_size_is_not_read(tmp_path: Path) -> None:
    """16 TB that take no disk, under a name that was signed and under one that was not."""
    key = make_key(tmp_path, "release")
    for name in ("report.html", "more.bin"):
        bundle = signed(bundle_in(tmp_path, name), key)
        with (bundle / name).open("wb") as stream:
            stream.truncate(8 << 40)
        refused(verify(bundle, "--trust", key.public), 5, name)


def test_the_stored_bundle_itself_is_not_signed() -> None:
    """Else the recorded signatures would prove less."""
    assert not (STORED / "model.sig").exists()

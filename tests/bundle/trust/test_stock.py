"""The stock command `model_signing` in an environment of its own, asked about each case: does it agree with us?"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.bundle.trust.cases import CASES, Case
from tests.bundle.trust.material import Wanted, bundle_in, chain_of, make_key, sign, verify
from tests.command import exporter

pytestmark = pytest.mark.slow
Stock = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def stock(tmp_path_factory: pytest.TempPathFactory) -> Stock:
    """The command, installed from the package index; it imports pyopenssl, which it does not declare."""
    place = tmp_path_factory.mktemp("stock") / "venv"
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    install = [place / "bin/pip", "install", "--quiet", "model-signing==1.1.1", "pyopenssl"]
    subprocess.run(install, check=True, capture_output=True)

    def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [str(place / "bin/model_signing"), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    return run


def stock_verify(stock: Stock, case: Case) -> subprocess.CompletedProcess[str]:
    anchor = ("--public_key", case.anchor) if case.kind == "key" else ("--certificate_chain", case.anchor)
    return stock("verify", case.kind, case.bundle, "--signature", case.bundle / "model.sig", *anchor)


@pytest.mark.parametrize("name", CASES)
def test_the_stock_command_agrees(name: str, stock: Stock, tmp_path: Path) -> None:
    """It refuses what we refuse, but for days and models, of which it knows nothing; and takes what we take."""
    case = CASES[name](tmp_path)
    theirs, ours = stock_verify(stock, case), verify(case.bundle, "--trust", case.trust)
    assert ours.code == (5 if case.said else 0), ours.err
    accepted = not case.said or case.stock_accepts
    assert (theirs.returncode == 0) is accepted, theirs.stdout + theirs.stderr


def test_what_the_stock_command_signs_holds(stock: Stock, tmp_path: Path) -> None:
    bundle, key = bundle_in(tmp_path), make_key(tmp_path, "key")
    done = stock("sign", "key", bundle, "--private_key", key.private, "--signature", bundle / "model.sig")
    assert done.returncode == 0, done.stderr
    assert verify(bundle, "--trust", key.public).code == 0
    (bundle / "parity.json").write_text("{}")
    assert verify(bundle, "--trust", key.public).code == 5


def test_what_the_stock_command_signs_by_certificate_holds(stock: Stock, tmp_path: Path) -> None:
    bundle = bundle_in(tmp_path)
    top, middle, leaf = chain_of(tmp_path, Wanted(), Wanted())
    signer = ("--private_key", leaf.private, "--signing_certificate", leaf.certificate)
    chain = ("--certificate_chain", middle.certificate, "--signature", bundle / "model.sig")
    assert stock("sign", "certificate", bundle, *signer, *chain).returncode == 0
    assert verify(bundle, "--trust", top.certificate).code == 0


def test_a_signature_beside_the_bundle(stock: Stock, tmp_path: Path) -> None:
    bundle, key = bundle_in(tmp_path), make_key(tmp_path, "key")
    beside = tmp_path / "bundle.sig"
    assert sign(bundle, key, "--signature", beside).code == 0
    options = ("--signature", beside, "--public_key", key.public)
    assert stock("verify", "key", bundle, *options).returncode == 0
    assert exporter("inspect", bundle, cwd=tmp_path).code == 0
    (bundle / "verify.py").write_text("")
    assert stock("verify", "key", bundle, *options).returncode == 1

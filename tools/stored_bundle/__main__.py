"""The bundle that tests/data/bundles keeps of the manifest's version: `python -m tools.stored_bundle`.

It releases `pictures.py` by `pictures.yaml` and puts the bundle into tests/data/bundles/vN, N being `MANIFEST_VERSION`.
A stored bundle of a version that some release wrote is never made anew: operations hold such bundles.

With `--sign PROGRAM`, the path of the stock command `model_signing` 1.1.1 (`pip install model-signing==1.1.1 pyopenssl`
in an environment of its own), it signs that bundle with two keys and a certificate made for it, and puts signatures,
public keys and the root into tests/data/trust. The private keys are not kept.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from cryptography.hazmat.primitives.asymmetric import ec

from exporter.bundle.manifest import MANIFEST_VERSION
from tests.bundle.trust.material import Pair, Wanted, certify, make_key
from tests.command import ROOT, exporter
from tests.steps.pictures import picture

HERE = Path(__file__).parent
STORED = ROOT / f"tests/data/bundles/v{MANIFEST_VERSION}"
TRUST = ROOT / "tests/data/trust"
#: The samples are pictures, inverted, darkened or as they are: the model has to give different answers.
SHADES: tuple[Callable[[Any], Any], ...] = (
    lambda value: 255 - value,
    lambda value: value // 2,
    lambda value: 255 - value,
    lambda value: value,
)
#: Days for which the certificates hold: as long as the tests may run.
_DAYS = 36_500


def released(folder: Path) -> Path:
    """Release the model in a folder, and return the bundle."""
    for name in ("pictures.py", "pictures.yaml"):
        shutil.copy(HERE / name, folder)
    (folder / "samples").mkdir()
    for number, shade in enumerate(SHADES):
        np.save(folder / f"samples/{number}.npy", shade(picture(20 + 5 * number, 30, seed=number)))
    done = exporter("release", "pictures.yaml", "--quiet", cwd=folder)
    if done.code:
        sys.exit(done.out + done.err)
    return folder / "artifacts/pictures/1.0.0"


def sign(program: str, folder: Path) -> None:
    """Sign the stored bundle by the stock command, with a key of each of two curves and with a certificate."""
    bundle = shutil.copytree(STORED, folder / "bundle")

    def run(method: str, signer: Pair, name: str, *more: str | Path) -> None:
        place = ("--signature", TRUST / f"stock-{name}.sig")
        command = [program, "sign", method, bundle, "--private_key", signer.private, *more, *place]
        subprocess.run([str(word) for word in command], check=True)

    for name, curve in (("key", ec.SECP256R1()), ("key384", ec.SECP384R1())):
        pair = make_key(folder, name, curve)
        run("key", pair, name)
        shutil.copy(pair.public, TRUST / f"{name}.pub")
    root, middle, leaf = (make_key(folder, name) for name in ("root", "middle", "leaf"))
    certify(root, "exporter tests root", Wanted(last=_DAYS, is_ca=True))
    certify(middle, "exporter tests middle", Wanted(last=_DAYS, is_ca=True), root)
    certify(leaf, "exporter tests release", Wanted(last=_DAYS), middle)
    chain = ("--signing_certificate", leaf.certificate, "--certificate_chain", middle.certificate)
    run("certificate", leaf, "certificate", *chain)
    shutil.copy(root.certificate, TRUST / "root.pem")


def main() -> None:
    """Make the bundle anew, and its signatures."""
    parser = argparse.ArgumentParser(prog="python -m tools.stored_bundle", description=__doc__)
    parser.add_argument("--sign", metavar="PROGRAM", default="", help="the stock command model_signing")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        bundle = released(Path(place))
        shutil.rmtree(STORED, ignore_errors=True)
        shutil.copytree(bundle, STORED)
        if options.sign:
            sign(options.sign, Path(place))


if __name__ == "__main__":
    main()

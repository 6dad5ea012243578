"""`exporter sign`: say by a key that this bundle is ours."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from exporter.base.errors import ExitCode, UsageError, printable
from exporter.cli.options import Debug, Json
from exporter.cli.run import Ending, Verb
from exporter.cli.screen import unreleased

_Bundle = Annotated[Path, typer.Argument(help="The folder of a bundle that passed.", metavar="BUNDLE")]
_Key = Annotated[Path, typer.Option("--key", help="A private key as PEM, on P-256, P-384 or P-521.", metavar="PEM")]
_Certificate = Annotated[
    Path | None, typer.Option("--certificate", help="The certificate of the key, as PEM.", metavar="PEM")
]
_Chain = Annotated[
    list[Path] | None, typer.Option("--chain", help="Certificates above it; may be repeated.", metavar="PEM")
]
_Signature = Annotated[
    Path | None, typer.Option("--signature", help="The file to write; BUNDLE/model.sig by default.", metavar="FILE")
]
_Replace = Annotated[bool, typer.Option("--replace", help="Replace a signature that is there.")]


def sign(  # noqa: PLR0913 - an option is a parameter
    bundle: _Bundle,
    key: _Key,
    certificate: _Certificate = None,
    chain: _Chain = None,
    signature: _Signature = None,
    replace: _Replace = False,
    as_json: Json = False,
    debug: Debug = False,
) -> Ending:
    """Check BUNDLE's files and sign each of them, as OpenSSF Model Signing does, into BUNDLE/model.sig.

    `exporter verify BUNDLE --trust KEYS` and the command `model_signing verify` check it. The password of an encrypted
    key is taken from EXPORTER_KEY_PASSWORD.
    """
    del debug  # the funnel looks for it
    from exporter.bundle.open import open_bundle
    from exporter.bundle.subject import unfit
    from exporter.bundle.trust.sign import Signer
    from exporter.bundle.trust.sign import sign as sign_bundle

    if chain and certificate is None:
        raise UsageError("--chain is above a certificate", where="--chain", hint="give --certificate as well")
    opened = open_bundle(bundle)
    if why := unfit(opened):
        return unreleased(str(bundle), why, "signed", as_json=as_json)
    signed = sign_bundle(opened, Signer(key, certificate, tuple(chain or ())), signature, replace=replace)
    if as_json:
        told = {"signature": str(signed.path), "files": signed.files, "signer": signed.signer}
        sys.stdout.write(json.dumps({**told, "digest": opened.manifest.digest}) + "\n")
    else:
        sys.stdout.write(printable(f"{signed.path}: {signed.files} files, signed by {signed.signer}") + "\n")
        sys.stdout.write(f"digest sha256:{opened.manifest.digest}\n")
    return ExitCode.PASSED


plugin: Verb = sign

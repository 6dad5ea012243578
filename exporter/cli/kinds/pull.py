"""`exporter pull`: a bundle out of a registry of OCI artifacts, believed by its digest."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from exporter.base.errors import ExitCode, printable
from exporter.cli.options import Debug, Json, Out, PlainHttp
from exporter.cli.run import Verb

_Source = Annotated[str, typer.Argument(help="HOST/NAME@sha256:…, or HOST/NAME:TAG.", metavar="SOURCE")]


def pull(
    source: _Source, out: Out = None, plain_http: PlainHttp = False, as_json: Json = False, debug: Debug = False
) -> ExitCode:
    """Pull SOURCE into the folder --out (artifacts/pulled), and print the folder and the digest of what came.

    By a digest only that bundle is taken, whoever runs the registry; a tag may stand for another one tomorrow.
    """
    del debug  # the funnel looks for it
    from exporter.deploy.transfer.registry import pull

    bundle, digest = pull(source, out or Path("artifacts/pulled"), plain_http=plain_http)
    if as_json:
        told = {"bundle": str(bundle.folder), "artifact": digest, "digest": bundle.manifest.digest}
        sys.stdout.write(json.dumps(told) + "\n")
    else:
        sys.stdout.write(f"{digest}\n{printable(str(bundle.folder))}\n")
    return ExitCode.PASSED


plugin: Verb = pull

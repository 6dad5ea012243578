"""`exporter push`: a bundle into a registry of OCI artifacts."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from exporter.base.errors import ExitCode, printable
from exporter.cli.options import Debug, Json, PlainHttp
from exporter.cli.run import Verb

_Bundle = Annotated[Path, typer.Argument(help="The folder of a bundle.", metavar="BUNDLE")]
_Target = Annotated[str, typer.Argument(help="HOST/NAME[:TAG]; the tag is the version by default.", metavar="TARGET")]


def push(
    bundle: _Bundle, target: _Target, plain_http: PlainHttp = False, as_json: Json = False, debug: Debug = False
) -> ExitCode:
    """Push BUNDLE as one OCI artifact, and print the reference by digest under which `exporter pull` gets just it.

    Logins are those of docker and podman. The same bundle has the same digest in every registry.
    """
    del debug  # the funnel looks for it
    from exporter.deploy.transfer.registry import push

    pushed = push(bundle, target, plain_http=plain_http)
    if as_json:
        sys.stdout.write(json.dumps({"reference": pushed.reference, "digest": pushed.digest}) + "\n")
    else:
        sys.stdout.write(printable(pushed.reference) + "\n")
    return ExitCode.PASSED


plugin: Verb = push

"""`exporter pack`: a bundle as one file, the same bytes for the same bundle."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from exporter.base.errors import ExitCode, printable
from exporter.cli.options import Debug, Json
from exporter.cli.run import Verb

_Bundle = Annotated[Path, typer.Argument(help="The folder of a bundle.", metavar="BUNDLE")]
_Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="NAME-VERSION.tar in this folder by default.", metavar="FILE")
]


def pack(bundle: _Bundle, output: _Output = None, as_json: Json = False, debug: Debug = False) -> ExitCode:
    """Write BUNDLE into one file without times or owners, and print its sha256; `exporter unpack` opens it."""
    del debug  # the funnel looks for it
    from exporter.base.files import safe_relative
    from exporter.bundle.open import open_bundle
    from exporter.deploy.transfer.packed import pack

    opened = open_bundle(bundle)
    # The name is the bundle's word, and must not lead elsewhere.
    name = safe_relative(f"{opened.manifest.name}-{opened.manifest.version}.tar", str(bundle))
    packed = pack(opened, output or Path(name))
    if as_json:
        told = {"file": str(packed.path), "size": packed.size, "sha256": packed.sha256}
        sys.stdout.write(json.dumps({**told, "digest": opened.manifest.digest}) + "\n")
    else:
        sys.stdout.write(printable(f"sha256:{packed.sha256}  {packed.path}") + "\n")
    return ExitCode.PASSED


plugin: Verb = pack

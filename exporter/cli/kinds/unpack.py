"""`exporter unpack`: a packed bundle as a folder, checked before it is there."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from exporter.base.errors import ExitCode, printable
from exporter.cli.options import Debug, Json, Out
from exporter.cli.run import Verb

_Archive = Annotated[Path, typer.Argument(help="A file that `exporter pack` wrote.", metavar="FILE")]


def unpack(archive: _Archive, out: Out = None, as_json: Json = False, debug: Debug = False) -> ExitCode:
    """Open FILE into the folder --out (FILE without its suffix); a bundle that is damaged leaves nothing there."""
    del debug  # the funnel looks for it
    from exporter.deploy.transfer.packed import unpack

    bundle = unpack(archive, out or archive.with_suffix(""))
    if as_json:
        sys.stdout.write(json.dumps({"bundle": str(bundle.folder), "digest": bundle.manifest.digest}) + "\n")
    else:
        sys.stdout.write(printable(str(bundle.folder)) + "\n")
    return ExitCode.PASSED


plugin: Verb = unpack

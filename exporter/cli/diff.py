"""`exporter diff`: what is different between two bundles, and may the new one take the place of the old one?"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from exporter.cli._options import Debug, Json
from exporter.cli._run import Verb
from exporter.errors import ExitCode

_Old = Annotated[Path, typer.Argument(help="The folder of the bundle that is in use.", metavar="OLD")]
_New = Annotated[Path, typer.Argument(help="The folder of the one that shall replace it.", metavar="NEW")]


def diff(old: _Old, new: _New, as_json: Json = False, debug: Debug = False) -> ExitCode:
    """Compare two bundles; exits 1 where NEW did not pass, or a consumer of OLD could not use it unchanged."""
    del debug  # the funnel looks for it
    from exporter.bundle.diff import as_text
    from exporter.bundle.diff import diff as compare

    found = compare(old, new)
    sys.stdout.write(json.dumps(found.to_json(), allow_nan=False) + "\n" if as_json else as_text(found))
    return ExitCode.REFUSED if found.breaks else ExitCode.PASSED


plugin: Verb = diff

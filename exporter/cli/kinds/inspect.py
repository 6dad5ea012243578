"""`exporter inspect`: what a bundle or an artifact file is."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from exporter.base.errors import ExitCode
from exporter.cli.options import Debug, Json
from exporter.cli.run import Verb

_File = Annotated[
    Path,
    typer.Argument(
        help=".pdmodel, .json, .onnx, .pdiparams, .pdparams, .pdopt, .safetensors, or the folder of a bundle or program"
    ),
]


def inspect(path: _File, as_json: Json = False, debug: Debug = False) -> ExitCode:
    """Print what a FILE or BUNDLE is: inputs, outputs, operators, writer, size. Needs no engine."""
    from exporter.bundle.inspect import as_text
    from exporter.bundle.inspect import inspect as tell

    inspected = tell(path)
    sys.stdout.write(json.dumps(inspected.to_json()) + "\n" if as_json else as_text(inspected))
    return ExitCode.PASSED


plugin: Verb = inspect

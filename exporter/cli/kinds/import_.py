"""`exporter import`: the weights of a pickle that Paddle wrote, as safetensors."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from exporter.base.errors import ExitCode, UsageError, printable
from exporter.cli.options import Debug, Json
from exporter.cli.run import Verb

_File = Annotated[Path, typer.Argument(help="A .pdparams or .pdopt file.", metavar="FILE")]
_Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="FILE with the suffix .safetensors by default.", metavar="PATH")
]
_Force = Annotated[bool, typer.Option("--force", help="Replace a file that is there.")]


def import_(
    file: _File, output: _Output = None, force: _Force = False, as_json: Json = False, debug: Debug = False
) -> ExitCode:
    """Write the arrays of FILE, which `paddle.save` wrote, as safetensors under the same names.

    Nothing in FILE is run: it may hold arrays and plain containers alone, and what it asks for besides is named. What
    is no array, as the state of a learning rate's schedule, is listed and left out.
    """
    del debug  # the funnel looks for it
    from exporter.base.pickles.convert import write_safetensors
    from exporter.base.pickles.state import SUFFIXES, is_pickle, read_state

    if file.is_file() and file.suffix in SUFFIXES and not is_pickle(file):
        raise UsageError("is safetensors already", where=str(file), hint="call it .safetensors, and use it as it is")
    path = output or file.with_suffix(".safetensors")
    state = read_state(file)
    if path.exists() and not force:
        raise UsageError("is there already", where=str(path), hint="name another file with -o, or give --force")
    size = write_safetensors(state, path)
    told = {"file": str(path), "tensors": len(state.arrays), "size": size, "left_out": dict(state.others)}
    if as_json:
        sys.stdout.write(json.dumps(told) + "\n")
    else:
        for name, what in state.others.items():
            sys.stdout.write(printable(f"left out: {name}: {what}") + "\n")
        sys.stdout.write(printable(f"{path}: {len(state.arrays):,} tensors, {size:,} bytes") + "\n")
    return ExitCode.PASSED


plugin: Verb = import_

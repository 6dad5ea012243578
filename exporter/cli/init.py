"""`exporter init`: a first spec for a model, with what its code says filled in."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from exporter.cli._options import Debug, Json
from exporter.cli._run import Verb
from exporter.errors import ExitCode, UsageError

_Name = Annotated[str | None, typer.Argument(help="What the spec is called.", metavar="NAME")]
_Model = Annotated[str | None, typer.Option("--model", help="module:factory, or module:Layer.")]
_Recipe = Annotated[bool, typer.Option("--recipe", help="Write recipes/NAME.py as well.")]
_Out = Annotated[Path, typer.Option("--out", help="The folder that holds specs/ and recipes/.", metavar="DIR")]
_Schema = Annotated[bool, typer.Option("--schema", help="Only print the JSON Schema of a spec, for editors.")]


def init(  # noqa: PLR0913 - an option is a parameter
    name: _Name = None,
    model: _Model = None,
    recipe: _Recipe = False,
    out: _Out = Path(),
    schema: _Schema = False,
    as_json: Json = False,
    debug: Debug = False,
) -> ExitCode:
    """Write specs/NAME.yaml, with inputs named as forward's parameters; never over a file that is there."""
    del debug  # the funnel looks for it
    if schema:
        from exporter.spec.schema import schema as make

        sys.stdout.write(json.dumps(make(), indent=None if as_json else 2) + "\n")
        return ExitCode.PASSED
    if name is None or model is None:
        lacking = "NAME" if name is None else "--model"
        hint = "e.g. exporter init digits --model recipes.digits:build"
        raise UsageError(f"{lacking} is missing", where="exporter init", hint=hint)
    from exporter.skeleton import start

    written, found = start(name, model, out, with_recipe=recipe)
    if as_json:
        told = {"written": [str(one) for one in written], "inputs": list(found.required), "known": found.known}
        sys.stdout.write(json.dumps(told) + "\n")
        return ExitCode.PASSED
    for path in written:
        sys.stdout.write(f"{path}\n")
    inputs = f"inputs {', '.join(found.required)}" if found.known else "inputs: the code does not show them"
    sys.stdout.write(f"{inputs}; correct what is marked GUESSED, then run: exporter check {written[0]}\n")
    return ExitCode.PASSED


plugin: Verb = init

"""`exporter publish`: a bundle into a registry of models, where an alias moves to it only if it passed."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Annotated

import typer

from exporter.base.errors import ExitCode, Refusal, printable
from exporter.cli.options import Debug, Json, Store, Waivers
from exporter.cli.run import Ending, Verb

_Bundle = Annotated[Path, typer.Argument(help="The folder of a bundle.", metavar="BUNDLE")]
_To = Annotated[str, typer.Option("--to", help="The kind of registry: mlflow.", metavar="REGISTRY")]
_Name = Annotated[str, typer.Option("--name", help="Name of the model there; by default the bundle's.")]
_Alias = Annotated[str, typer.Option("--alias", help="Move this alias to the version, if the bundle passed.")]


def publish(  # noqa: PLR0913 - an option is a parameter
    bundle: _Bundle,
    to: _To,
    store: Store = "",
    name: _Name = "",
    alias: _Alias = "",
    accept_waivers: Waivers = False,
    as_json: Json = False,
    debug: Debug = False,
) -> Ending:
    """Publish BUNDLE, whole and sealed, as a version with its signature, input example, verdict, metric and lineage.

    The same bundle becomes one version, however often it is published. One that did not pass becomes a version too,
    and exits 1: no alias moves to it. `exporter verify models:/NAME@ALIAS` proves what the registry then gives.
    """
    del debug  # the funnel looks for it
    from exporter.deploy.publish.base import Target, publish

    done = publish(bundle, to, Target(store, name, alias, accept_waivers))
    if as_json:
        sys.stdout.write(json.dumps(done.to_json()) + "\n")
    else:
        what = "published as" if done.new else "was there already, as"
        sys.stdout.write(printable(f"{done.name} {what} version {done.version}, {done.verdict}") + "\n")
        if done.stays:
            kept = f"the alias {done.alias} does not move" if done.alias else "no alias may move to it"
            sys.stdout.write(printable(f"{kept}: {done.stays}") + "\n")
        sys.stdout.write(printable(done.reference) + "\n")
    if done.stays:
        return Refusal(ExitCode.REFUSED, f"exporter verify {shlex.quote(str(bundle))}, which says what does not hold")
    return ExitCode.PASSED


plugin: Verb = publish

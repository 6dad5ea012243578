"""`exporter verify`: is this bundle whole, and does every artifact still compute what eager computed?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from exporter.cli._options import Debug, Device, Json, Quiet, Timeout
from exporter.cli._run import Verb
from exporter.errors import ExitCode

_Bundle = Annotated[Path, typer.Argument(help="The folder of a bundle.", metavar="BUNDLE")]
_Engines = Annotated[str | None, typer.Option("--engines", help="Only these, separated by commas.")]


def verify(  # noqa: PLR0913 - an option is a parameter
    bundle: _Bundle,
    engines: _Engines = None,
    device: Device = None,
    timeout: Timeout = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> ExitCode:
    """Prove BUNDLE again: its integrity, then every output of every case on every engine."""
    from exporter import pipeline
    from exporter.cli._outcome import conclude_report
    from exporter.cli._progress import setting

    with setting(quiet=quiet, timeout=timeout) as how:
        report = pipeline.verify(bundle, how, tuple(engines.split(",")) if engines else (), device)
    return conclude_report(report, as_json=as_json)


plugin: Verb = verify

"""`exporter doctor`: can this environment do what it will be asked to do?"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from exporter.base.errors import ExitCode, Refusal, UsageError
from exporter.cli.options import Debug, Device, Json, Timeout
from exporter.cli.run import Ending, Verb

_Bom = Annotated[
    Path | None, typer.Option("--bom", help="Examine the packages of this bundle, or bill of materials, instead.")
]
_Advisories = Annotated[
    Path | None, typer.Option("--advisories", help="Known advisories, as JSON of the OSV schema.", metavar="FILE")
]


def doctor(
    device: Device = None,
    bom: _Bom = None,
    advisories: _Advisories = None,
    timeout: Timeout = None,
    as_json: Json = False,
    debug: Debug = False,
) -> Ending:
    """Examine Python, packages, engines, device, CPU, memory, disk; exits 3 where a plain spec lacks something.

    With --bom and --advisories: do any of these advisories apply to what a bundle was made with? Exits 1 if so.
    """
    del debug  # the funnel looks for it
    if bom is not None or advisories is not None:
        return _advised(bom, advisories, as_json)
    from exporter.cli.doctor import as_text, examine
    from exporter.cli.progress import DEFAULT_TIMEOUT
    from exporter.process.workers import Limits

    found = examine(device or "auto", Limits(seconds=timeout or DEFAULT_TIMEOUT))
    sys.stdout.write(json.dumps(found.to_json()) + "\n" if as_json else as_text(found))
    return ExitCode.PASSED if found.ready else Refusal(ExitCode.ENVIRONMENT, found.cure)


def _advised(bom: Path | None, advisories: Path | None, as_json: bool) -> Ending:
    from exporter.bundle.trust import advisories as known

    if bom is None or advisories is None:
        missing = "--bom" if bom is None else "--advisories"
        raise UsageError("the two go together", where=missing, hint="doctor --bom BUNDLE --advisories FILE")
    compared = known.compare(bom, advisories)
    sys.stdout.write(json.dumps(known.as_json(compared)) + "\n" if as_json else known.as_text(compared))
    return Refusal(ExitCode.REFUSED, compared.cure) if compared.hits else ExitCode.PASSED


plugin: Verb = doctor

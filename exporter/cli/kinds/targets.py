"""`exporter targets`: what consumers take, and whether a bundle is such."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from exporter.base.errors import ExitCode, Refusal
from exporter.cli.options import Debug, Json, Quiet, Source, Timeout
from exporter.cli.run import Ending, Verb
from exporter.cli.screen import tell

_Bundle = Annotated[
    Path | None, typer.Argument(help="The folder of a bundle, or a .onnx, .json or .pdmodel.", metavar="[BUNDLE]")
]
_Targets = Annotated[
    list[str] | None,
    typer.Option("--target", help="A consumer, as ncnn or tensorrt==8.4; may be repeated.", metavar="NAME"),
]
_Scan = Annotated[bool, typer.Option("--scan/--no-scan", help="Run the fp16 scan on the goldens.")]


def targets(  # noqa: PLR0913 - an option is a parameter
    bundle: _Bundle = None,
    target: _Targets = None,
    scan: _Scan = True,
    source: Source = None,
    as_json: Json = False,
    timeout: Timeout = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> Ending:
    """List the consumers and what each takes; with a BUNDLE say what of it they do not take, and by whose word.

    The fp16 scan runs the bundle's program in float64 on recorded cases and names the operators whose values leave
    the range of float16, or vanish in it. With --source each finding names the line of the model's code, if its files
    are those that the bundle was made of. A consumer that cannot take the bundle exits 1.
    """
    del debug  # the funnel looks for it
    from exporter.bundle.open import open_bundle
    from exporter.cli.progress import setting
    from exporter.deploy import consumers

    if bundle is None:
        sys.stdout.write(json.dumps(consumers.as_json()) + "\n") if as_json else tell(consumers.listed())
        return ExitCode.PASSED
    if bundle.is_file():
        checked = consumers.check_file(bundle, target or ())
    else:
        with setting(quiet=quiet, timeout=timeout) as how:
            checked = consumers.check_bundle(open_bundle(bundle), target or (), how, scan=scan, code=source)
    sys.stdout.write(json.dumps(checked.to_json()) + "\n") if as_json else tell(checked.as_text())
    if checked.exit_code is ExitCode.REFUSED:
        return Refusal(ExitCode.REFUSED, "change the model or the spec as the limits say, or choose another target")
    return checked.exit_code


plugin: Verb = targets

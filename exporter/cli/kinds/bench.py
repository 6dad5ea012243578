"""`exporter bench`: latency and throughput of a bundle in each engine."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from exporter.base.errors import ExitCode, Refusal
from exporter.cli.options import Debug, Device, Digest, Json, Quiet, Signature, Source, Timeout, Trust
from exporter.cli.run import Ending, Verb

_Bundle = Annotated[Path, typer.Argument(help="The folder of a bundle.", metavar="BUNDLE")]
_Engines = Annotated[str | None, typer.Option("--engines", help="Only these, separated by commas.")]
_Rounds = Annotated[int, typer.Option("--rounds", min=1, help="How often each engine has its turn.")]
_Seconds = Annotated[float, typer.Option("--seconds", min=0.01, help="For each size in each round.")]
_Threads = Annotated[int, typer.Option("--threads", min=1, help="That an engine may compute in.")]


def bench(  # noqa: PLR0913 - an option is a parameter
    bundle: _Bundle,
    engines: _Engines = None,
    rounds: _Rounds = 3,
    seconds: _Seconds = 0.3,
    threads: _Threads = 1,
    source: Source = None,
    trust: Trust = None,
    signature: Signature = None,
    digest: Digest = None,
    device: Device = None,
    timeout: Timeout = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> Ending:
    """Time BUNDLE in each engine, by turns, and say which of those that passed is fastest, and by how much.

    With --source eager itself is timed as well. A bundle of `convert`, which records no case, is timed on inputs drawn
    from its interface.

    With --trust nothing of it is read or run before somebody trusted is known to have signed just these files.
    """
    del debug  # the funnel looks for it
    from exporter.cli.progress import setting
    from exporter.cli.screen import tell, width
    from exporter.cli.trust import Demands, demanded, refuse_exchanged
    from exporter.deploy.bench.run import Wish
    from exporter.deploy.bench.run import bench as measure
    from exporter.deploy.bench.text import as_text

    named = tuple(engines.split(",")) if engines else ()
    with setting(quiet=quiet, timeout=timeout) as how:
        expected = demanded(bundle, Demands(tuple(trust or ()), signature, digest), how)
        found = measure(bundle, Wish(named, device or "", threads, rounds, seconds), how, source)
    refuse_exchanged(found.bundle.manifest.digest, expected, bundle)
    if as_json:
        sys.stdout.write(json.dumps(found.to_json(), allow_nan=False) + "\n")
    else:
        tell(as_text(found, width()))
    return Refusal(found.exit, found.cures[0]) if found.exit else ExitCode.PASSED


plugin: Verb = bench

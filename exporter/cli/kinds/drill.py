"""`exporter drill`: how strong is the gate? Plant faults in a bundle's artifacts and see which it catches."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from exporter.base.errors import ExitCode, Refusal
from exporter.cli.options import Debug, Device, Digest, Json, Quiet, Signature, Source, Timeout, Trust
from exporter.cli.run import Ending, Verb

if TYPE_CHECKING:
    from exporter.bundle.drill.result import Drilled

_Bundle = Annotated[Path, typer.Argument(help="The folder of a bundle.", metavar="BUNDLE")]
_Faults = Annotated[int, typer.Option("--faults", min=1, help="How many, over all formats.")]
_Seed = Annotated[int, typer.Option("--seed", min=0, help="Chooses other faults.")]
_Formats = Annotated[str | None, typer.Option("--formats", help="Only these, separated by commas.")]
_Engines = Annotated[str | None, typer.Option("--engines", help="Only these, separated by commas.")]
_Resealed = Annotated[
    bool, typer.Option("--reseal-parameters", help="Record the faulty tensors' digests too: only the outputs tell.")
]
_Through = Annotated[int, typer.Option("--through-verify", min=0, help="Send so many faults through verify as well.")]


def drill(  # noqa: PLR0913 - an option is a parameter
    bundle: _Bundle,
    faults: _Faults = 120,
    seed: _Seed = 0,
    formats: _Formats = None,
    engines: _Engines = None,
    reseal_parameters: _Resealed = False,
    through_verify: _Through = 0,
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
    """Plant single faults in copies of BUNDLE's artifacts; exits 1 where one survives that does harm.

    With --trust nothing of it is read or run before somebody trusted is known to have signed just these files.
    """
    from exporter import pipeline
    from exporter.bundle.drill import run
    from exporter.cli.progress import setting
    from exporter.cli.screen import tell, width
    from exporter.cli.trust import Demands, demanded, refuse_exchanged
    from exporter.prove.proofs.base import Narrowing

    wish = run.Wish(
        faults=faults,
        seed=seed,
        formats=tuple(formats.split(",")) if formats else (),
        engines=tuple(engines.split(",")) if engines else (),
        device=device or "cpu",
        resealed=reseal_parameters,
        through_verify=through_verify,
        code=source,
    )
    with setting(quiet=quiet, timeout=timeout) as how:

        def verify(folder: Path, named: tuple[str, ...]) -> str:
            left_out = ("weights",) if reseal_parameters else ()
            return pipeline.verify(folder, how, Narrowing(named, "", left_out), device, code=source).verdict.word

        expected = demanded(bundle, Demands(tuple(trust or ()), signature, digest), how)
        result = run.drill(bundle, wish, how, verify)
    refuse_exchanged(result.digest, expected, bundle)
    if as_json:
        sys.stdout.write(json.dumps(result.to_json(), allow_nan=False) + "\n")
    else:
        tell(as_text(result, width()))
    if result.passed:
        return ExitCode.PASSED
    hint = "give the spec a smaller `budget` or further `engines`: verify would let through what survived here"
    return Refusal(ExitCode.REFUSED, hint)


def as_text(result: Drilled, room: int | None) -> str:
    """A table of the kinds of fault by variant, in so many columns, then what needs a word."""
    from exporter.report.table import Column, table

    headings, *rows = result.rows()
    columns = [Column(heading, number=False, gives=at > 0) for at, heading in enumerate(headings)]
    return "\n".join([*table(columns, rows, room), "", *result.words()]) + "\n"


plugin: Verb = drill

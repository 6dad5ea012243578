"""`exporter handoff`: a released bundle in the layout that a server, or a plain script, expects."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from exporter.cli._options import Debug, Json, Out, Quiet, Timeout
from exporter.cli._run import Verb
from exporter.errors import ExitCode

_Bundle = Annotated[Path, typer.Argument(help="The folder of a bundle that passed.", metavar="BUNDLE")]
_To = Annotated[
    str, typer.Option("--to", help="plain, http_service, triton, mlserver or paddle_serving.", metavar="TARGET")
]
_Runtime = Annotated[
    str | None,
    typer.Option("--runtime", help="Verify in these first, as paddle==2.6.2,onnxruntime==1.20.1.", metavar="LIST"),
]
_Variant = Annotated[str | None, typer.Option("--variant", help="Which, where the target takes several.")]


def handoff(  # noqa: PLR0913 - an option is a parameter
    bundle: _Bundle,
    to: _To,
    variant: _Variant = None,
    runtime: _Runtime = None,
    out: Out = None,
    timeout: Timeout = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> ExitCode:
    """Write BUNDLE for TARGET into --out (artifacts/handoff/NAME-VERSION-TARGET), and say if it was run here.

    What each --runtime made of it stands in its README; where one fails, nothing is written.
    """
    del debug  # the funnel looks for it
    from exporter import pipeline
    from exporter.bundle.open import open_bundle, recorded_spec
    from exporter.cli._outcome import conclude_matrix
    from exporter.cli._progress import setting
    from exporter.files import safe_relative
    from exporter.handoff._write import hand_over

    opened = open_bundle(bundle)
    about = opened.manifest
    if not about.released:
        return _refuse(str(bundle), about.verdict, as_json)
    recorded_spec(about)  # what it promises, the waivers among it, is what it says
    # The name is the bundle's word, and must not lead elsewhere.
    leaf = safe_relative(f"{about.name}-{about.version}", str(bundle))
    place = out or Path("artifacts/handoff") / f"{leaf}-{to}"
    with setting(quiet=quiet, timeout=timeout) as how:
        matrix = pipeline.in_runtimes(bundle, runtime, how) if runtime is not None else None
        if matrix is not None and matrix.exit is not ExitCode.PASSED:
            return conclude_matrix(matrix, as_json=as_json)
        done = hand_over(opened, to, place, how.importing(None), variant, matrix)
    told = {"folder": str(done.folder), "target": to, "variant": done.variant, "digest": about.digest}
    if as_json:
        proof = {"verified_here": done.proof.verified, "how": done.proof.how}
        sys.stdout.write(json.dumps({**told, **proof}) + "\n")
    else:
        word = "yes" if done.proof.verified else "NO"
        sys.stdout.write(f"verified here: {word} ({done.proof.how})\n{done.folder}\n")
    return ExitCode.PASSED


def _refuse(bundle: str, verdict: str, as_json: bool) -> ExitCode:
    """The gate's no: nothing is written."""
    what, hint = f"its verdict is {verdict}, so it is not handed over", "release it again; exporter verify says why not"
    error = {"what": what, "where": bundle, "hint": hint, "exit": int(ExitCode.REFUSED)}
    if as_json:
        sys.stdout.write(json.dumps({"error": error}) + "\n")
    else:
        sys.stderr.write(f"error: {bundle}: {what}\n  hint: {hint}\n")
    return ExitCode.REFUSED


plugin: Verb = handoff

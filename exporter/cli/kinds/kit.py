"""`exporter kit`: recorded inputs, the model and small programs, for a machine that is not ours."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from exporter.base.errors import ExitCode
from exporter.cli.options import Cases, Debug, Digest, Json, Out, Quiet, Signature, Sizes, Trust
from exporter.cli.run import Ending, Verb
from exporter.cli.screen import tell, unreleased

_Bundle = Annotated[Path, typer.Argument(help="The folder of a bundle that passed.", metavar="BUNDLE")]
_Variant = Annotated[str | None, typer.Option("--variant", help="Which; onnx by default, where the bundle has it.")]
_Layers = Annotated[bool, typer.Option("--layers", help="Add an ONNX that puts out its intermediate values.")]
_LayersOf = Annotated[
    str, typer.Option("--layers-of", help="The same, for this case: the one that fails most.", metavar="CASE")
]


def kit(  # noqa: PLR0913 - an option is a parameter
    bundle: _Bundle,
    cases: Cases = 0,
    dim: Sizes = None,
    variant: _Variant = None,
    layers: _Layers = False,
    layers_of: _LayersOf = "",
    out: Out = None,
    trust: Trust = None,
    signature: Signature = None,
    digest: Digest = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> Ending:
    """Write a folder that asks another machine for numbers, into --out (artifacts/kit/NAME-VERSION).

    It holds the inputs of the recorded cases as .npy and .bin, the model, a README, and short programs
    (Python, C++, JavaScript) that run it and write the answers. What the outputs should be stays here.
    `exporter verify BUNDLE --answers DIR --engine TEXT` judges what comes back. The same bundle gives the same bytes.
    With --layers the smallest case is asked for its intermediate values, with --layers-of another one.
    """
    del debug  # the funnel looks for it
    from exporter.base.files import safe_relative
    from exporter.bundle.open import open_bundle, released_spec
    from exporter.bundle.subject import unfit
    from exporter.cli.progress import setting
    from exporter.cli.trust import Demands, proven, refuse_exchanged
    from exporter.deploy.elsewhere.cases import Wanted, read_sizes
    from exporter.deploy.elsewhere.kit import write_kit

    with setting(quiet=quiet, timeout=None) as how:
        known = proven(bundle, Demands(tuple(trust or ()), signature, digest), how)
        opened = open_bundle(bundle)
    about = opened.manifest
    refuse_exchanged(about.digest, known.digest, bundle)
    if why := unfit(opened):
        return unreleased(str(bundle), why, "asked of others", as_json=as_json)
    released_spec(opened)
    # The name is the bundle's word, and must not lead elsewhere.
    leaf = safe_relative(f"{about.name}-{about.version}", str(bundle))
    place = out or Path("artifacts/kit") / leaf
    written = write_kit(
        opened, place, Wanted(cases, read_sizes(dim or ())), variant, layers=layers, layers_of=layers_of
    )
    if as_json:
        summary = {"folder": str(written.folder), "cases": list(written.cases), "written": written.new}
        sys.stdout.write(json.dumps({**summary, "digest": about.digest}) + "\n")
    else:
        there = "" if written.new else "it was there already, with the same content\n"
        tell(f"{len(written.cases)} cases: {', '.join(written.cases)}\n{there}{written.folder}\n")
    return ExitCode.PASSED


plugin: Verb = kit

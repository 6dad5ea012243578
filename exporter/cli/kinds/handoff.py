"""`exporter handoff`: a released bundle in the layout that a server, or a plain script, expects."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from exporter.base.errors import ExitCode
from exporter.cli.options import Debug, Digest, Json, Out, Quiet, Signature, Sizes, Timeout, Trust, Waivers
from exporter.cli.run import Ending, Verb
from exporter.cli.screen import unreleased

if TYPE_CHECKING:
    from exporter.deploy.handoff.write import HandedOver

_Bundle = Annotated[Path, typer.Argument(help="The folder of a bundle that passed.", metavar="BUNDLE")]
_To = Annotated[str, typer.Option("--to", help="plain, openvino, triton, …; see docs/targets.md.", metavar="TARGET")]
_Runtime = Annotated[
    str | None,
    typer.Option("--runtime", help="Verify in these first, as paddle==2.6.2,onnxruntime==1.20.1.", metavar="LIST"),
]
_Variant = Annotated[str | None, typer.Option("--variant", help="Which, where the target takes several.")]
_ModelVersion = Annotated[
    int | None,
    typer.Option("--model-version", min=1, help="Its number in a repository of models; 1 by default.", metavar="N"),
]
_Using = Annotated[
    Path | None,
    typer.Option("--using", help="The Python that has a runtime of devices, or its node_modules.", metavar="PATH"),
]
_Precision = Annotated[
    str | None, typer.Option("--precision", help="Of a runtime of devices: fp16 or int8, by its budget.", metavar="P")
]


def handoff(  # noqa: PLR0913 - an option is a parameter
    bundle: _Bundle,
    to: _To,
    variant: _Variant = None,
    model_version: _ModelVersion = None,
    runtime: _Runtime = None,
    using: _Using = None,
    precision: _Precision = None,
    dim: Sizes = None,
    out: Out = None,
    trust: Trust = None,
    signature: Signature = None,
    digest: Digest = None,
    accept_waivers: Waivers = False,
    timeout: Timeout = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> Ending:
    """Write BUNDLE for TARGET into --out (artifacts/handoff/NAME-VERSION-TARGET), and say if it was run here.

    Nothing is overwritten: a folder that is there may only hold the same bytes. In a repository of models that an
    earlier hand-over wrote, --model-version adds a version beside those that are there, if their configuration fits.

    A runtime of devices (mnn, ncnn, onnxruntime_web, …) converts the ONNX and runs every recorded case first. It is
    installed here, or named by --using. With --dim, and where it takes one size only, what holds is called partial.

    What each --runtime made of it stands in its README; where one fails, nothing is written. With --trust nothing of
    BUNDLE is read before somebody trusted is known to have signed just these files.
    """
    del debug  # the funnel looks for it
    from exporter import pipeline
    from exporter.base.files import safe_relative
    from exporter.bundle.open import open_bundle, recorded_spec
    from exporter.bundle.received import Receiver
    from exporter.bundle.subject import unfit
    from exporter.cli.outcome import conclude_matrix
    from exporter.cli.progress import setting
    from exporter.cli.trust import Demands, proven, refuse_exchanged
    from exporter.deploy.elsewhere.cases import read_sizes
    from exporter.deploy.handoff.base import OnDevice
    from exporter.deploy.handoff.write import Wish, hand_over

    with setting(quiet=quiet, timeout=timeout) as how:
        known = proven(bundle, Demands(tuple(trust or ()), signature, digest), how)
        receiver = Receiver(accept_waivers or known.may_waive, bool(known.digest))
        opened = open_bundle(bundle)
        about = opened.manifest
        refuse_exchanged(about.digest, known.digest, bundle)
        if why := unfit(opened):
            return unreleased(str(bundle), why, "handed over", as_json=as_json)
        recorded_spec(about)  # what it promises, the waivers among it, is what it says
        # The name is the bundle's word, and must not lead elsewhere.
        leaf = safe_relative(f"{about.name}-{about.version}", str(bundle))
        place = out or Path("artifacts/handoff") / f"{leaf}-{to}"
        matrix = pipeline.in_runtimes(bundle, runtime, how, receiver) if runtime is not None else None
        if matrix is not None:
            refuse_exchanged(matrix.digest, about.digest, bundle)
        if matrix is not None and matrix.exit is not ExitCode.PASSED:
            return conclude_matrix(matrix, bundle, as_json=as_json)
        device = OnDevice(using, precision or "", read_sizes(dim or ()))
        wish = Wish(to, variant, model_version, matrix, receiver.accepts_waivers, device)
        done = hand_over(opened, wish, place, how.importing(None))
    return _conclude(done, about.digest, as_json)


def _conclude(done: HandedOver, digest: str, as_json: bool) -> ExitCode:
    told = {"folder": str(done.folder), "target": done.target, "variant": done.variant, "digest": digest}
    if as_json:
        proof = {"verified_here": done.proof.verified, "how": done.proof.how, "written": done.new}
        proof |= {"partial": done.proof.partial} if done.proof.partial else {}
        rows = {} if done.rows is None else {"rows": asdict(done.rows)}
        sys.stdout.write(json.dumps({**told, **proof, **rows}) + "\n")
    else:
        partial = f"partial: {done.proof.partial}\n" if done.proof.partial else ""
        there = "" if done.new else "it was there already, with the same content\n"
        rows_told = "" if done.rows is None else f"{done.rows}\n"
        sys.stdout.write(
            f"verified here: {done.proof.word} ({done.proof.how})\n{partial}{rows_told}{there}{done.folder}\n"
        )
    return ExitCode.PASSED


plugin: Verb = handoff

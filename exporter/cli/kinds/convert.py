"""`exporter convert`: from a spec, or straight from a model, to artifacts that are not verified yet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from exporter.base.errors import UsageError
from exporter.cli import target as targets
from exporter.cli.options import Debug, Device, Json, Out, Quiet, Settings, Timeout
from exporter.cli.run import Ending, Verb

_Formats = Annotated[str | None, typer.Option("--formats", help="Of pir,pdmodel,onnx; all of them by default.")]
_Target = Annotated[
    str | None,
    typer.Argument(
        help="A spec, module:factory, or a Paddle program: .json, .pdmodel, or its folder.", metavar="[SPEC|MODEL]"
    ),
]
_From = Annotated[
    str | None,
    typer.Option(
        "--from",
        help="Instead: a configuration of paddleclas, paddleocr, paddleseg or paddledet.",
        metavar="FAMILY:CONFIG.yml",
    ),
]
_Repo = Annotated[Path | None, typer.Option("--repo", help="With --from: a checkout of the family.", metavar="DIR")]
_Opset = Annotated[int | None, typer.Option("--opset", help="The ONNX opset to ask for.")]


def convert(  # noqa: PLR0913 - an option is a parameter
    target: _Target = None,
    source: _From = None,
    repo: _Repo = None,
    inputs: targets.Inputs = None,
    dims: targets.Dims = None,
    values: targets.Values = None,
    weights: targets.Weights = None,
    formats: _Formats = None,
    opset: _Opset = None,
    out: Out = None,
    settings: Settings = None,
    device: Device = None,
    timeout: Timeout = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> Ending:
    """Check and trace the model, and write pir, pdmodel and onnx into --out (artifacts/NAME/unverified).

    With --from the model, its inputs and the file for its runtimes are those of the family's own export.

    A Paddle program (.json, .pdmodel or its folder) needs no code. It becomes ONNX, unless --formats asks for others,
    which is proven at once to compute the same, in NAME/VERSION/ beside the program, or below --out.
    """
    from exporter import pipeline
    from exporter.base.files import write_bytes
    from exporter.cli.outcome import conclude
    from exporter.cli.progress import setting
    from exporter.export.families.given import Asked, beside, spec_from_family
    from exporter.spec.reserved import UNVERIFIED
    from exporter.spec.source import is_source

    given: dict[str, Any] = {
        "checkpoint": str(weights) if weights else None,
        "formats": formats.split(",") if formats else None,
        "opset": opset,
        "device": device,
    }
    described = targets.Described(inputs, dims, values, settings)
    files: dict[str, bytes] = {}
    with setting(quiet=quiet, timeout=timeout) as how:
        if source is None and target is not None and is_source(target):
            program = Path(target)
            spec = targets.spec_of(
                _one_target(target, repo), described, {**given, "formats": given["formats"] or ["onnx"]}
            )
            beside_it = program if program.is_dir() else program.parent
            return conclude(pipeline.release(spec, out or beside_it, how), as_json=as_json)
        if source is None:
            spec = targets.spec_of(_one_target(target, repo), described, given)
        else:
            _refuse_beside(target, described)
            asked = Asked(source, weights, repo, tuple(dims or ()), tuple(settings or ()))
            spec, files = spec_from_family(asked, {**given, "checkpoint": None}, out, how)
        into = out or Path("artifacts") / spec.name / UNVERIFIED
        product = pipeline.convert(spec, into, how)
    if product.bundle is not None:
        for name, content in files.items():
            write_bytes(beside(into, name), content)
    return conclude(product, as_json=as_json)


def _one_target(target: str | None, repo: Path | None) -> str:
    if target is None:
        raise UsageError("nothing is named to convert", where="exporter convert", hint="name a spec, or module:factory")
    if repo is not None:
        raise UsageError(
            "--repo goes with --from", where="--repo", hint="add --from FAMILY:CONFIG.yml, or leave it out"
        )
    return target


def _refuse_beside(target: str | None, described: targets.Described) -> None:
    """With --from the family says what the model and its inputs are."""
    if target is not None:
        raise UsageError(f"'{target}' is named beside --from", where="--from", hint="leave one of them out")
    if described.inputs or described.values:
        hint = "leave --input and --values out; use --set, as in --set inputs.x.values=F.npy"
        raise UsageError("the family's export says its inputs itself", where="--from", hint=hint)


plugin: Verb = convert

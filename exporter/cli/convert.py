"""`exporter convert`: from a spec, or straight from a model, to artifacts that are not verified yet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from exporter.cli._options import Debug, Device, Json, Out, Quiet, Settings, Timeout
from exporter.cli._run import Verb
from exporter.errors import ExitCode, UsageError

_Target = Annotated[str, typer.Argument(help="A spec, or module:factory.", metavar="SPEC|MODEL")]
_Input = Annotated[list[str] | None, typer.Option("--input", help="name=dtype[dim,dim,…]; a word is a named dim.")]
_Dim = Annotated[list[str] | None, typer.Option("--dim", help="name=min..max, or name=min..max/multiple.")]
_Values = Annotated[
    list[str] | None, typer.Option("--values", help="name=normal | uniform(a,b) | integers(a,b) | F.npy")
]
_Weights = Annotated[Path | None, typer.Option("--weights", help="A checkpoint, .safetensors.")]
_Formats = Annotated[str | None, typer.Option("--formats", help="Of pir,pdmodel,onnx; all of them by default.")]
_Opset = Annotated[int | None, typer.Option("--opset", help="The ONNX opset to ask for.")]


def convert(  # noqa: PLR0913 - an option is a parameter
    target: _Target,
    inputs: _Input = None,
    dims: _Dim = None,
    values: _Values = None,
    weights: _Weights = None,
    formats: _Formats = None,
    opset: _Opset = None,
    out: Out = None,
    settings: Settings = None,
    device: Device = None,
    timeout: Timeout = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> ExitCode:
    """Check and trace the model, and write pir, pdmodel and onnx into --out (artifacts/NAME/unverified)."""
    from exporter import pipeline
    from exporter.cli._outcome import conclude
    from exporter.cli._progress import setting
    from exporter.spec.arguments import spec_from_arguments
    from exporter.spec.read import read_spec

    given: dict[str, Any] = {
        "checkpoint": str(weights) if weights else None,
        "formats": formats.split(",") if formats else None,
        "opset": opset,
        "device": device,
    }
    given = {key: value for key, value in given.items() if value is not None}
    if target.endswith((".yaml", ".yml")) or ":" not in target:
        if inputs or dims or values:
            raise UsageError("a spec says its inputs itself", where="--input", hint="use --set to override a key")
        overrides = [f"{key}={_yaml(value)}" for key, value in given.items()]
        spec = read_spec(Path(target), (*(settings or ()), *overrides))
    else:
        spec = spec_from_arguments(target, inputs or (), dims or (), values or (), given, settings or ())
    with setting(quiet=quiet, timeout=timeout) as how:
        product = pipeline.convert(spec, out or Path("artifacts") / spec.name / "unverified", how)
    return conclude(product, as_json=as_json)


def _yaml(value: Any) -> str:
    return f"[{', '.join(value)}]" if isinstance(value, list) else str(value)


plugin: Verb = convert

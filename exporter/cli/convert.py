"""`exporter convert`: from a spec, or straight from a model, to artifacts that are not verified yet."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from exporter.cli import _target
from exporter.cli._options import Debug, Device, Json, Out, Quiet, Settings, Timeout
from exporter.cli._run import Ending, Verb

_Formats = Annotated[str | None, typer.Option("--formats", help="Of pir,pdmodel,onnx; all of them by default.")]
_Opset = Annotated[int | None, typer.Option("--opset", help="The ONNX opset to ask for.")]


def convert(  # noqa: PLR0913 - an option is a parameter
    target: _target.Target,
    inputs: _target.Inputs = None,
    dims: _target.Dims = None,
    values: _target.Values = None,
    weights: _target.Weights = None,
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
    """Check and trace the model, and write pir, pdmodel and onnx into --out (artifacts/NAME/unverified)."""
    from exporter import pipeline
    from exporter.cli._outcome import conclude
    from exporter.cli._progress import setting
    from exporter.spec.reserved import UNVERIFIED

    given: dict[str, Any] = {
        "checkpoint": str(weights) if weights else None,
        "formats": formats.split(",") if formats else None,
        "opset": opset,
        "device": device,
    }
    spec = _target.spec_of(target, _target.Described(inputs, dims, values, settings), given)
    with setting(quiet=quiet, timeout=timeout) as how:
        product = pipeline.convert(spec, out or Path("artifacts") / spec.name / UNVERIFIED, how)
    return conclude(product, as_json=as_json)


plugin: Verb = convert

"""What `convert` and `prune` work on: a spec, or straight a model with its inputs on the command line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from exporter.base.errors import UsageError, did_you_mean_file

if TYPE_CHECKING:
    from exporter.spec.model import Spec

Target = Annotated[
    str,
    typer.Argument(
        help="A spec, module:factory, or a Paddle program: .json, .pdmodel, or its folder.", metavar="SPEC|MODEL"
    ),
]
Inputs = Annotated[list[str] | None, typer.Option("--input", help="name=dtype[dim,dim,…]; a word is a named dim.")]
Dims = Annotated[list[str] | None, typer.Option("--dim", help="name=min..max, or name=min..max/multiple.")]
Values = Annotated[
    list[str] | None, typer.Option("--values", help="name=normal | uniform(a,b) | integers(a,b) | F.npy")
]
Weights = Annotated[Path | None, typer.Option("--weights", help="A checkpoint: .safetensors, .pdparams.")]


@dataclass(frozen=True)
class Described:
    """What the command line says of a model's inputs, and of keys of its spec."""

    inputs: Sequence[str] | None
    dims: Sequence[str] | None
    values: Sequence[str] | None
    settings: Sequence[str] | None


def spec_of(target: str, described: Described, given: Mapping[str, Any]) -> Spec:
    """The spec; `given` are keys that options of their own have set, None where they have not.

    Raises:
        UsageError: there is no such spec, or inputs are given beside it; or as the spec's reader.
    """
    from exporter.spec.arguments import spec_from_arguments, spec_from_source
    from exporter.spec.read import read_spec
    from exporter.spec.source import is_source

    keys = {key: value for key, value in given.items() if value is not None}
    if "checkpoint" in keys:
        keys["weights"] = None  # a checkpoint on the command line takes the place of untrained weights
    one = described
    if is_source(target):
        if one.inputs:
            hint = "leave it out; --dim and --values say what the program leaves open"
            raise UsageError("a program says its inputs itself", where="--input", hint=hint)
        return spec_from_source(target, one.dims or (), one.values or (), keys, one.settings or ())
    if not target.endswith((".yaml", ".yml")) and ":" in target:
        return spec_from_arguments(target, one.inputs or (), one.dims or (), one.values or (), keys, one.settings or ())
    path = Path(target)
    if not path.exists() and path.suffix not in (".yaml", ".yml"):
        from exporter.base.references import meant_reference

        other = did_you_mean_file(path, "give a .yaml spec, module:factory, or a Paddle program")
        hint = meant_reference(target) or other
        raise UsageError("no such file or folder", where=target, hint=hint)
    if one.inputs or one.dims or one.values:
        raise UsageError("a spec says its inputs itself", where="--input", hint="use --set to override a key")
    overrides = [f"{key}={_yaml(value)}" for key, value in keys.items()]
    return read_spec(path, (*(one.settings or ()), *overrides))


def _yaml(value: Any) -> str:
    if value is None:
        return "null"
    return f"[{', '.join(value)}]" if isinstance(value, list) else str(value)

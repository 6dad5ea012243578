"""A spec from the command line: `--input image=float32[batch,3,224,224] --dim batch=1..8 --values 'ids=…'`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from exporter.base.errors import UsageError, did_you_mean
from exporter.spec.model import Spec
from exporter.spec.read import apply_override, validate
from exporter.spec.source import Content, keys_of, read_source

_INPUT = re.compile(r"^([A-Za-z_]\w*)=(\w+)\[([^\]]*)\]$")
_DIM = re.compile(r"^([A-Za-z_]\w*)=(\d+)\.\.(\d+)(?:/(\d+))?$")
#: The same with other signs between the words: `x:float32(batch,3)`, `batch=1-8`, `batch 8`.
_NEAR_INPUT = re.compile(r"^([A-Za-z_]\w*)[^\w]+([a-z]+\d*)\s*[\[({:=]+([\w\s,+]*)[\])}]*$")
_NEAR_DIM = re.compile(r"^([A-Za-z_]\w*)[^\w]+(\d+)(?:[^\w]+(\d+))?$")


def parse_input(text: str) -> tuple[str, Content]:
    """Parse `name=dtype[dim,dim,…]`; an empty bracket is a scalar.

    Raises:
        UsageError: it has another form.
    """
    match = _INPUT.match(text)
    if not match:
        near = _NEAR_INPUT.match(text)
        hint = f"write {near[1]}={near[2]}[{near[3]}]" if near else "e.g. --input image=float32[batch,3,224,224]"
        raise UsageError(f"'{text}' is not name=dtype[dim,dim,…]", where="--input", hint=hint)
    name, dtype, inside = match.groups()
    parts = [part.strip() for part in inside.split(",")] if inside.strip() else []
    return name, {"dtype": dtype, "shape": [int(part) if re.fullmatch("[0-9]+", part) else part for part in parts]}


def parse_dim(text: str) -> tuple[str, dict[str, int]]:
    """Parse `name=min..max` or `name=min..max/multiple`; the typical size lies in the middle, at most 8.

    Raises:
        UsageError: it has another form, or min is greater than max.
    """
    match = _DIM.match(text)
    if not match:
        near = _NEAR_DIM.match(text)
        hint = (
            f"write {near[1]}={near[2]}..{near[3] or near[2]}" if near else "e.g. --dim batch=1..8, or seq=32..512/32"
        )
        raise UsageError(f"'{text}' is not name=min..max", where="--dim", hint=hint)
    name = match.group(1)
    low, high, multiple = int(match.group(2)), int(match.group(3)), int(match.group(4) or 1)
    if low > high:
        raise UsageError(
            f"min ({low}) is greater than max ({high})", where=f"--dim {text}", hint=f"write {name}={high}..{low}"
        )
    middle = min((low + high) // 2, max(low, 8 * multiple)) if multiple else low
    typical = max(low, middle // multiple * multiple) if multiple else low
    return name, {"min": low, "typical": typical, "max": high, "multiple_of": multiple}


def spec_from_arguments(
    model: str,
    inputs: Sequence[str],
    dims: Sequence[str],
    values: Sequence[str],
    keys: Content,
    overrides: Sequence[str] = (),
) -> Spec:
    """Build the same `Spec` that a YAML file would give; `keys` are its other keys, `overrides` those of `--set`.

    Without weights those of the factory are meant, and every report says so.

    Raises:
        UsageError: an argument has the wrong form, is given twice, or names no input.
    """
    if not inputs:
        raise UsageError(
            "a model needs its inputs",
            where="--input",
            hint="e.g. --input image=float32[batch,3,224,224] --dim batch=1..8",
        )
    described = _unique("--input", [parse_input(text) for text in inputs])
    for text in values:
        name, _, what = text.partition("=")
        if name not in described:
            raise UsageError(
                f"no input is called '{name}'",
                where=f"--values {text}",
                hint=did_you_mean(name, described),
            )
        if "values" in described[name]:
            raise UsageError(f"'{name}' is given twice", where="--values", hint="give each once")
        described[name]["values"] = what
    for one in described.values():
        if "values" not in one and not str(one["dtype"]).startswith(("float", "bfloat")):
            one["values"] = "integers(0,2)"
    content = {"model": model, "inputs": described, "dims": _unique("--dim", [parse_dim(text) for text in dims])}
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", model.partition(":")[2] or model).strip("-._") or "model"
    content = {"name": name, **content, **keys}
    for override in overrides:
        apply_override(content, override)
    if not any(content.get(key) for key in ("checkpoint", "recipe", "weights")):
        content["weights"] = "factory"
    return validate(content, "command line")


def spec_from_source(
    source: str, dims: Sequence[str], values: Sequence[str], keys: Content, overrides: Sequence[str] = ()
) -> Spec:
    """Build the `Spec` of a Paddle program that exists as a file; a `checkpoint` among the keys is its `.pdiparams`.

    Raises:
        UsageError, BundleError: as :func:`exporter.spec.source.read_source`; or an argument names no input or dim.
    """
    own = dict(keys)
    parameters = own.pop("checkpoint", None)
    own.pop("weights", None)
    model = read_source(Path(source), Path(parameters) if parameters else None)
    content = {**keys_of(model, _unique("--dim", [parse_dim(text) for text in dims])), **own}
    for text in values:
        name, _, what = text.partition("=")
        if name not in content["inputs"]:
            hint = did_you_mean(name, content["inputs"])
            raise UsageError(f"no input is called '{name}'", where=f"--values {text}", hint=hint)
        content["inputs"][name]["values"] = what
    for override in overrides:
        apply_override(content, override)
    return validate(content, source)


def _unique(option: str, pairs: list[tuple[str, Any]]) -> Content:
    result: Content = {}
    for name, value in pairs:
        if name in result:
            raise UsageError(f"'{name}' is given twice", where=option, hint="give each once")
        result[name] = value
    return result

"""From `paddleclas:CONFIG.yml` to a spec, and to the files that lie beside the artifacts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exporter.base.errors import UsageError, did_you_mean_file
from exporter.base.tensors import TensorSpec, dims_in
from exporter.export.families.base import Family
from exporter.export.families.child import LookRequest, look
from exporter.export.families.factory import FAMILIES
from exporter.process.scratch import scratch
from exporter.process.workers import PADDLE, SINGLE_THREAD, Setting, call
from exporter.spec.arguments import parse_dim
from exporter.spec.model import Spec
from exporter.spec.read import apply_override, validate
from exporter.spec.reserved import UNVERIFIED
from exporter.spec.source import DIMS


@dataclass(frozen=True)
class Asked:
    """`FAMILY:CONFIG`, weights, a checkout, ranges of dims as `--dim` has them, keys of the spec as `--set` does."""

    source: str
    weights: Path | None = None
    repo: Path | None = None
    dims: Sequence[str] = ()
    settings: Sequence[str] = ()


def spec_from_family(
    asked: Asked, keys: Mapping[str, Any], into: Path | None, setting: Setting
) -> tuple[Spec, dict[str, bytes]]:
    """The spec, with `keys` of the command line in it, and the files for the family's runtimes by name.

    Weights are read without unpickling anything else, given to the model by the family's own loader, and kept as
    safetensors beside the bundle (`into`), since the family may rename and fuse them.

    Raises:
        UsageError: there is no such family, configuration or file of weights; its code fails.
        EnvironmentLacks: the family's package is not there.
    """
    name = asked.source.partition(":")[0]
    family, config = FAMILIES[name], config_of(asked)
    if asked.weights and not asked.weights.is_file():
        hint = did_you_mean_file(asked.weights, "name a .pdparams or .safetensors file")
        raise UsageError("no such file", where=str(asked.weights), hint=hint)
    title = re.sub(r"[^A-Za-z0-9._-]+", "-", config.stem)
    checkpoint = beside(into or Path("artifacts") / title / UNVERIFIED, "safetensors")
    setting.say(f"running the export of {name}")
    with scratch() as folder:
        request = LookRequest(
            family=name,
            config=config,
            repo=_absolute(asked.repo),
            weights=_absolute(asked.weights),
            into=folder,
            checkpoint=checkpoint.absolute(),
        )
        looked = call(look, request, setting.limits, environment=SINGLE_THREAD, imports=PADDLE)
    if not looked.settings:
        setting.say(f"the export of {name} writes no {family.settings} for this configuration")
    content = {
        "name": title,
        "model": "exporter.export.families.factory:build",
        "args": {
            "family": name,
            "config": str(config),
            **({"repo": str(request.repo)} if request.repo else {}),
        },
        "inputs": {spec.name: _filled(spec, family) for spec in looked.inputs},
        "dims": _dims(looked.inputs, asked.dims),
        **({"checkpoint": str(checkpoint)} if asked.weights else {"weights": "factory"}),
        **{key: value for key, value in keys.items() if value is not None},
    }
    for override in asked.settings:
        apply_override(content, override)
    return validate(content, asked.source), {file: text.encode() for file, text in looked.settings.items()}


def beside(bundle: Path, ending: str) -> Path:
    """A file that belongs to a bundle and lies beside its folder: in it there is nothing but what was exported."""
    return bundle.with_name(f"{bundle.name}.{ending}")


def _absolute(path: Path | None) -> Path | None:
    return path.absolute() if path else None


def config_of(asked: Asked) -> Path:
    """The configuration: a path as it stands, or below the checkout or the folder of its configurations.

    Raises:
        UsageError: there is no such family, checkout or configuration.
    """
    name, _, given = asked.source.partition(":")
    family, repo = FAMILIES[name], asked.repo
    places = [Path(given)]
    if repo is not None:
        if not repo.is_dir():
            raise UsageError("no such folder", where=f"--repo {repo}", hint="name a checkout of the family")
        places += [repo / given, repo / family.configs / given]
    for place in places if given else []:
        if place.is_file():
            return place.absolute()
    hint = did_you_mean_file(places[-1], f"name a file, as {name}:CONFIG.yml; with --repo one of its {family.configs}")
    raise UsageError(f"no configuration '{given}'", where="--from", hint=hint)


def _filled(spec: TensorSpec, family: Family) -> dict[str, str | list[int | str]]:
    values = family.values.get(spec.name) or ("normal" if spec.dtype.startswith("float") else "integers(0,2)")
    return {"dtype": spec.dtype, "shape": list(spec.shape), "values": values}


def _dims(inputs: Sequence[TensorSpec], given: Sequence[str]) -> dict[str, dict[str, int]]:
    ranges = {**DIMS, **dict(parse_dim(text) for text in given)}
    used = dims_in(one.shape for one in inputs)
    if lacking := [name for name in used if name not in ranges]:
        hint = f"give it: --dim {lacking[0]}=1..512"
        raise UsageError(f"nothing says how large '{lacking[0]}' may be", where="--dim", hint=hint)
    if strange := [name for name in ranges if name not in used and name not in DIMS]:
        hint = f"name one of: {', '.join(used)}"
        raise UsageError(f"no input has a dim '{strange[0]}'", where="--dim", hint=hint)
    return {name: dict(ranges[name]) for name in used}

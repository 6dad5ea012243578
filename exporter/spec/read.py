"""Read a spec from a YAML file; every error says file, line, column, key, and what was likely meant."""

from __future__ import annotations

import re
from pathlib import Path

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from exporter.base.errors import UsageError, closest, did_you_mean, did_you_mean_file
from exporter.base.files import read_regular
from exporter.spec import yaml12
from exporter.spec.decoding import Decoding
from exporter.spec.inputs import Dim, Input
from exporter.spec.model import Budget, PrecisionSettings, Prune, Spec, Speedup, Waiver
from exporter.spec.source import Content, is_program, keys_of, read_source

_WHOLE = "`exporter init --schema` describes every key"


def read_spec(path: Path, overrides: tuple[str, ...] = ()) -> Spec:
    """Read and validate a spec; `overrides` are `key=value` pairs of `--set`, keys dotted, values YAML.

    Raises:
        UsageError: no such file, not YAML, an unknown key, a wrong value.
    """
    if is_program(path):
        hint = f"exporter init NAME --model {path} writes a spec of it; exporter convert {path} needs none"
        raise UsageError("this is a Paddle program, and no spec", where=str(path), hint=hint)
    if not path.is_file():
        hint = did_you_mean_file(path, "give the path of a .yaml spec", "*.yaml")
        raise UsageError("no such spec", where=str(path), hint=hint)
    try:
        text = read_regular(path, yaml12.MOST_BYTES).decode("utf-8")
    except UnicodeDecodeError as error:
        spec = path.suffix in (".yaml", ".yml")
        hint = "save the file as UTF-8" if spec else "give a .yaml spec, or a Paddle program: .json, .pdmodel"
        raise UsageError(f"not UTF-8 at byte {error.start}", where=str(path), hint=hint) from error
    content, marks = yaml12.load(text, str(path))
    if not isinstance(content, dict):
        raise UsageError("a spec is a mapping of keys to values", where=f"{path}:1:1", hint=_WHOLE)
    for override in overrides:
        apply_override(content, override)
    _refuse_beside_source(content, path, marks)
    return validate(completed(content), str(path), marks)


def completed(content: Content) -> Content:
    """Return the content of a spec with what its `source` says; the keys that the spec gives itself stay.

    Raises:
        UsageError, BundleError: as :func:`exporter.spec.source.read_source`.
    """
    if not isinstance(content.get("source"), str) or "model" in content:
        return content
    dims = content.get("dims", {})
    ranges = dims if isinstance(dims, dict) else None
    keys = keys_of(read_source(Path(content["source"])), ranges, content)
    return {**keys, **content, "dims": dims if ranges is None else keys["dims"]}


def _refuse_beside_source(content: Content, path: Path, marks: yaml12.Marks) -> None:
    """Make sure that a spec with a `source` names no other model and no other weights."""
    if "source" in content:
        for key in ("model", "args", "recipe", "checkpoint", "weights"):
            if content.get(key) is not None:
                line, column = _mark(marks, (key,))
                where = f"{path}:{line}:{column}" if line else f"{path}: {key}"
                what = f"{key} and source exclude each other: the file says what the model and its weights are"
                raise UsageError(what, where=where, hint=f"leave {key} out, or source")


def validate(content: Content, source: str, marks: yaml12.Marks | None = None) -> Spec:
    """Turn plain data into a `Spec`; `marks` give the line and column of each key of the file it came from.

    Raises:
        UsageError: the first thing that is wrong.
    """
    try:
        return Spec.model_validate(content)
    except ValidationError as error:
        first = min(error.errors(), key=lambda one: one["type"] != "extra_forbidden")
        strange = first["type"] == "extra_forbidden"
        place = _place(first["loc"], ends_in_a_key=strange)
        key = ".".join(map(str, place))
        line, column = _mark(marks or {}, place)
        where = f"{source}:{line}:{column}" if line else source
        if strange:
            raise UsageError(f"unknown key '{key}'", where=where, hint=_likely(place)) from error
        message = first["msg"].removeprefix("Value error, ")
        message = message[0].lower() + message[1:]
        what = f"{key}: {message}" if key else message
        near = closest(str(first["input"]), _choices(first))
        raise UsageError(what, where=where, hint=f"did you mean '{near}'?" if near else _WHOLE) from error


def _choices(fault: ErrorDetails) -> list[str]:
    """The words that a key takes, where it takes only these."""
    if fault["type"] == "literal_error":
        return re.findall("'([^']+)'", fault["ctx"]["expected"])
    return ["auto", "cpu", "gpu"] if fault["loc"] == ("device",) else []


def _place(location: tuple[str | int, ...], *, ends_in_a_key: bool) -> tuple[str | int, ...]:
    """Where a user's file is wrong: pydantic also names the member of a union, which stands in no file."""
    tags = {"constrained-int", "constrained-str"}
    last = len(location) - 1
    return tuple(part for at, part in enumerate(location) if part not in tags or (ends_in_a_key and at == last))


def _mark(marks: yaml12.Marks, place: tuple[str | int, ...]) -> tuple[int, int]:
    while place and place not in marks:
        place = place[:-1]
    return marks.get(place, (0, 0))


def _likely(place: tuple[str | int, ...]) -> str:
    parents: dict[str, type[BaseModel]] = {
        **{"inputs": Input, "dims": Dim, "waivers": Waiver, "prune": Prune},
        "decoding": Decoding,
    }
    if place[0] == "precisions":
        deeper: tuple[type[BaseModel], ...] = (Spec, Spec, Spec, PrecisionSettings, Budget, Speedup)
        parents["precisions"] = deeper[min(len(place), 5)]
    model: type[BaseModel] = Spec if len(place) == 1 else parents.get(str(place[0]), Spec)
    return did_you_mean(str(place[-1]), model.model_fields)


def apply_override(content: Content, override: str, option: str = "--set") -> None:
    """Set one dotted key of plain data, in place, as `option` says.

    Raises:
        UsageError: it is not key=value, or the value is not YAML.
    """
    key, equals, value = override.partition("=")
    if not equals or not key:
        raise UsageError(f"'{override}' is not key=value", where=option, hint="e.g. --set dims.batch.max=16")
    *parents, last = key.split(".")
    for parent in parents:
        content = content.setdefault(parent, {})
        if not isinstance(content, dict):
            raise UsageError(f"'{parent}' holds no keys", where=f"{option} {override}", hint="check the dotted key")
    try:
        content[last], _ = yaml12.load(value, f"{option} {override}")
    except UsageError as error:
        raise UsageError(
            f"'{value[:80]}' is not a YAML value: {error.what}", where=f"{option} {override}", hint="quote it"
        ) from error

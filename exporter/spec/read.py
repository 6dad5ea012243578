"""Read a spec from a YAML file; every error says file, line, column, key, and what was likely meant."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, PydanticUndefined

from exporter.base.errors import UsageError, did_you_mean, did_you_mean_file
from exporter.base.files import read_regular
from exporter.spec import yaml12
from exporter.spec.advice import Example, Wrong, advised, suits
from exporter.spec.model import Spec
from exporter.spec.source import Content, is_program, keys_of, read_source

_MAPPING = "write keys with values, as name: net; `exporter init --schema` describes every key"
#: As many specs of a folder are listed.
_FEW = 5


def read_spec(path: Path, overrides: tuple[str, ...] = ()) -> Spec:
    """Read and validate a spec; `overrides` are `key=value` pairs of `--set`, keys dotted, values YAML.

    Raises:
        UsageError: no such file, not YAML, an unknown key, a wrong value.
    """
    if is_program(path):
        hint = f"exporter init NAME --model {path} writes a spec of it; exporter convert {path} needs none"
        raise UsageError("this is a Paddle program, and no spec", where=str(path), hint=hint)
    if not path.is_file():
        if specs := sorted(path.glob("*.y*ml")):
            what = f"is a folder, with {len(specs)} specs in it" if len(specs) > 1 else "is a folder, with a spec in it"
            more = f", or another of them: {', '.join(map(str, specs[1:_FEW]))}" if len(specs) > 1 else ""
            raise UsageError(what, where=str(path), hint=f"give '{specs[0]}'{more}")
        hint = did_you_mean_file(path, "give the path of a .yaml spec", "*.y*ml")
        raise UsageError("no such spec", where=str(path), hint=hint)
    try:
        text = read_regular(path, yaml12.MOST_BYTES).decode("utf-8")
    except UnicodeDecodeError as error:
        spec = path.suffix in (".yaml", ".yml")
        hint = "save the file as UTF-8" if spec else "give a .yaml spec, or a Paddle program: .json, .pdmodel"
        raise UsageError(f"not UTF-8 at byte {error.start}", where=str(path), hint=hint) from error
    content, marks = yaml12.load(text, str(path))
    if not isinstance(content, dict):
        raise UsageError("a spec is a mapping of keys to values", where=f"{path}:1:1", hint=_MAPPING)
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
        first = min(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden")
        same = [fault for fault in error.errors() if _place(fault) == _place(first)]
        first = next(filter(suits, same), first)
        place = _place(first)
        key = ".".join(map(str, place))
        marks = marks or yaml12.Marks()
        line, column = _mark(marks, place)
        where = f"{source}:{line}:{column}" if line else source
        if first["type"] == "extra_forbidden":
            raise UsageError(f"unknown key '{key}'", where=where, hint=_likely(place)) from error
        wrong = Wrong(place[-1] if place else "", first["input"], marks.texts.get(place, ""), *_field(place, content))
        what, hint = advised(wrong, first)
        joint = " " if what.startswith("is ") else ": "
        whole = what if what.startswith(f"{key}: ") else f"{key}{joint}{what}"
        raise UsageError(whole if key else what, where=where, hint=hint) from error


def _place(fault: ErrorDetails) -> tuple[str | int, ...]:
    """Where a user's file is wrong: pydantic also names the member of a union, which stands in no file."""
    location, tags = fault["loc"], {"constrained-int", "constrained-str", "[key]"}
    last = len(location) - 1 if fault["type"] == "extra_forbidden" else -1
    return tuple(part for at, part in enumerate(location) if part not in tags or at == last)


def _inside(annotation: object, key: str | int) -> object:
    """Return the type of what stands at a key of a value of this type; None where none can."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        field = annotation.model_fields.get(str(key))
        return field.annotation if field else None
    origin, members = get_origin(annotation), get_args(annotation)
    if origin is dict:
        return members[1]
    if origin is tuple:
        return members[0]
    if origin is Annotated:
        return _inside(members[0], key)
    return next((inner for member in members if (inner := _inside(member, key)) is not None), None)


def _model(place: tuple[str | int, ...]) -> type[BaseModel] | None:
    """Return the model of the mapping whose key a place is."""
    annotation: object = Spec
    for key in place[:-1]:
        annotation = _inside(annotation, key)
    members = [annotation, *get_args(annotation)]
    return next((member for member in members if isinstance(member, type) and issubclass(member, BaseModel)), None)


def _needed(model: type[BaseModel]) -> dict[str, object]:
    """Return a mapping of the keys that a model cannot do without."""
    fields = {name: field for name, field in model.model_fields.items() if field.is_required()}
    return {name: mark.value for name, field in fields.items() for mark in field.metadata if isinstance(mark, Example)}


def _field(place: tuple[str | int, ...], content: Content) -> tuple[tuple[object, ...], str, bool]:
    """Return values that the key at a place takes, what is said of it, and whether it may be left out."""
    model = _model(place) if place else None
    field = model.model_fields.get(str(place[-1])) if model else None
    if field is None:  # a name of the user's own
        whole = _model((*place, ""))
        return (() if whole is None or whole is Spec else (_needed(whole),)), "", False
    beside: Any = content
    for key in place[:-1]:
        beside = beside[key]
    examples = [mark for mark in field.metadata if isinstance(mark, Example)]
    values = [beside.get(mark.like, mark.value) for mark in examples]
    default = field.get_default() if field.default is not PydanticUndefined else None
    usual = [] if default is None or isinstance(default, BaseModel) else [default]
    return (*values, *usual), field.description or "", not field.is_required()


def _mark(marks: yaml12.Marks, place: tuple[str | int, ...]) -> tuple[int, int]:
    while place and place not in marks:
        place = place[:-1]
    return marks.get(place, (0, 0))


def _likely(place: tuple[str | int, ...]) -> str:
    return did_you_mean(str(place[-1]), (_model(place) or Spec).model_fields)


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

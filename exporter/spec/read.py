"""Read a spec from a YAML file; every error says file, line, column, key, and what was likely meant."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from exporter.errors import UsageError
from exporter.spec.model import Budget, Dim, Input, PrecisionSettings, Prune, Spec, Speedup, Waiver

#: What PyYAML raises beside its own errors: for dates that do not exist, numbers too long, nesting too deep, and tags
#: that do not fit their text (`!!timestamp x`, `!!bool x`, `!!int ''`).
_NOT_YAML = (yaml.YAMLError, ValueError, RecursionError, AttributeError, LookupError, TypeError)

Marks = dict[tuple[str | int, ...], tuple[int, int]]


def read_spec(path: Path, overrides: tuple[str, ...] = ()) -> Spec:
    """Read and validate a spec; `overrides` are `key=value` pairs of `--set`, keys dotted, values YAML.

    Raises:
        UsageError: no such file, not YAML, an unknown key, a wrong value.
    """
    if not path.is_file():
        close = difflib.get_close_matches(path.name, [p.name for p in path.parent.glob("*.yaml")], n=1)
        hint = f"did you mean {path.parent / close[0]}?" if close else "give the path of a .yaml spec"
        raise UsageError("no such spec", where=str(path), hint=hint)
    try:
        text = path.read_text(encoding="utf-8")
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        content = yaml.safe_load(text)
    except UnicodeDecodeError as error:
        raise UsageError(f"not UTF-8 at byte {error.start}", where=str(path), hint="save the file as UTF-8") from error
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        where = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        raise UsageError(f"not valid YAML: {error.problem}", where=where, hint="mend the file at that place") from error
    except _NOT_YAML as error:
        raise UsageError(f"not valid YAML: {error}", where=str(path), hint="mend the file") from error
    marks: Marks = {}
    _collect(node, (), marks, str(path), set())
    if not isinstance(content, dict):
        raise UsageError("a spec is a mapping of keys to values", where=f"{path}:1:1", hint="see specs/digits.yaml")
    for override in overrides:
        apply_override(content, override)
    return validate(content, str(path), marks)


def validate(content: dict[str, Any], source: str, marks: Marks | None = None) -> Spec:
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
        raise UsageError(what, where=where, hint="see specs/digits.yaml for a whole spec") from error


def _place(location: tuple[str | int, ...], *, ends_in_a_key: bool) -> tuple[str | int, ...]:
    """Where a user's file is wrong: pydantic also names the member of a union, which stands in no file."""
    tags = {"constrained-int", "constrained-str"}
    last = len(location) - 1
    return tuple(part for at, part in enumerate(location) if part not in tags or (ends_in_a_key and at == last))


def _collect(node: Any, place: tuple[str | int, ...], marks: Marks, source: str, seen: set[int]) -> None:
    if node is None or id(node) in seen:  # an alias: it may lead back to itself, or multiply without end
        return
    seen.add(id(node))
    marks.setdefault(place, (node.start_mark.line + 1, node.start_mark.column + 1))
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            inner = (*place, str(key.value))
            mark = (key.start_mark.line + 1, key.start_mark.column + 1)
            if inner in marks:
                raise UsageError(
                    f"key '{key.value}' is given twice",
                    where=f"{source}:{mark[0]}:{mark[1]}",
                    hint=f"the first one is in line {marks[inner][0]}",
                )
            marks[inner] = mark
            _collect(value, inner, marks, source, seen)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            _collect(value, (*place, index), marks, source, seen)


def _mark(marks: Marks, place: tuple[str | int, ...]) -> tuple[int, int]:
    while place and place not in marks:
        place = place[:-1]
    return marks.get(place, (0, 0))


def _likely(place: tuple[str | int, ...]) -> str:
    parents: dict[str, type[BaseModel]] = {"inputs": Input, "dims": Dim, "waivers": Waiver, "prune": Prune}
    if place[0] == "precisions":
        deeper: tuple[type[BaseModel], ...] = (Spec, Spec, Spec, PrecisionSettings, Budget, Speedup)
        parents["precisions"] = deeper[min(len(place), 5)]
    model: type[BaseModel] = Spec if len(place) == 1 else parents.get(str(place[0]), Spec)
    known = list(model.model_fields)
    close = difflib.get_close_matches(str(place[-1]), known, n=1)
    return f"did you mean '{close[0]}'?" if close else f"known keys: {', '.join(known)}"


def apply_override(content: dict[str, Any], override: str) -> None:
    """Set one dotted key of plain data, in place.

    Raises:
        UsageError: it is not key=value, or the value is not YAML.
    """
    key, equals, value = override.partition("=")
    if not equals or not key:
        raise UsageError(f"'{override}' is not key=value", where="--set", hint="e.g. --set dims.batch.max=16")
    *parents, last = key.split(".")
    for parent in parents:
        content = content.setdefault(parent, {})
        if not isinstance(content, dict):
            raise UsageError(f"'{parent}' holds no keys", where=f"--set {override}", hint="check the dotted key")
    try:
        content[last] = yaml.safe_load(value)
    except _NOT_YAML as error:
        raise UsageError(f"'{value}' is not a YAML value", where=f"--set {override}", hint="quote it") from error

"""What a spec says of files by other tools that are to be the model as well."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Annotated, Any, TypeAlias

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from exporter.spec.inputs import FORMATS, Frozen, Name
from exporter.spec.named import Names

#: What a spec's YAML holds at this key.
Content: TypeAlias = Any

#: What claims on our own files begin with.
_TAKEN = ("source", *FORMATS, "openvino")


class Candidate(Frozen):
    """A file that another tool made of the model, judged by the claims and controls of our own."""

    file: Annotated[str, Field(min_length=1), Names.FILE] = Field(
        description="An ONNX, `.json`, `.pdmodel` or OpenVINO `.xml`; parameters lie beside it."
    )
    name: Name = Field("", description="Name under which its claims stand; without the key that of the file.")

    @property
    def note(self) -> str:
        """Return the beginning of what a bundle notes of this file, which it does not hold."""
        return f"the candidate {self.name} is {self.file} (sha256 "

    @model_validator(mode="before")
    @classmethod
    def _named(cls, value: Content) -> Content:
        """Give a file that nobody named its own name, as claims can hold it."""
        if not isinstance(value, dict) or "name" in value or not isinstance(value.get("file"), str):
            return value
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", PurePath(value["file"]).stem).strip("-._")
        return {**value, "name": plain[:100] or "candidate"}


def _told_apart(candidates: tuple[Candidate, ...]) -> tuple[Candidate, ...]:
    names = [candidate.name for candidate in candidates]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise ValueError(f"two candidates are called '{twice}': give one another `name`")
    if taken := next((name for name in names if name.partition("-")[0] in _TAKEN), ""):
        raise ValueError(f"'{taken}' is what claims on our own files are called: give the candidate another `name`")
    return candidates


def _mappings(value: Content) -> Content:
    """A path alone is a file."""
    if isinstance(value, (list, tuple)):
        return [{"file": one} if isinstance(one, str) else one for one in value]
    return value


Candidates = Annotated[
    tuple[Candidate, ...],
    BeforeValidator(_mappings, json_schema_input_type=tuple[Candidate | str, ...]),
    AfterValidator(_told_apart),
]

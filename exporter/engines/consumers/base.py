"""A consumer and its limits: one YAML file each in `data/`, called as the consumer is."""

from __future__ import annotations

import datetime
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from exporter.base.errors import UsageError, did_you_mean
from exporter.spec import yaml12
from exporter.spec.inputs import Frozen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from packaging.requirements import Requirement

_DATA = Path(__file__).with_name("data")

#: What is limited. `rank` and `size` are of values inside the program, `bytes` is of the file; `attention` is a softmax
#: between two products; `fp16` says that values are computed in float16, so that their range matters.
Kind = Literal[
    "opset", "format", "operator", "rank", "size", "bytes", "dynamic", "dtype", "external", "attention", "fp16"
]


class Limit(Frozen):
    """One limit, in the words of its source.

    `date` is the day of the source; where it bears none, the day on which it was read. A limit with `versions` holds
    for a target that names one of them, such as `ncnn==20260113`. A limit of level `warning` can be got around.
    """

    kind: Kind
    says: str = Field(min_length=1)
    source: str = Field(pattern=r"^https://\S+$")
    date: str = Field(pattern=r"^20\d\d-\d\d-\d\d$")
    level: Literal["error", "warning"]
    versions: str = ""
    least: int | None = None
    most: int | None = None
    operators: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    allowed: Literal["none", "batch"] = "none"

    @property
    def day(self) -> datetime.date:
        """The date as a date; raises ValueError for a day that no calendar has."""
        return datetime.date.fromisoformat(self.date)

    def holds_for(self, target: Requirement) -> bool:
        """Whether the limit holds in the versions that a target asks for."""
        from packaging.specifiers import SpecifierSet

        if not self.versions:
            return True
        ours = SpecifierSet(self.versions)
        theirs = [bound.version.removesuffix(".*") for bound in target.specifier]
        own = [bound.version.removesuffix(".*") for bound in ours if bound.operator == "=="]
        return any(map(ours.contains, theirs)) or (bool(theirs) and any(map(target.specifier.contains, own)))


class Consumer(Frozen):
    """What takes an artifact elsewhere: the formats that it reads, and its limits."""

    about: str
    formats: tuple[Literal["onnx", "pdmodel", "pir"], ...]
    limits: tuple[Limit, ...]


@cache
def consumers() -> Mapping[str, Consumer]:
    """Every consumer by its name, in alphabetical order."""
    return {path.stem: _read(path) for path in sorted(_DATA.glob("*.yaml"))}


def _read(path: Path) -> Consumer:
    content, _ = yaml12.load(path.read_text(encoding="utf-8"), str(path))
    return Consumer.model_validate(content)


def names() -> tuple[str, ...]:
    """The names of all consumers; their files are not read."""
    return tuple(sorted(path.stem for path in _DATA.glob("*.yaml")))


def name_of(target: str) -> str:
    """The name in a target such as `ncnn==20260113`, as consumers are called: `opencv_dnn` is `opencv-dnn`."""
    return re.split(r"[^\w.-]", target.strip(), maxsplit=1)[0].replace("_", "-").lower()


def consumer_of(target: str) -> Consumer:
    """The consumer that a target names.

    Raises:
        UsageError: there is none.
    """
    name = name_of(target)
    if name not in names():
        raise UsageError(
            f"unknown consumer '{name}'", where="--target", hint=did_you_mean(name, dict.fromkeys(names()))
        )
    return consumers()[name]

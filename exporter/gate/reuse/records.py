"""The records in the store: what of a release and of a child's answer is kept, and how it is read again.

Nothing here imports pydantic, which takes longer to import than a look into the store takes. So what is read is not
checked: a record of another form raises an AttributeError, a LookupError, a TypeError or a ValueError where it is used.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from exporter.gate.counts import Counting
from exporter.gate.reuse.depends import Depends
from exporter.gate.reuse.identity import Facts

#: A spec as JSON, which is there sooner than the spec.
SpecContent: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Kept:
    """A release that passed: where its bundle lies, the bundle's digest, its verdict in a word and in a line.

    `told` is what else it gave, as JSON of :mod:`exporter.gate.told`.
    `believed` says what the spec's `depends` answers for, and is empty where that was not needed.
    """

    bundle: Path
    digest: str
    word: str
    said: str
    told: object = field(repr=False)
    believed: str = ""


@dataclass(frozen=True)
class ReleaseRecord:
    """A release as it is kept: its spec, what it depends on, the digest of each file of its bundle, and what it gave.

    `project` has the digest of every file of the project, and `counting` what the spec says of them.
    `day` is empty where no waiver is judged by it, and `run` where no training gave the checkpoint. `folder` is the
    name of the bundle's folder; the rest is as :class:`Kept` has it.
    """

    spec: SpecContent
    day: str
    run: str
    facts: Facts
    project: Mapping[str, str]
    counting: Counting
    depends: Depends
    objects: Mapping[str, str]
    folder: str
    digest: str
    word: str
    said: str
    told: object

    @classmethod
    def of(cls, content: Any) -> ReleaseRecord:
        """Read a record of the store."""
        counting = {name: tuple(texts) for name, texts in content["counting"].items()}
        parts = {"counting": Counting(**counting), "depends": Depends(**content["depends"])}
        return cls(**{**content, **parts})

    def content(self) -> Mapping[str, object]:
        """Return it as JSON for the store."""
        return {**vars(self), "counting": asdict(self.counting), "depends": asdict(self.depends)}


@dataclass(frozen=True)
class StepRecord:
    """A child's answer as it is kept: JSON, what it depends on, and the digests of the files that it wrote.

    Files and paths are named as :class:`exporter.gate.reuse.places.Places` numbers them.
    """

    facts: Facts
    depends: Depends
    objects: Mapping[str, str]
    answer: object

    @classmethod
    def of(cls, content: Any) -> StepRecord:
        """Read a record of the store."""
        return cls(**{**content, "depends": Depends(**content["depends"])})

    def content(self) -> Mapping[str, object]:
        """Return it as JSON for the store."""
        return {**vars(self), "depends": asdict(self.depends)}

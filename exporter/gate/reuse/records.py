"""The records in the store: what of a release and of a child's answer is kept, and how it is read again.

Nothing here imports pydantic, which takes longer to import than a look into the store takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, TypeAlias

from exporter.gate.counts import Counting, read_counting
from exporter.gate.reuse.depends import Depends, read_depends
from exporter.gate.reuse.identity import Facts, read_facts

_SCHEMA = 2

#: A spec as JSON, as its file has it.
SpecContent: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Passed:
    """A release that passed: its bundle, the bundle's digest, its verdict in a word and in a line.

    `report`, `findings` and `measured` are JSON of :mod:`exporter.gate.reuse.told`.
    """

    bundle: Path
    digest: str
    word: str
    said: str
    report: object
    findings: object
    measured: object


@dataclass(frozen=True)
class ReleaseRecord:
    """A release as it is kept: its spec, what it depends on, the digest of each file of its bundle, and what it gave.

    `project` has the digest of every file of the project, and `counting` what the spec says of them.
    `day` is empty where no waiver is judged by it, and `run` where no training gave the checkpoint. `folder` is the
    name of the bundle's folder. `report`, `findings` and `measured` are JSON of :mod:`exporter.gate.reuse.told`.
    """

    spec: SpecContent
    day: str
    identity: Facts
    project: Mapping[str, str]
    counting: Counting
    depends: Depends
    objects: Mapping[str, str]
    run: str
    folder: str
    digest: str
    word: str
    said: str
    report: object
    findings: object
    measured: object

    @classmethod
    def of(cls, content: Any) -> ReleaseRecord:
        """Read a record of the store.

        Raises:
            LookupError, TypeError, ValueError: it is a record of another version.
        """
        texts = {name: str(content[name]) for name in ("day", "run", "folder", "digest", "word", "said")}
        return cls(
            spec=dict(content["spec"]),
            identity=read_facts(content["identity"]),
            project=_digests(content["project"]),
            counting=read_counting(content["counting"]),
            depends=read_depends(content["depends"]),
            objects=_digests(content["objects"]),
            report=content["report"],
            findings=content["findings"],
            measured=content["measured"],
            **texts,
        )

    def content(self) -> Mapping[str, object]:
        """Return it as JSON for the store."""
        about = {"depends": asdict(self.depends), "counting": asdict(self.counting)}
        return {"schema": _SCHEMA, **vars(self), **about}


@dataclass(frozen=True)
class AnswerRecord:
    """A child's answer as it is kept: JSON, what it depends on, and the digests of the files that it wrote.

    Files and paths are named as :class:`exporter.gate.reuse.places.Places` numbers them.
    """

    identity: Facts
    depends: Depends
    objects: Mapping[str, str]
    answer: object

    @classmethod
    def of(cls, content: Any) -> AnswerRecord:
        """Read a record of the store.

        Raises:
            LookupError, TypeError, ValueError: it is a record of another version.
        """
        facts, seen = read_facts(content["identity"]), read_depends(content["depends"])
        return cls(facts, seen, _digests(content["objects"]), content["answer"])

    def content(self) -> Mapping[str, object]:
        """Return it as JSON for the store."""
        return {"schema": _SCHEMA, **vars(self), "depends": asdict(self.depends)}


def _digests(content: Any) -> Mapping[str, str]:
    return {str(name): str(digest) for name, digest in content.items()}

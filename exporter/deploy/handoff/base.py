"""The contract of a target: which formats it takes, and what it writes around the artifact."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from exporter.base.registry import Registry
from exporter.bundle.manifest import Manifest, Variant
from exporter.bundle.open import Bundle
from exporter.process.workers import Limits


@dataclass(frozen=True)
class RowEvidence:
    """What was run: the engine, the cases whose rows were looked at, what stood beside them, numbers of rows, runs."""

    engine: str
    cases: tuple[str, ...]
    beside: tuple[str, ...]
    sizes: tuple[int, ...]
    runs: int


@dataclass(frozen=True)
class Rows:
    """Whether rows of several requests may be computed in one run: along `dim`, `most` of them; and why, or why not."""

    independent: bool
    why: str
    dim: str = ""
    most: int = 0
    evidence: RowEvidence | None = None

    def __str__(self) -> str:
        may = f"may be joined, up to {self.most} rows in one run" if self.independent else "are computed each alone"
        return f"requests {may}: {self.why}"


@dataclass(frozen=True)
class OnDevice:
    """How a runtime of devices is asked, see :mod:`exporter.deploy.foreign`.

    `using` is the Python that has it, or its folder `node_modules`; `precision` is what it computes in, where that is
    not the variant's; `sizes` are those of named dims, where the runtime is to take no others.
    """

    using: Path | None = None
    precision: str = ""
    sizes: Mapping[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        options = {"--using": self.using, "--precision": self.precision, "--dim": self.sizes}
        return " and ".join(name for name, value in options.items() if value)


@dataclass(frozen=True)
class Chosen:
    """The variant of a bundle that is handed over.

    `number` is the model's version in a repository of models; `limits` bind a child that a layout needs. `rows` is what
    was shown of its rows, for a server that could join requests; nothing allows that where it is None. Whoever hands it
    over may accept the bundle's own waivers. `device` is for runtimes of devices alone.
    """

    bundle: Bundle
    name: str
    number: int = 1
    limits: Limits = field(default_factory=Limits)
    rows: Rows | None = None
    accepts_waivers: bool = False
    device: OnDevice = field(default_factory=OnDevice)

    @property
    def manifest(self) -> Manifest:
        """What the bundle says of itself."""
        return self.bundle.manifest

    @property
    def variant(self) -> Variant:
        """The variant as the manifest has it."""
        return self.manifest.variants[self.name]

    def files(self, folder: str = "") -> dict[str, Path]:
        """The artifact's files by their bare names, behind the name of a folder that they are to lie in."""
        return {f"{folder}{Path(name).name}": self.bundle.folder / name for name in self.variant.files}

    @property
    def program(self) -> Path:
        """The artifact's file that an engine opens; others lie beside it."""
        return self.bundle.folder / self.variant.artifact().main


@dataclass(frozen=True)
class Proof:
    """Whether what was handed over has been run here and computed what the bundle recorded; `how`, or why not.

    `generated` names what beside it was only written. `partial` says to what the promise was narrowed.
    """

    verified: bool
    how: str
    generated: str = ""
    partial: str = ""

    @property
    def word(self) -> str:
        """`yes`, `partial` or `NO`."""
        return "NO" if not self.verified else "partial" if self.partial else "yes"


class Target(ABC):
    """A consumer. `formats` are those that it takes, the preferred one first; `start` says how operations start it.

    `start` may name the model's `{name}` and its `{number}`. Where the target's folder is a repository of models,
    `versions` is the folder in it that holds the versions of one model, such as `model_repository/{name}`: what a
    layout writes into `versions`/NUMBER belongs to that version, and everything else to all of them. `joins` says which
    setting of a server has it compute requests of several clients in one run, where it has one; then `Chosen.rows` is
    there. Only a target `on_device` is given `Chosen.device`.
    """

    formats: ClassVar[tuple[str, ...]]
    start: ClassVar[str]
    versions: ClassVar[str] = ""
    joins: ClassVar[str] = ""
    on_device: ClassVar[bool] = False

    def version_folder(self, chosen: Chosen) -> str:
        """The folder of this version in the repository; empty where the target's folder is none."""
        return f"{self.versions.format(name=chosen.manifest.name)}/{chosen.number}" if self.versions else ""

    @abstractmethod
    def layout(self, chosen: Chosen) -> Mapping[str, bytes | Path]:
        """Every file by its path in the folder: bytes are written, paths are copied out of the bundle.

        Raises:
            UsageError: the target cannot serve this bundle; the error says what would have to change.
        """

    @abstractmethod
    def prove(self, folder: Path, chosen: Chosen, limits: Limits) -> Proof:
        """Run the finished folder, where that can be done here; else say why not.

        Raises:
            EnvironmentLacks: what must be run cannot be run here.
            ModelError: it ran and computed something else, or died.
        """


TARGETS: Registry[Target] = Registry("exporter.deploy.handoff", "target")

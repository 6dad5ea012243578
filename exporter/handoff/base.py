"""The contract of a target: which formats it takes, and what it writes around the artifact."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from exporter.bundle.manifest import Manifest, Variant
from exporter.bundle.open import Bundle
from exporter.workers import Limits


@dataclass(frozen=True)
class Chosen:
    """The variant of a bundle that is handed over."""

    bundle: Bundle
    name: str

    @property
    def manifest(self) -> Manifest:
        """What the bundle says of itself."""
        return self.bundle.manifest

    @property
    def variant(self) -> Variant:
        """The variant as the manifest has it."""
        return self.manifest.variants[self.name]

    def files(self) -> dict[str, Path]:
        """The artifact's files by their bare names."""
        return {Path(name).name: self.bundle.folder / name for name in self.variant.files}


@dataclass(frozen=True)
class Proof:
    """Whether what was handed over has been run here and computed what the bundle recorded; `how`, or why not."""

    verified: bool
    how: str


class Target(ABC):
    """A consumer. `formats` are those that it takes, the preferred one first; `start` says how operations start it."""

    formats: ClassVar[tuple[str, ...]]
    start: ClassVar[str]

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

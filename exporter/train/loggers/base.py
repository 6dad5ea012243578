"""The contract of a logger: a library that writes numbers for a viewer of curves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar, Protocol

from exporter.base.distribution import how_to_install
from exporter.base.errors import EnvironmentLacks

#: Seconds until a point is in the file, so that a viewer shows a run that goes on.
FLUSH_SECONDS = 2


class Writer(Protocol):
    """An open log."""

    def scalar(self, name: str, value: float, step: int) -> None:
        """Add a point of the curve `name`."""

    def close(self) -> None:
        """Write the rest and end."""


class Logger(ABC):
    """`package` is what it imports, `extra` our extra that installs it, `viewer` the command that shows a log."""

    package: ClassVar[str]
    extra: ClassVar[str]
    viewer: ClassVar[str]

    def require(self) -> None:
        """Raises EnvironmentLacks where its package is not installed; imports nothing."""
        if find_spec(self.package) is None:
            what = f"{self.package} is not installed"
            raise EnvironmentLacks(what, where="--log", hint=how_to_install(self.extra))

    @abstractmethod
    def open(self, folder: Path, step: int) -> Writer:
        """In a child: begin a log in the folder; what an earlier one there has from `step` on is to be forgotten."""

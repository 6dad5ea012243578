"""In a child: the numbers of a run, written for the viewers that were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from exporter.base.files import translated
from exporter.base.registry import Registry
from exporter.train.document import Row
from exporter.train.loggers.base import Logger, Writer

LOGGERS: Registry[Logger] = Registry("exporter.train.loggers", "logger")
#: The logs in a run's folder, a folder for each logger.
FOLDER = "logs"


def require(names: Sequence[str]) -> None:
    """Raises UsageError where no logger is called so, EnvironmentLacks where its package is not installed."""
    for name in names:
        LOGGERS[name].require()


def viewer(name: str, run: Path) -> str:
    """The command that shows what a logger wrote of a run."""
    return f"{LOGGERS[name].viewer} {run / FOLDER / name}"


class Log:
    """Steps are those of the whole run, from 1; no logger at all is a log that writes nothing."""

    def __init__(self, names: Sequence[str] = (), folder: Path = Path()) -> None:
        self._names, self._folder = tuple(names), folder / FOLDER
        self._writers: list[Writer] = []
        self._before = 0

    def begin(self, history: Sequence[Row], step: int = 0) -> None:
        """Open it behind the epochs that are done, whose steps count, and `step` steps of the next one."""
        self._before = sum(row.steps for row in history)
        for name in self._names:
            folder = self._folder / name
            with translated(folder):
                folder.mkdir(parents=True, exist_ok=True)
            self._writers.append(LOGGERS[name].open(folder, self._before + step + 1))

    def step(self, step: int, loss: float) -> None:
        """Add the loss of a step, counted from 1 in its epoch."""
        for writer in self._writers:
            writer.scalar("step/loss", loss, self._before + step)

    def epoch(self, row: Row) -> None:
        """Add all numbers of an epoch's row, at its last step."""
        self._before += row.steps
        for writer in self._writers:
            for name, value in row.values.items():
                if value is not None:
                    writer.scalar(f"epoch/{name}", float(value), self._before)

    def close(self) -> None:
        """Write the rest of every log."""
        for writer in self._writers:
            writer.close()
        self._writers = []

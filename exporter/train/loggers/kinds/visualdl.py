"""VisualDL, Paddle's own viewer."""

from __future__ import annotations

from pathlib import Path

from exporter.train.loggers.base import FLUSH_SECONDS, Logger, Writer


class _Records:
    def __init__(self, folder: Path) -> None:
        from visualdl import LogWriter

        self._writer = LogWriter(str(folder), flush_secs=FLUSH_SECONDS)

    def scalar(self, name: str, value: float, step: int) -> None:
        self._writer.add_scalar(tag=name, value=value, step=step)

    def close(self) -> None:
        self._writer.close()


class VisualDL(Logger):
    """It forgets nothing: a resumed run shows the steps that it made again twice."""

    package, extra, viewer = "visualdl", "visualdl", "visualdl --logdir"

    def open(self, folder: Path, step: int) -> Writer:
        """See :meth:`exporter.train.loggers.base.Logger.open`."""
        del step
        return _Records(folder)


plugin: Logger = VisualDL()

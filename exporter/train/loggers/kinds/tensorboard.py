"""TensorBoard, by tensorboardX, which needs neither TensorFlow nor PyTorch."""

from __future__ import annotations

from pathlib import Path

from exporter.train.loggers.base import FLUSH_SECONDS, Logger, Writer


class _Events:
    def __init__(self, folder: Path, step: int) -> None:
        from tensorboardX import SummaryWriter

        self._writer = SummaryWriter(str(folder), purge_step=step, flush_secs=FLUSH_SECONDS)

    def scalar(self, name: str, value: float, step: int) -> None:
        self._writer.add_scalar(name, value, step)

    def close(self) -> None:
        self._writer.close()


class TensorBoard(Logger):
    """A viewer hides the points that a resumed run makes again (`purge_step`)."""

    package, extra, viewer = "tensorboardX", "tensorboard", "tensorboard --logdir"

    def open(self, folder: Path, step: int) -> Writer:
        """See :meth:`exporter.train.loggers.base.Logger.open`."""
        return _Events(folder, step)


plugin: Logger = TensorBoard()

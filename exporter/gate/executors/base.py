"""What an executor is: specs in, what became of each out, in their order and as they are done."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TypeAlias

from exporter.base.errors import ExitCode
from exporter.gate.task import Task
from exporter.gate.touched import Touched
from exporter.report.gate import Gated

#: Releases each spec as :meth:`Task.release` does. A process or machine that is lost makes no verdict: its specs are
#: released again, and end with exit code 3 where that does not help. Closing the generator interrupts what still runs.
Executor: TypeAlias = Callable[[Task, Sequence[Touched]], Generator[Gated, None, None]]

#: Megabytes that a release may take: its own process, a fork server with Paddle, and an engine.
MEGABYTES = 2000


def lost(spec: Touched, why: str) -> Gated:
    """A spec whose process was lost each time."""
    return Gated(str(spec.path), spec.why, ExitCode.ENVIRONMENT, why)

"""All specs of a gate: those that nothing is to be done for are told at once, the others are released together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial

from exporter.errors import ExitCode
from exporter.gate.task import Task
from exporter.gate.together import in_processes
from exporter.gate.touched import Touched
from exporter.pool import MOST
from exporter.report._gate import Gated

#: Megabytes that a release may take: its own process, a fork server with Paddle, and an engine.
_MEGABYTES = 2000


def release_all(task: Task, specs: Sequence[Touched]) -> Iterator[Gated]:
    """What becomes of each, in their order; several are released at once where there is room."""
    settled = [task.settled(spec) for spec in specs]
    todo = [spec for spec, known in zip(specs, settled, strict=True) if known is None]
    at_once = min(task.setting.at_once(_MEGABYTES), MOST, len(todo)) if todo else 0
    each = max(1, task.setting.at_once(1) // at_once) if at_once > 1 else task.setting.jobs
    inner = replace(task, setting=replace(task.setting, jobs=each))
    made = in_processes([partial(inner.release, spec) for spec in todo], at_once, lambda at: _lost(todo[at]))
    with closing(made):
        for known in settled:
            yield next(made) if known is None else known


def _lost(spec: Touched) -> Gated:
    said = "the process that released it was killed, twice: look whether memory ran out, or give --jobs 1"
    return Gated(str(spec.path), spec.why, ExitCode.ENVIRONMENT, said)

"""This machine: several specs at once, each in a process, as processors and free memory allow."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import replace
from functools import partial

from exporter.gate.executors.base import MEGABYTES, Executor, lost
from exporter.gate.task import Task
from exporter.gate.together import in_processes
from exporter.gate.touched import Touched
from exporter.pool import MOST
from exporter.report._gate import Gated

_LOST = "the process that released it was killed, twice: look whether memory ran out, or give --jobs 1"


def local(task: Task, specs: Sequence[Touched]) -> Generator[Gated, None, None]:
    """Release specs in processes of this machine."""
    at_once = min(task.setting.at_once(MEGABYTES), MOST, len(specs)) if specs else 0
    each = max(1, task.setting.at_once(1) // at_once) if at_once > 1 else task.setting.jobs
    inner = replace(task, setting=replace(task.setting, jobs=each))
    return in_processes([partial(inner.release, spec) for spec in specs], at_once, lambda at: lost(specs[at], _LOST))


plugin: Executor = local

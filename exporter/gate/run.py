"""All specs of a gate: those that nothing is to be done for are told at once, an executor releases the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing

from exporter.gate.executors.base import Executor
from exporter.gate.task import Task
from exporter.gate.touched import Touched
from exporter.registry import Registry
from exporter.report._gate import Gated

EXECUTORS: Registry[Executor] = Registry("exporter.gate.executors", "executor")


def release_all(task: Task, specs: Sequence[Touched], executor: Executor) -> Iterator[Gated]:
    """What becomes of each, in their order."""
    settled = [task.settled(spec) for spec in specs]
    todo = [spec for spec, known in zip(specs, settled, strict=True) if known is None]
    with closing(executor(task, todo)) as made:
        for known in settled:
            yield next(made) if known is None else known

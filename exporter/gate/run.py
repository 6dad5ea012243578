"""All specs of a gate: those that nothing is to be done for are told at once, an executor releases the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from exporter.base.errors import UsageError
from exporter.base.registry import Registry
from exporter.gate.executors.base import Executor
from exporter.gate.task import Task
from exporter.gate.touched import Touched
from exporter.report.gate import Gated

EXECUTORS: Registry[Executor] = Registry("exporter.gate.executors", "executor")


def refuse_doubles(task: Task, paths: Iterable[Path]) -> None:
    """Make sure that no bundle of one spec would take the place of another's.

    Raises:
        UsageError: two specs have one name and one version.
    """
    first: dict[tuple[str, str], Path] = {}
    for path in paths:
        name, version = task.identity(path)
        if version and (other := first.setdefault((name, version), path)) is not path:
            what = f"has the name and version of {other}, {name} {version}: one bundle would replace the other"
            raise UsageError(what, where=str(path), hint="give one of them another `name` or `version`")


def release_all(task: Task, specs: Sequence[Touched], executor: Executor) -> Iterator[Gated]:
    """What becomes of each, in their order."""
    settled = [task.settled(spec) for spec in specs]
    todo = [spec for spec, known in zip(specs, settled, strict=True) if known is None]
    with closing(executor(task, todo)) as made:
        for known in settled:
            yield next(made) if known is None else known

"""This machine: several specs at once, each in a process, as processors and free memory allow."""

from __future__ import annotations

import importlib
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Any

from exporter.base.errors import ExporterError
from exporter.base.registry import Registry
from exporter.gate.executors.base import MEGABYTES, Executor, lost
from exporter.gate.task import Task
from exporter.gate.together import in_processes
from exporter.gate.touched import Touched
from exporter.process.pool import MOST
from exporter.process.workers import prepare
from exporter.report.gate import Gated

#: What a release imports besides, as it comes to it: modules, and folders of plugins.
_LATE = ("numpy.random", "cyclonedx.output.json")
_PLUGINS = (
    "exporter.check.rules",
    "exporter.engines",
    "exporter.base.numbers.metrics",
    "exporter.prove.proofs",
    "exporter.report",
)
_LOST = "the process that released it was killed, twice: look whether memory ran out, or give --jobs 1"


def local(task: Task, specs: Sequence[Touched]) -> Generator[Gated, None, None]:
    """Release specs in processes of this machine."""
    at_once = min(task.setting.at_once(MEGABYTES), MOST, len(specs)) if specs else 0
    each = max(1, task.setting.at_once(1) // at_once) if at_once > 1 else task.setting.jobs
    if at_once > 1:
        _share_what_all_need()
    inner = replace(task, setting=replace(task.setting, jobs=each))
    return in_processes([partial(inner.release, spec) for spec in specs], at_once, lambda at: lost(specs[at], _LOST))


def _share_what_all_need() -> None:
    """Before processes are forked that would each do it: import what a release imports, while a server imports Paddle.

    What cannot be imported here is left to the release that needs it, which says so.
    """
    prepare()
    importlib.import_module("exporter.pipeline")
    importlib.import_module("exporter.bundle.environment").installed()
    for name in _LATE:
        with suppress(ImportError):
            importlib.import_module(name)
    for folder in _PLUGINS:
        with suppress(ImportError, ExporterError):
            deque(Registry[Any](folder, "plugin").all(), 0)


plugin: Executor = local

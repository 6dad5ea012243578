"""The context in which Paddle 3.2 and 3.3 can build a legacy program."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

from packaging.version import Version

from exporter.export.lower.pdmodel import dispatch, one_list, pipeline, warned
from exporter.export.lower.pdmodel.audit import demand_table
from exporter.export.trace.fixes import fixes_in_force
from exporter.paddle.in_place import now_means, tell_of_writes
from exporter.paddle.patches import Patches
from exporter.paddle.programs import legacy_programs
from exporter.paddle.refusal import CannotLower, in_full
from exporter.paddle.unfinished import forget_unfinished_programs
from exporter.paddle.values import is_variable

_lock = threading.RLock()
_depth = 0
_target: Version | None = None


@contextmanager
def legacy_export(target: Version | None = None) -> Iterator[None]:
    """Within it, `paddle.jit.save` of a layer writes a ProgramDesc (`.pdmodel`) whatever APIs the layer uses.

    Everything that it changes in the process is put back exactly when it ends, by an exception too. It may be entered
    again by the same thread. Eager computations of other threads go on, but only one thread may build a program,
    because Paddle keeps the mode of the process in globals.

    Args:
        target: the oldest Paddle that has to load the file; None for the installed one.

    Raises:
        EnvironmentLacks: this Paddle is none of those that the tables know.
        CannotLower: the model does something that a legacy program cannot say; with the API and the user's line.
        RuntimeError: another thread is in this context, or the same one entered it with another target.
    """
    global _depth, _target
    if not _lock.acquire(blocking=False):
        raise RuntimeError("another thread is exporting a legacy program; use one process for each export")
    try:
        if _depth and target != _target:
            raise RuntimeError(f"this thread already exports for Paddle {_target}, and cannot also for {target}")
        _depth, _target = _depth + 1, target
        try:
            with _session(target) if _depth == 1 else nullcontext():
                yield
        finally:
            _depth -= 1
    finally:
        _lock.release()


@contextmanager
def _session(target: Version | None) -> Iterator[None]:
    demand_table()
    patches = Patches()
    refusals: list[CannotLower] = []
    try:
        with legacy_programs(), in_full(refusals):
            patches.references(dispatch.install(patches, target, refusals.append))
            pipeline.install(patches, target)
            tell_of_writes(patches, _note)
            warned.install(patches)
            one_list.install(patches)
            with fixes_in_force("pdmodel"):
                yield
    finally:
        forget_unfinished_programs()
        patches.undo()


def _note(written: Any, result: Any) -> None:
    """Make what `y.tanh_()` and its kin wrote visible to later reads."""
    if is_variable(written) and is_variable(result) and written is not result:
        now_means(written, result)

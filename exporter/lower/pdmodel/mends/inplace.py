"""Functions that write into their first argument: `y.tanh_()`."""

from __future__ import annotations

from typing import Any

from exporter.paddle.in_place import now_means, tell_of_writes
from exporter.paddle.patches import Patches
from exporter.paddle.values import is_variable


def install(patches: Patches) -> None:
    """Make what was written visible to later reads."""
    tell_of_writes(patches, _note)


def _note(written: Any, result: Any) -> None:
    if is_variable(written) and is_variable(result) and written is not result:
        now_means(written, result)

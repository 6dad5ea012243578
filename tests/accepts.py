"""Whether something is taken: a test of a refusal has to show, too, what is not refused."""

from __future__ import annotations

from collections.abc import Callable

from exporter.base.errors import ExporterError


def accepts(call: Callable[[], object]) -> bool:
    """Return whether a call is not refused by an error of ours."""
    try:
        call()
    except ExporterError:
        return False
    return True

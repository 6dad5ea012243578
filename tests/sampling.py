"""Which cases of a `parametrize` CI runs, where each takes seconds and all of them show one kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def slow(case: Any) -> Any:
    """A case, of one argument or a tuple of several, that runs with the slow tests."""
    return pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.slow)


def some(cases: Iterable[Any], every: int) -> list[Any]:
    """The cases, of which the first of each `every` run in CI; the others are slow."""
    return [case if number % every == 0 else slow(case) for number, case in enumerate(cases)]

"""Which cases of a test CI runs, where each takes seconds and all of them show one kind."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def some(cases: Iterable[Any], every: int) -> list[Any]:
    """The cases of a `parametrize`, of which the first of each `every` run in CI; the others are slow."""
    return [
        case if number % every == 0 else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=[_SLOW])
        for number, case in enumerate(cases)
    ]


_SLOW = pytest.mark.slow

"""What the gradient doctor says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Finding:
    """What is wrong at a layer or a parameter, and what to do. A `note` is no fault where it is meant."""

    severity: Literal["error", "warning", "note"]
    place: str
    what: str
    hint: str

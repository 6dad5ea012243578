"""What a form is: a pure function of what a check found."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from exporter.check.run import Examination

#: Gives the whole text, a newline at its end. `color`: ANSI colours, for a terminal.
Form: TypeAlias = Callable[[Examination, bool], str]

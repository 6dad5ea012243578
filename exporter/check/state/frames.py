"""Calls in progress: their names, what they returned so far, and the circumstances in which code runs."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import NamedTuple

from exporter.check.domain.values import Value
from exporter.check.facts import Phase
from exporter.check.source.project import ClassInfo, ParsedModule


class Result(NamedTuple):
    """What a call gave at one `return`; `by_tensor`: a tensor chose this way, `certain`: Python surely goes it."""

    node: ast.AST
    value: Value
    by_tensor: bool
    certain: bool


class Scope(dict[str, Value]):
    """The names of a call; `persistent` ones were there before the model was called, and closures keep them."""

    persistent = False


class Circumstances(NamedTuple):
    """See :class:`exporter.check.facts.Site`.

    `undecided` counts the conditions that Python will decide, `unrolled` those of the `python_loops` that are run item
    by item.
    """

    phase: Phase = Phase.MODULE
    converted: bool = True
    branches: int = 0
    loops: int = 0
    python_loops: int = 0
    unrolled: int = 0
    undecided: int = 0
    loop_kind: str = ""
    loop_branches: int = 0
    called_from: tuple[ParsedModule, ast.AST] | None = None
    quiet: bool = False
    guard: tuple[ParsedModule, ast.AST] | None = None
    caught: frozenset[str] = frozenset()
    handed_over: tuple[ParsedModule, ast.AST] | None = None

    @property
    def depth(self) -> int:
        """How many loops are around, of whatever kind."""
        return self.loops + self.python_loops


@dataclass(eq=False, repr=False)
class Frame:
    """A call in progress: its names, the scopes around it, and what it has returned so far.

    `began` are the circumstances that it began in.
    """

    module: ParsedModule
    names: dict[str, Value]
    scopes: tuple[dict[str, Value], ...] = ()
    cls: ClassInfo | None = None
    node: ast.AST | None = None
    returns: list[Result] = field(default_factory=list)
    yields: list[Value] = field(default_factory=list)
    outer: frozenset[str] = frozenset()
    globals: frozenset[str] = frozenset()
    began: Circumstances = field(default_factory=Circumstances)

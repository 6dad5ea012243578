"""Which side of a condition within a line was taken, told from the instructions that ran.

What decides may be anything, values as well as sizes (`self.a(x) if x.mean() > 0 else self.b(x)`): nothing is
computed or called to know it.
Python 3.10 does not say where in its line an instruction stands; there nothing is known here.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from types import CodeType

from exporter.prove.goldens.questions import Question


class Sides:
    """The conditions of one code object whose sides can be told apart, and what ran of them."""

    def __init__(self, code: CodeType, questions: Iterable[Question]) -> None:
        places = list(code.co_positions()) if hasattr(code, "co_positions") else []
        self._marks: dict[int, list[tuple[Question, bool | None]]] = {}
        for question in questions:
            for side, parts in _sides(question):
                for offset in _offsets(places, parts):
                    self._marks.setdefault(offset, []).append((question, side))

    def __bool__(self) -> bool:
        """Whether there are any, so that each instruction has to be looked at."""
        return bool(self._marks)

    def ran(self, offset: int, asked: set[Question]) -> list[tuple[Question, bool]]:
        """What an instruction answers; `asked` gets the conditions of an `if` whose answer is still to come."""
        answers = []
        for question, side in self._marks.get(offset, ()):
            if side is None:
                asked.add(question)
            else:
                asked.discard(question)
                answers.append((question, side))
        return answers


def passed_by(asked: set[Question], line: int) -> list[tuple[Question, bool]]:
    """The conditions of an `if` that a frame has left for `line` (0 as it returns), past what they guard."""
    left = [one for one in asked if not one.node.lineno <= line <= (one.node.end_lineno or 0)]
    asked.difference_update(left)
    return [(question, False) for question in left]


def _sides(question: Question) -> list[tuple[bool | None, Sequence[ast.expr | ast.stmt]]]:
    guard = question.guard
    if guard is None:
        return []
    if isinstance(guard, ast.IfExp):
        return [(True, [guard.body]), (False, [guard.orelse])]
    return [(True, guard.body), (None, [guard.test])]  # an `else` begins another line, past what the `if` guards


def _offsets(
    places: Sequence[tuple[int | None, int | None, int | None, int | None]], parts: Sequence[ast.expr | ast.stmt]
) -> list[int]:
    """Where the instructions stand that belong to these parts of the source."""
    spans = [
        ((part.lineno, part.col_offset), (part.end_lineno or 0, part.end_col_offset or 0))  # 0 for the type checker
        for part in parts
    ]
    found = []
    for at, (line, end_line, column, end_column) in enumerate(places):
        if line is None or end_line is None or column is None or end_column is None:
            continue
        if any(start <= (line, column) and (end_line, end_column) <= end for start, end in spans):
            found.append(2 * at)
    return found

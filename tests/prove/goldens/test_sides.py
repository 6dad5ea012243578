"""Which side of a condition within a line an instruction belongs to, and when one without `else` was passed by."""

from __future__ import annotations

import ast
import sys

import pytest

from exporter.prove.goldens.questions import Question, questions
from exporter.prove.goldens.sides import Sides, _offsets, passed_by


def asked_in(text: str) -> list[Question]:
    """The questions of a piece of source, in its order."""
    return [question for node in ast.walk(ast.parse(text)) for question in questions(node)]


def test_a_condition_of_many_lines_is_passed_by_when_its_last_line_is_left() -> None:
    (question,) = asked_in("\n" * 9 + "if (n\n    >\n    5): y = 3")
    assert (question.node.lineno, question.node.end_lineno) == (10, 12)
    asked = {question}
    for line in (10, 11, 12):
        assert passed_by(asked, line) == [] and asked == {question}
    assert passed_by(asked, 13) == [(question, False)] and asked == set()
    for line in (0, 9):
        assert passed_by({question}, line) == [(question, False)]


def test_code_without_such_conditions_has_no_instruction_to_look_at() -> None:
    code = compile("y = 3 if n > 5 else 1", "net.py", "exec")
    assert not Sides(code, [])
    assert bool(Sides(code, asked_in("y = 3 if n > 5 else 1"))) is (sys.version_info >= (3, 11))


@pytest.mark.parametrize("known", range(5))
def test_an_instruction_whose_place_is_not_known_whole_belongs_to_no_part(known: int) -> None:
    """Python leaves out columns with `-X no_debug_ranges`, and all of what it makes itself."""
    (part,) = ast.parse("y = 3").body
    place: list[int | None] = [1, 1, 0, 5]
    assert _offsets([(9, 9, 0, 5), (1, 1, 0, 5)], [part]) == [2]
    place[known:] = [None] * (4 - known)
    assert _offsets([(place[0], place[1], place[2], place[3])], [part]) == ([0] if known == 4 else [])


@pytest.mark.parametrize("missing", range(4))
def test_one_part_of_a_place_that_is_missing_is_enough(missing: int) -> None:
    (part,) = ast.parse("y = 3").body
    place = [None if at == missing else value for at, value in enumerate((1, 1, 0, 5))]
    assert _offsets([(place[0], place[1], place[2], place[3])], [part]) == []


def test_each_statement_that_a_condition_guards_is_a_part_of_its_side() -> None:
    parts = ast.parse("y = 3; z = 4").body
    assert _offsets([(1, 1, 0, 5), (1, 1, 7, 12), (1, 1, 0, 12), (1, 1, 13, 14)], parts) == [0, 2]

"""Which questions a piece of source asks, what is known of their answers, and which answers there may be."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import FrameType, SimpleNamespace
from typing import Any, ClassVar, cast

import pytest

from exporter.prove.goldens.questions import Question, computed, questions


class Owner:
    """Has one table of its class and one of its own."""

    OF_CLASS: ClassVar[dict[int, int]] = {37: 3}

    def __init__(self) -> None:
        self.k, self.own = 3, {5: 1, "a": 2, 4.5: 3}


def frame(**names: Any) -> FrameType:
    """A frame with these local names, and some of the module."""
    x = SimpleNamespace(shape=[8, 4])
    held = {"n": 7, "zero": 0, "on": True, "x": x, "self": Owner(), "f": 2.5, **names}
    return cast(FrameType, SimpleNamespace(f_locals=held, f_globals={"LIMIT": 37, "n": 99, "TABLE": {37: 3}}))


def node_of(text: str) -> ast.expr:
    """An expression."""
    return ast.parse(text, mode="eval").body


COMPUTED: dict[str, Any] = {
    "n + 2": 9, "n - 2": 5, "n * 2": 14, "n // 2": 3, "n % 4": 3, "n / 2": None, "n // zero": None,
    "n == 7": True, "n == 8": False, "n != 7": False, "n != 8": True, "n < 7": False, "n < 8": True, "n <= 7": True,
    "n <= 6": False, "n > 7": False, "n > 6": True, "n >= 7": True, "n >= 8": False, "6 < n < 9": None,
    "n is 7": None, "not n": False, "not zero": True, "not unknown": None, "-n": None, "~n": None,
    "n and zero": False, "n and on": True, "n or zero": True, "zero or zero": False, "n and unknown": None,
    "(n, 2)": (7, 2), "(n, unknown)": None, "()": None, "[n]": None, "int(n)": 7, "int(n, 2)": None, "abs(n)": None,
    "self.int(n)": None, "int(x.shape[1])": 4, "37": 37, "3.5": None, "'a'": None, "True": None, "on": True, "f": None,
    "LIMIT": 37, "unknown": None, "self.k": 3, "self.k + n": 10, "self.unknown": None, "self.own": None,
    "x.shape[0]": 8, "x.shape[-1]": 4, "x.shape[9]": None, "x.shape[n]": None, "x.shape[0:1]": None, "x.sizes[0]": None,
    "n[0]": None, "unknown.shape[0]": None, "x.shape[0] % 3 == 2": True, "lambda: n": None,
}  # fmt: skip


@pytest.mark.parametrize("text", COMPUTED)
def test_what_whole_numbers_names_and_sizes_give_is_known_and_nothing_else(text: str) -> None:
    got = computed(node_of(text), frame())
    assert (got, type(got)) == (COMPUTED[text], type(COMPUTED[text]))


ASKED: dict[str, list[tuple[str, str | None, str | None]]] = {
    "y = a if c else b": [("c", None, "IfExp")],
    "y = a if True else b": [],
    "if c: y = 1": [("c", None, "If")],
    "if (c\n    or d): y = 1": [("c or d", None, "If")],
    "if c:\n    y = 1": [],
    "if 1: y = 1": [],
    "while c: y()": [("c", None, None)],
    "while c:\n    y()": [],
    "y = t[k]": [("k", "t", None)],
    "y = t[k, 2]": [("(k, 2)", "t", None)],
    "y = t[0]": [],
    "y = t[1:n]": [],
    "t[k] = 3": [],
    "del t[k]": [],
    **{f"t.{name}(k, 1)": [("k", "t", None)] for name in ("get", "pop", "setdefault", "add", "discard", "remove")},
    "t.get()": [],
    "get(k)": [],
    "t.index(k)": [],
    "k in t": [("k", "t", None)],
    "k not in t": [("k", "t", None)],
    "k == t": [],
    "a in b in c": [],
    "a in b == c": [],
    "{37, n}": [("37 == n", None, None)],
    "{n, 37}": [("n == 37", None, None)],
    "{37, n, m}": [("37 == n", None, None), ("37 == m", None, None), ("n == m", None, None)],
    "{1, 2}": [],
    "{n}": [],
    **{
        f"{name}([n, m])": [("n == m", None, None)]
        for name in ("set", "frozenset", "dict.fromkeys", "Counter", "collections.Counter")
    },
    "set((n, m))": [("n == m", None, None)],
    "set(n)": [],
    "set()": [],
    "list([n, m])": [],
    **{f"{{n}} {sign} t": [("n", "t", None)] for sign in "&|^-"},
    **{f"t {sign} {{n}}": [("n", "t", None)] for sign in "&|^-"},
    "{n} & {m}": [("n", "{m}", None), ("m", "{n}", None)],
    "{n} + t": [],
    "{37} & t": [],
    "n & m": [],
    "match n:\n    case 37: y = 1\n    case 5 | 6: y = 2\n    case _: y = 3": [("n", "{37, 5, 6}", None)],
    "match n:\n    case 37:\n        y = 1\n    case 5: y = 2": [("n", "{5}", None)],
    "match n:\n    case _: y = 3": [],
}


@pytest.mark.parametrize("text", ASKED)
def test_what_decides_within_a_line_is_a_question(text: str) -> None:
    asked = [question for node in ast.walk(ast.parse(text)) for question in questions(node)]
    told = [
        (ast.unparse(one.node), one.table and ast.unparse(one.table), one.guard and type(one.guard).__name__)
        for one in asked
    ]
    assert told == ASKED[text]


def test_of_a_set_with_many_elements_the_first_eight_are_compared() -> None:
    written = node_of("{" + ", ".join(f"n{number}" for number in range(9)) + "}")
    assert len(list(questions(written))) == 8 * 7 / 2


def test_where_a_question_stands_is_where_it_is_written() -> None:
    (question,) = questions(ast.parse("\n\n{37, n}").body[0].value)  # type: ignore[attr-defined]
    assert question.node.lineno == 3


def test_a_condition_is_answered_by_its_truth_and_a_table_by_its_key() -> None:
    assert Question(node_of("n")).answered(frame()) is True
    assert Question(node_of("zero")).answered(frame()) is False
    assert Question(node_of("unknown")).answered(frame()) is None
    assert Question(node_of("n"), node_of("TABLE")).answered(frame()) == 7
    assert Question(node_of("zero"), node_of("TABLE")).answered(frame()) == 0
    assert Question(node_of("n")).possible(frame()) == {True, False}


TABLES: dict[str, set[Any]] = {
    "TABLE": {37},
    "TABLE.keys()": {37},
    "TABLE.values()": set(),
    "made()": set(),
    "self.own": {5},
    "self.OF_CLASS": {37},
    "self.unknown": set(),
    "self.k": set(),
    "unknown": set(),
    "{37: 3, n: 4, 'a': 5, **rest}": {37, 7},
    "{37, n, f, (1, n)}": {37, 7, (1, 7)},
    "[37]": set(),
    "listed": set(),
    "frozen": {4, (2, 3)},
}


@pytest.mark.parametrize("text", TABLES)
def test_the_entries_of_a_table_are_its_whole_numbers_and_tuples_of_some(text: str) -> None:
    names = {"listed": [1, 2], "frozen": frozenset({4, (2, 3), (2, "a"), True, "b"})}
    assert Question(node_of("n"), node_of(text)).possible(frame(**names)) == TABLES[text]


def test_a_table_with_too_many_entries_is_not_looked_through_and_its_own_methods_are_not_called() -> None:
    class Sly(dict[int, int]):
        def __iter__(self) -> Iterator[int]:
            raise AssertionError

        def __len__(self) -> int:
            return 1

    question = Question(node_of("n"), node_of("table"))
    words = {5: 0, **{f"a{number}": 0 for number in range(64)}}
    assert question.possible(frame(table=words)) == frozenset()
    del words["a0"]
    assert question.possible(frame(table=words)) == {5}
    assert question.possible(frame(table=Sly({7: 1}))) == {7}


def test_of_a_table_with_many_entries_some_are_asked_for_and_of_one_with_too_many_none() -> None:
    def asked(keys: list[Any]) -> list[Any]:
        question = Question(node_of("n"), node_of("table"))
        return sorted(question.possible(frame(table=dict.fromkeys(keys))))  # type: ignore[type-var]

    assert asked([*range(8)]) == [*range(8)]
    assert asked([*range(8, -1, -1)]) == [0, 2, 4, 6, 8]
    assert asked([*range(64)]) == [*range(0, 64, 8)]
    assert asked([*range(65)]) == []
    written = node_of("{" + ", ".join(map(str, range(65))) + "}")
    assert Question(node_of("n"), written).possible(frame()) == frozenset()
    assert Question(node_of("n"), node_of("mixed")).possible(frame(mixed={3: 0, (1, 2): 0, (9, 9): 0})) == {
        3,
        (1, 2),
        (9, 9),
    }


def test_what_is_said_of_an_answer_names_the_table_or_the_condition() -> None:
    entry = Question(node_of("n"), node_of("TABLE")).what(37)
    assert entry == "no case takes the entry 37 of `TABLE`, so nothing proves it"
    side = Question(node_of("n > 5")).what(False)
    assert side == "`n > 5` is False in no case, so nothing proves what it decides there"

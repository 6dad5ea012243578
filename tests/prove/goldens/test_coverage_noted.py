"""What the search for unreached branches notes of a condition, how it counts, and what it does not follow."""

from __future__ import annotations

import ast
import builtins
import sys
import textwrap
import types
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from exporter.prove.goldens import coverage as search
from exporter.prove.goldens.coverage import (
    SIZE,
    VALUE,
    Coverage,
    TooLong,
    _numbers,
    _parts,
    _plain,
    _sizes_in,
    _truth,
    _varies,
)
from tests.prove.goldens.test_coverage import NET, Value, missing, module, watched


class Sized:
    """As a tensor, it tells its sizes by a property of its class."""

    def __init__(self, shape: object) -> None:
        self._shape = shape

    @property
    def shape(self) -> object:
        return self._shape


class Unsized:
    shape = None


class Unlike:
    """Nothing of it may be asked to compare itself: it is no plain value."""

    def __eq__(self, other: object) -> bool:
        raise AssertionError("the user's code was called")

    __hash__ = None  # type: ignore[assignment]


def expression(text: str) -> ast.expr:
    return ast.parse(text, mode="eval").body


KINDS = types.ModuleType("kinds")
KINDS.Whole = int  # type: ignore[attr-defined]


def frame(**local_names: Any) -> Any:
    """Stands for a frame that stopped before a condition."""
    module_names = {"kinds": KINDS, "holder": SimpleNamespace(kind=int), "LIMIT": 37}
    return SimpleNamespace(f_locals=local_names, f_globals=module_names, f_builtins=vars(builtins))


SELF = SimpleNamespace(word="a", nothing=None, x=Value(1.0, 2, 4))
LOCALS = frame(on=True, off=False, n=3, word="a", nothing=None, x=Unlike(), self=SELF)


@pytest.mark.parametrize(
    ("operand", "truth"),
    [
        ("on", True), ("off", False), ("n", True), ("self.word", True), ("nothing", None), ("missing", None),
        ("x", None), ("not on", False), ("not off", True), ("not x", None), ("-n", None), ("~n", None),
        ("on and off", None),
        ("n == 3", True), ("n == 4", False), ("n != 3", False), ("n != 4", True), ("word == 'a'", True),
        ("n == m", None), ("n == on", None), ("n < 3", None), ("n == 3 == on", None), ("x == 3", None),
        ("nothing == 3", None), ("missing == 3", None), ("self.word == 'a'", True), ("self.nothing == 3", None),
        ("nothing is None", True), ("nothing is not None", False), ("n is None", False), ("n is not None", True),
        ("missing is None", None), ("self.word is None", False), ("self.nothing is None", None), ("n == None", False),
        ("n is 3", None), ("(n + 1) is None", None), ("x is None", False), ("nothing < None", None),
        ("isinstance(n, int)", True), ("isinstance(n, str)", False), ("isinstance(n, (str, int))", True),
        ("isinstance(n, (str, float))", False), ("isinstance(n, ())", False), ("isinstance(missing, int)", None),
        ("isinstance(n, Missing)", None), ("isinstance(n, (int, Missing))", None), ("isinstance(n, kinds.Whole)", True),
        ("isinstance(word, kinds.Whole)", False), ("isinstance(n, holder.kind)", None), ("isinstance(n, 'int')", None),
        ("isinstance(n)", None), ("isinstance(n, int, int)", None), ("issubclass(n, int)", None), ("callable(n)", None),
        ("isinstance(nothing, int)", False), ("isinstance(n + 1, int)", None),
    ],
)  # fmt: skip
def test_the_truth_of_an_operand_is_known_without_a_call_or_not_at_all(operand: str, truth: bool | None) -> None:
    assert _truth(expression(operand), LOCALS) is truth


@pytest.mark.parametrize(
    ("value", "noted"),
    [
        (None, None), (True, True), (3, 3), (2.5, 2.5), ("a", "a"), ([1, 2], (2, 1, 2)), ((1, (2,)), (2, 1, (1, 2))),
        (list(range(17)), (17, *range(16))), (Sized([2, 4]), ("sizes", 2, 4)), (Sized((2,)), ("sizes", 2)),
        (Sized(4), "Sized"), (Unsized(), "Unsized"), (Unlike(), "Unlike"),
        (SimpleNamespace(shape=[2]), "SimpleNamespace"),
    ],
)  # fmt: skip
def test_of_a_value_is_noted_what_can_be_compared_from_case_to_case(value: object, noted: object) -> None:
    assert _plain(value) == noted and type(_plain(value)) is type(noted)


@pytest.mark.parametrize(
    ("condition", "parts"),
    [
        ("x.shape[1]", [4]), ("x.shape", ["x"]), ("self.x.shape", ["x"]), ("x.ndim", []), ("self.x.dtype", []),
        ("x.number", [1.0]), ("self.word", ["a"]), ("self.nothing", ["self"]), ("n + 3 > m", [3, None]),
        ("f(n, x.shape[0])", [None, 3, 2]), ("x.shape[n]", ["x", 3]), ("x[0]", ["x"]), ("x.shape[5]", ["x"]),
    ],
)  # fmt: skip
def test_the_parts_of_a_condition_are_its_names_plain_attributes_and_sizes(condition: str, parts: list[Any]) -> None:
    stand_for: dict[Any, Any] = {"x": SELF.x, "self": SELF}
    found = list(_parts(expression(condition), frame(n=3, x=SELF.x, self=SELF)))
    assert found == [stand_for.get(part, part) for part in parts]


MANY, FEWER = set(range(64)), set(range(63))


@pytest.mark.parametrize(
    ("by_case", "varies"),
    [
        (None, True), ({}, True), ({1: {3}}, True), ({1: {3}, 2: {3}}, False), ({1: {3}, 2: {4}}, True),
        ({1: {3}, 2: {3}, 3: {4}}, True), ({1: {3}, 2: {3}, 3: {3}}, False),
        ({1: MANY, 2: MANY}, True), ({1: FEWER, 2: FEWER}, False),
    ],
)  # fmt: skip
def test_what_is_the_same_in_two_cases_does_not_vary_unless_there_was_more_than_is_noted(
    by_case: dict[int, set[Any]] | None, varies: bool
) -> None:
    assert _varies(by_case) is varies


@pytest.mark.parametrize(
    ("condition", "held", "numbers"),
    [
        ("n > 5", {}, (5,)), ("n > LIMIT", {}, (37,)), ("n > True", {}, ()), ("n == 'a'", {}, ()), ("n > 2.5", {}, ()),
        ("n > 5", {1: {(8,)}, 2: {(7,)}}, (5,)), ("n > 5", {1: {(8,)}, 2: {(8,)}}, (5, 8)),
        ("key.startswith('[37, 5')", {}, (5, 37)), ("key == SIZES", {}, (3, 4)),
        (f"key == '7{63 * ' '}'", {}, (7,)), (f"key == '7{64 * ' '}'", {}, ()),
        ("n == m", {1: {(8, 24)}, 2: {(7, 30)}}, (8, 24)), ("n == m", {1: {(8, 24), (9, 9)}, 2: {(9, 9)}}, (8, 9, 24)),
        ("x.shape == 5", {1: {(("sizes", 8, 24),)}, 2: {(("sizes", 7, 24),)}}, (5, 8, 24)),
    ],
)  # fmt: skip
def test_numbers_worth_a_try_are_those_that_are_written_held_or_compared(
    condition: str, held: dict[int, set[Any]], numbers: tuple[int, ...]
) -> None:
    seen = cast(Any, SimpleNamespace(globals={"LIMIT": 37, "WORD": "a", "SIZES": "[3, 4]"}))
    assert _numbers([expression(condition)], held, seen) == numbers


@pytest.mark.parametrize(
    ("noted", "sizes"),
    [(("sizes", 8, 24), (8, 24)), (8, (8,)), (True, ()), ("sizes", ()), ((2, 8, 9), ()), (("sizes", 8, 2.5), (8,))],
)
def test_sizes_are_whole_numbers_and_those_of_a_tensor(noted: Any, sizes: tuple[int, ...]) -> None:
    assert _sizes_in(noted) == sizes


FORWARDS: dict[str, tuple[str, list[tuple[str, int]]]] = {
    "more values than are noted": (
        "y = 0\nfor i in range(100):\n    if i + x.shape[1] > 500:\n        y = 9",
        [("y = 9", SIZE)],
    ),
    "fewer, the same in all cases": ("y = 0\nfor i in range(63):\n    if i + x.shape[1] > 500:\n        y = 9", []),
    "more on a line": (
        "y = 0\nfor i in range(100):\n    y = 3 if i + x.shape[1] > 500 else 1",
        [("y = 3 if i + x.shape[1] > 500 else 1", SIZE)],
    ),
    "fewer on a line": ("y = 0\nfor i in range(63):\n    y = 3 if i + x.shape[1] > 500 else 1", []),
    "one on its line that is passed by and then not": (
        "y = 0\nfor i in range(3):\n    if x.sum() * 9 * i > 5: y = 3",
        [],
    ),
    "what two values decide": (
        "s = x.sum()\ny = 3 if s > 0 and s > 5 else 1",
        [("y = 3 if s > 0 and s > 5 else 1", VALUE)],
    ),
    "a flag that a value set, and a value": (
        "flag = x.sum() > 5\nif flag and x.sum() < 50:\n    x = x * 9",
        [("x = x * 9", VALUE)],
    ),
    "one word of two, and a value": ("if self.always and self.training and x.sum() > 5:\n    x = x * 9", []),
    "a match of either": (
        "match int(x.sum()) or self.always:\n    case 1 | 2:\n        y = 1\n    case 5:\n        y = 9",
        [("y = 9", VALUE)],
    ),
    "a condition that fails": (
        "try:\n    if x.sum()() > 5:\n        y = 9\nexcept TypeError:\n    y = 1",
        [("if x.sum()() > 5:", VALUE), ("y = 9", VALUE)],
    ),
    "a condition that fails, and configuration": (
        "try:\n    if x.sum()() > 5 and self.training:\n        y = 9\nexcept TypeError:\n    y = 1",
        [("if x.sum()() > 5 and self.training:", VALUE)],
    ),
    "one on its line that fails": ("try:\n    if x.sum()() > 5: y = 9\nexcept TypeError:\n    y = 1", []),
    "a side of a condition that fails": ("try:\n    y = 3 if x.sum()() > 5 else 1\nexcept TypeError:\n    y = 1", []),
    "what Python's library decides": ("import colorsys\ny = colorsys.rgb_to_hsv(x.sum(), 0.5, 0.25)", []),
    "what builds an object": (
        "class Scale:\n    def __init__(self):\n        if x.sum() > 5:\n            self.s = 9\ny = Scale()",
        [],
    ),
    "a function that ends with an if": (
        "def inner(y):\n    if y > 5:\n        y = 9\ninner(x.sum())",
        [("y = 9", VALUE)],
    ),
    "a condition in a generator, of which nothing is known": (
        "def inner(ys): return max(3 if y > 5 else 1 for y in ys)\ny = inner([x.sum()])",
        [],
    ),
}


@pytest.mark.parametrize("name", FORWARDS)
def test_what_is_named_is_what_an_input_can_decide(name: str, tmp_path: Path) -> None:
    body, named = FORWARDS[name]
    assert missing(tmp_path, NET + textwrap.indent(body, " " * 8) + "\n        return x") == named


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 does not say where in a line an instruction stands")
def test_an_if_on_the_last_line_of_a_function_is_passed_by_as_it_returns(tmp_path: Path) -> None:
    body = "        def inner(y):\n            if y > 5: y = 9\n        inner(x.sum())\n        return x"
    assert missing(tmp_path, NET + body) == [("if y > 5: y = 9", VALUE)]


def test_a_helper_has_no_input_for_its_parameter_having_the_name_of_one(tmp_path: Path) -> None:
    helper = "\ndef own(x):\n    if x > 5:\n        return 9\n    return x\n"
    assert missing(tmp_path, helper + NET + "        y = own(3)\n        return x") == []
    assert missing(tmp_path, helper + NET + "        y = own(x.sum())\n        return x") == [("return 9", VALUE)]


def test_a_layer_that_a_library_calls_was_called_by_the_users_line(tmp_path: Path, monkeypatch: Any) -> None:
    """As Paddle's `Layer.__call__` calls `forward`."""
    (tmp_path / "library").mkdir()
    library = module(
        tmp_path / "library", "class Base:\n    def __call__(self, *given):\n        return self.forward(*given)"
    )
    monkeypatch.setattr(search, "_ELSEWHERE", (*search._ELSEWHERE, str(tmp_path / "library")))
    part = f"""
from {library.__name__} import Base

class Sub(Base):
    def forward(self, x, flag):
        if flag:
            return x * 6
        return x
"""
    body = "        x = Sub()(x, x.sum() > 5)\n        return x"
    assert missing(tmp_path, part + NET + body) == [("return x * 6", VALUE)]


TWO_SIZES = (Value(1.0, 2, 4), Value(1.0, 3, 4))


def test_an_entry_is_asked_for_if_any_dim_promises_it_and_is_itself_the_number_to_try(tmp_path: Path) -> None:
    net = module(tmp_path, NET + "        y = {37: 3, 90: 4}.get(x.shape[0] * 1, 5)\n        return x").Net()
    (left,) = watched(net, *TWO_SIZES, sizes=[range(1, 65), range(1, 5)]).unreached()
    assert "entry 37 " in left.what and left.numbers == (37,)


def test_of_a_table_no_entry_is_asked_for_that_a_value_decides(tmp_path: Path) -> None:
    """No input can be given the value 37 as a dim can the size, and EX143 refuses such a table before anything runs."""
    body = "        k = int(x.sum())\n        y = {37: 3}.get(k, 1)\n        return x"
    net = module(tmp_path, NET + body).Net()
    assert watched(net, Value(1.0, 2, 4), Value(2.0, 2, 4), sizes=[range(1, 65)]).unreached() == []


def test_of_a_side_the_number_in_its_condition_is_worth_a_try(tmp_path: Path) -> None:
    net = module(tmp_path, NET + "        n = x.shape[0]\n        y = 3 if n == 37 else 1\n        return x").Net()
    (left,) = watched(net, *TWO_SIZES).unreached()
    assert left.numbers == (37,)


def test_what_a_later_case_ran_or_called_is_followed_too(tmp_path: Path) -> None:
    """Influence is worked out again when a function, or a line that calls one, is new."""
    text = """
def helper(flag):
    if flag:
        return 9
    return 1

class Net:
    def forward(self, x):
        if x.number > 5:
            return helper(x.number > 50)
        return helper(False)
"""
    made = module(tmp_path, text)
    net, lines = made.Net(), Path(str(made.__file__)).read_text().splitlines()
    coverage = Coverage(net, ("x",))
    assert coverage.unreached() == [] and coverage.longest == 0
    for number, named in ((1.0, "return helper(x.number > 50)"), (6.0, "return 9")):
        with coverage.watching():
            net.forward(Value(number, 2, 4))
        assert named in [lines[left.line - 1].strip() for left in coverage.unreached()]


def test_what_was_asked_before_anything_ran_is_asked_anew(tmp_path: Path) -> None:
    text = "class Net:\n    def forward(self, x):\n        if x.number > 5:\n            x = 9\n        return x"
    net = module(tmp_path, text).Net()
    coverage = Coverage(net, ("x",))
    assert coverage.unreached() == []
    with coverage.watching():
        net.forward(Value(1.0, 2))
    assert [left.by for left in coverage.unreached()] == [VALUE]


def test_an_option_that_is_none_and_then_false_settles_what_needs_it(tmp_path: Path) -> None:
    net = module(
        tmp_path, NET + "        if self.option and x.sum() > 5:\n            x = x * 9\n        return x"
    ).Net()
    coverage = Coverage(net, ("x",))
    for net.option in (None, False):
        with coverage.watching():
            net.forward(Value(1.0, 2, 4))
    assert coverage.unreached() == []


def test_lines_are_counted_one_by_one_and_the_longest_run_is_told(tmp_path: Path) -> None:
    """17 times round is 2 lines each, and one more to see that it is over; `return` is the last."""
    net = module(
        tmp_path,
        "class Net:\n    def forward(self, n):\n        for i in range(n):\n            n = i\n        return n",
    ).Net()
    coverage = Coverage(net, ("n",))
    for rounds in (17, 3):
        with coverage.watching(2 * rounds + 2):
            net.forward(rounds)
        assert coverage.longest == 2 * 17 + 2
    with pytest.raises(TooLong), coverage.watching(2 * 17 + 1):
        net.forward(17)
    with coverage.watching():
        net.forward(17)


def test_a_file_is_read_once_for_all_its_functions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    plain = search.functions
    monkeypatch.setattr(search, "functions", lambda path: read.append(path) or plain(path))
    body = "        x = helper(x.sum(), x)\n        x = self.part(x, False)\n        return self.layers[0](x)"
    assert missing(tmp_path, NET + body) == [("return x * 9", VALUE)]
    assert len([path for path in read if path.startswith(str(tmp_path))]) == 1

"""What lines of eager code leave, and which operator of a program is off first, on programs written by hand."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import paddle
import pytest

from exporter.base.readers.program import Block, Operator, Value
from exporter.base.tensors import Array
from exporter.prove.root_cause import origin
from exporter.prove.root_cause.origin import Left, Lines, Suspects, first_off, in_words

FILE = __file__


def traced(function: Callable[..., Any], *arguments: Any) -> list[tuple[list[float], int | None]]:
    """What its lines leave, flat, each with the line counted from the function's first; None: from outside."""
    lines, before, first = Lines(), sys.gettrace(), function.__code__.co_firstlineno
    sys.settrace(lines)
    try:
        function(*arguments)
    finally:
        sys.settrace(before)
    told = []
    for left in lines.values:
        path, _, line = left.line.rpartition(":")
        assert path == (FILE if left.line else "")
        told.append((left.value.ravel().tolist(), int(line) - first if left.line else None))
    return told


def tensor(*numbers: float) -> paddle.Tensor:
    return paddle.to_tensor(numbers, "float32")


class TestLines:
    def test_each_value_stands_at_the_line_that_leaves_it(self) -> None:
        def forward(x: paddle.Tensor) -> paddle.Tensor:
            y = x + 1
            z = [y * 2, {"a": y * 3}]
            return y - z[0]

        assert traced(forward, tensor(1)) == [([1], None), ([2], 1), ([4], 2), ([6], 2), ([-2], 3)]

    def test_only_a_forward_keeps_what_it_takes(self) -> None:
        def other(x: paddle.Tensor) -> None:
            assert x is not None

        def calls(x: paddle.Tensor) -> None:
            other(x)

        assert traced(calls, tensor(1)) == [([1], 1)], "as the function's own line leaves it"

    def test_values_two_deep_in_what_holds_them_are_kept(self) -> None:
        made = paddle.to_tensor

        def forward() -> None:
            held = [([made([1.0])], made([2.0])), {"a": made([3.0]), "b": [made([4.0])]}]
            named = {"a": {"b": [made([5.0])], "c": made([6.0]), "e": {"f": made([8.0])}}, "d": made([7.0])}
            assert held and named

        assert traced(forward) == [([2], 1), ([3], 1), ([6], 2), ([7], 2)]

    def test_a_change_in_place_is_another_value(self) -> None:
        def forward(x: paddle.Tensor) -> None:
            x.add_(paddle.to_tensor([1.0]))
            x.add_(paddle.to_tensor([1.0]))

        assert traced(forward, tensor(1)) == [([1], None), ([2], 1), ([3], 2)]

    def test_what_has_no_value_is_left_out(self) -> None:
        def forward() -> None:
            nothing = paddle.Tensor()
            something = paddle.to_tensor([1.0])
            assert nothing is not something

        assert traced(forward) == [([1], 2)]

    def test_values_are_kept_up_to_so_many_bytes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def forward() -> None:
            first = paddle.to_tensor([1.0, 2.0])
            second = paddle.to_tensor([3.0, 4.0])
            third = paddle.to_tensor([5.0, 6.0])
            assert len(first) == len(second) == len(third)

        assert origin._MOST_BYTES == 2**28
        for most in (8, 15):
            monkeypatch.setattr(origin, "_MOST_BYTES", most)
            assert [numbers for numbers, _ in traced(forward)] == [[1, 2], [3, 4]]

    def test_a_library_s_own_lines_are_not_followed(self) -> None:
        def forward(x: paddle.Tensor) -> paddle.Tensor:
            return paddle.nn.functional.normalize(x, axis=0)

        assert len(traced(forward, tensor(3, 4))) == 2


def operator(index: int, kind: str, /, operands: tuple[int, ...] = (), *results: int, **attributes: Any) -> Operator:
    return Operator(kind, index, operands, tuple(Value(number, None) for number in results), attributes)


def program(*operators: tuple[Any, ...], outputs: dict[str, int]) -> Block:
    made = [operator(at, *one) for at, one in enumerate(operators)]
    fetched = [
        operator(len(made) + at, "fetch", (number,), name=name) for at, (name, number) in enumerate(outputs.items())
    ]
    return Block((), (*made, *fetched))


X = np.array([1.0, -2.0, 3.0], "float32")
A, S = X * 2, X * 2 + np.float32(5)
T = np.tanh(S)
CHAIN = program(
    ("data", (), 1),
    ("parameter", (), 9),
    ("matmul", (1, 9), 2),
    ("full", (), 8),
    ("add", (2, 8), 3),
    ("reshape", (3,), 4),
    ("tanh", (4,), 5),
    outputs={"y": 5},
)
EAGER = [Left(X), Left(A, "f:1"), Left(S, "f:2"), Left(T, "f:3")]


MOVES = "assign combine flatten reshape share_data_ slice squeeze transpose unsqueeze".split()


def values(**changed: Array) -> dict[str, Array]:
    given = {"1": X, "2": A, "3": S, "4": S, "y": T} | {name.removeprefix("_"): one for name, one in changed.items()}
    return {name if name == "y" else f"%{name}": one for name, one in given.items()}


def names(found: Suspects) -> list[str]:
    return [one.name for one in found.operators]


class TestFirstOff:
    def test_nothing_is_off_where_all_values_are_right(self) -> None:
        assert first_off(EAGER, values(), CHAIN) == Suspects(())
        assert first_off(EAGER, values(_3=S * 5), CHAIN) == Suspects(()), "the line's value is there"

    def test_it_is_the_operator_between_what_is_right_and_the_first_that_is_near(self) -> None:
        wrong = S * np.float32(1.001)
        off = {"_3": wrong, "_4": wrong, "y": np.tanh(wrong)}
        assert names(first_off(EAGER, values(**off), CHAIN)) == ["add"]
        unseen = [left for left in EAGER if left.line != "f:2"]
        assert names(first_off(unseen, values(**off), CHAIN)) == ["add", "tanh"], "no line says which"
        hidden = values(**off)
        del hidden["%2"]
        assert names(first_off(EAGER, hidden, CHAIN)) == ["matmul", "add"], "what nobody sees may be off"

    def test_what_is_another_value_is_told_by_its_lines(self) -> None:
        wrong = S + 100
        off = {"_3": wrong, "_4": wrong, "y": np.tanh(wrong)}
        found = first_off(EAGER, values(**off), CHAIN)
        assert names(found) == ["add", "tanh"] and found.lines == ("f:2", "f:3")

    @pytest.mark.parametrize(("off", "near"), [(10, True), (11, False)])
    def test_what_is_off_by_a_tenth_of_the_largest_is_the_same_value(self, off: int, near: bool) -> None:
        eager, other = np.array([100.0, 1.0]), np.array([100.0 + off, 1.0])
        found = first_off(
            [Left(X), Left(eager, "f:1")], {"%1": X, "y": other}, program(("exp", (1,), 5), outputs={"y": 5})
        )
        assert found.lines == (() if near else ("f:1",)) and names(found) == ["exp"]

    def test_the_nearest_is_the_one_that_is_off(self) -> None:
        two = program(("data", (), 1), ("exp", (1,), 2), ("log", (1,), 3), outputs={"a": 2, "b": 3})
        computed = {"%1": X, "a": A * np.float32(1.05), "b": A * np.float32(1.01)}
        assert names(first_off([Left(X), Left(A, "f:1")], computed, two)) == ["log"]
        assert names(first_off([Left(X), Left(A, "f:1")], {**computed, "a": A}, two)) == ["log"], "b no line left"

    def test_of_outputs_the_first_that_is_wrong_is_looked_into(self) -> None:
        two = program(
            ("data", (), 1), ("exp", (1,), 2), ("log", (1,), 3), ("sin", (1,), 4), outputs={"a": 2, "b": 3, "c": 4}
        )
        computed = {"%1": X, "a": A, "b": A + 50, "c": A + 70}
        assert names(first_off([Left(X), Left(A, "f:1")], computed, two)) == ["log"]

    def test_values_without_numbers_are_left_out(self) -> None:
        left = [Left(np.zeros(0, "float32"), "f:4"), Left(X.astype("complex64"), "f:5"), Left(np.array(["a"]), "f:6")]
        assert first_off([*EAGER, *left], values(), CHAIN) == Suspects(())
        kept = [Left(np.array([value, value]), f"f:{at}") for at, value in enumerate((True, 3, np.uint8(3)))]
        assert first_off([*EAGER, *kept], values(), CHAIN).lines == ("f:0", "f:1", "f:2")

    @pytest.mark.parametrize("kind", sorted(origin._MOVES))
    def test_what_hands_numbers_on_is_not_blamed(self, kind: str) -> None:
        assert kind in MOVES
        moved = program(("data", (), 1), ("exp", (1,), 2), (kind, (2,), 3), outputs={"y": 3})
        assert names(first_off([Left(X), Left(A, "f:1")], {"%1": X, "y": A * np.float32(1.01)}, moved)) == ["exp"]
        assert len(origin._MOVES) == len(MOVES)

    def test_a_constant_is_blamed_where_nothing_reads_it(self) -> None:
        alone = program(("full", (), 1), outputs={"y": 1})
        assert names(first_off([Left(X, "f:1")], {"y": X * np.float32(1.01)}, alone)) == ["full"]

    @pytest.mark.parametrize("kind", ["data", "parameter"])
    def test_what_comes_from_outside_is_not_blamed(self, kind: str) -> None:
        handed_on = program((kind, (), 1), outputs={"y": 1})
        assert first_off([Left(X, "f:1")], {"y": X * np.float32(1.01)}, handed_on) == Suspects(())

    def test_an_operator_that_leaves_a_value_as_it_was_is_blamed(self) -> None:
        """Its own value is one that is known to be right, of what it read."""
        scaled = program(("data", (), 1), ("scale", (1,), 2), outputs={"y": 2})
        eager = [Left(X), Left(X * np.float32(1.05), "f:1")]
        assert names(first_off(eager, {"y": X, "%1": X}, scaled)) == ["scale"]

    def test_what_comes_from_a_block_is_not_looked_into(self) -> None:
        inner = program(("while", (7,), 2), ("exp", (2,), 3), outputs={"y": 3})
        assert names(first_off([Left(X, "f:1")], {"y": X * np.float32(1.01)}, inner)) == ["while", "exp"]

    def test_an_output_that_is_right_stands_for_what_is_read_further(self) -> None:
        both = program(("data", (), 1), ("exp", (1,), 2), ("log", (2,), 3), outputs={"a": 2, "b": 3})
        computed = {"%1": X, "a": A, "b": S * np.float32(1.01)}
        assert names(first_off([Left(X), Left(A, "f:1"), Left(S, "f:2")], computed, both)) == ["log"]


@pytest.mark.parametrize(
    ("value", "other", "same"),
    [
        (X, X * np.float32(1 + 1.5 * 2.0**-19), True),
        (X, X * np.float32(1 + 2.0**-17), False),
        (np.ones(1, "float32"), np.full(1, 1 + 2.0**-18, "float32"), True),
        (X.astype("float64"), X.astype("float64") * (1 + 15.5 * 2.0**-44), True),
        (X.astype("float64"), X.astype("float64") * (1 + 16.5 * 2.0**-44), False),
        (X.astype("float64"), X.astype("float64") * (1 + 2.0**-41), True),
        (X.astype("float64"), X.astype("float64") * (1 + 2.0**-39), False),
        (np.array([np.nan, 1]), np.array([np.nan, 1]), True),
        (np.array([np.nan, 1]), np.array([1, np.nan]), False),
        (np.array([1, 2]), np.array([1, 2], "int32"), True),
        (np.array([1, 2]), np.array([1, 3]), False),
        (np.array([2**40]), np.array([2**40 + 1]), False),
        (np.array([1, 2]), np.array([1.0, 2.0]), False),
        (X, X[:, None], False),
    ],
)
def test_values_are_the_same_up_to_rounding(value: Array, other: Array, same: bool) -> None:
    assert origin._same(value, other) is same


def test_what_no_distance_can_be_told_of_is_far() -> None:
    assert origin._distance(np.array([np.nan]), np.array([1.0])) == np.inf
    assert origin._distance(np.array([4.0, 3.0]), np.array([5.0, 3.0])) == 0.25


def test_of_suspects_those_that_the_first_line_calls_are_told() -> None:
    one, two, three = (operator(at, name) for at, name in enumerate(("a", "b", "c")))
    line_of = {"a": "f:2", "b": "f:3", "c": "f:2"}
    every = (one, two, three)

    def told(*lines: str) -> tuple[Operator, ...]:
        return Suspects(every, lines).told(lambda operator: line_of[operator.name])

    assert told() == told("f:9") == every
    assert told("f:9", "f:2", "f:3") == (one, three) and told("f:3", "f:2") == (two,)


def test_operators_are_named_by_kind_and_number_and_of_many_the_last() -> None:
    made = [operator(at, f"op{at}") for at in range(6)]
    assert in_words(made[:1]) == "operator op0 (number 0)"
    assert in_words(made[:2]) == "one of the operators op0 (number 0), op1 (number 1)"
    four = ", ".join(f"op{at} (number {at})" for at in range(1, 5))
    assert in_words(made[1:5]) == f"one of the operators {four}"
    assert in_words(made[:5]) == f"one of the operators {four} and 1 before them"
    assert in_words(made).endswith("op5 (number 5) and 2 before them")

"""The answers of an artifact's outputs: which are training's, which rounding decides, which are wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exporter.steps.answer import AnswerRequest, _explained, _moved, judge, judged
from exporter.steps.base import VALUE
from exporter.steps.chain import read_chain
from exporter.steps.judge import Finding, Judged
from exporter.steps.run import save_states
from tests.steps.recorded import recorded

FIRST, SECOND = np.float32([1, 2, 0]), np.float32([3, 0, 1])
MOVE = {"scores": (0.0, 0.01)}
ABOVE: Any = {"threshold": {"above": 0.5}}
EDGE = "lies on an edge, where rounding decides"


def look(
    chain: list[Any],
    samples: Sequence[Any],
    made: Sequence[Any],
    moves: Mapping[str, Sequence[float]] = MOVE,
    deployment: list[Any] | None = None,
) -> Finding:
    """The finding where eager gives `samples`, and an artifact `made`."""
    material = recorded("after", chain, {str(at): value for at, value in enumerate(samples)})
    chains = read_chain(chain), read_chain(chain if deployment is None else deployment)
    return judged(chains, material, [{"scores": value} for value in made], moves)


def test_equal_answers_match() -> None:
    finding = look(["argmax"], [FIRST, SECOND], [FIRST + np.float32(1e-6), SECOND])
    assert finding == Finding("match", elements=2)
    assert look(["softmax", "argmax"], [FIRST, SECOND], [FIRST, SECOND]) == Finding("match", elements=2)


def test_another_answer_is_a_mismatch() -> None:
    finding = look(["argmax"], [FIRST, SECOND], [FIRST, SECOND[::-1]])
    assert finding.outcome == "mismatch" and finding.elements == 0
    assert finding.reason.startswith("the answer to sample 2 is another than training's: by up to 2 in 100.0% of 1 num")


def test_another_dtype_is_a_mismatch() -> None:
    finding = look(["argmax"], [FIRST], [FIRST], deployment=["argmax", {"cast": {"dtype": "int32"}}])
    assert finding.outcome == "mismatch" and finding.reason.endswith("dtype int32, not int64")


def test_steps_that_cannot_run_are_a_mismatch() -> None:
    finding = look(["argmax"], [FIRST, SECOND], [FIRST, np.float32(1)])
    assert finding.outcome == "mismatch"
    assert finding.reason.startswith("the steps cannot run on sample 2: it takes an array of ")


def answers(*values: Any) -> list[dict[str, Any]]:
    return [{VALUE: value} for value in values]


def wide(value: float, *last: float) -> Any:
    """So many numbers that some are moved by nearly as much as they may be, either way."""
    return np.float32([value] * 400 + [*last])


def _turned(near: Any) -> Any:
    """All but the last number on the other side of 0.5."""
    return np.concatenate([1 - near[:-1], near[-1:]])


def test_one_number_on_an_edge_does_not_excuse_the_others() -> None:
    near, far = wide(0.501, 0.2), wide(0.8, 0.9)
    assert look([ABOVE], [far, near], [far, _turned(near)]).outcome == "match"
    for other in (1 - near, np.concatenate([near[:-1], [np.float32(0.9)]])):
        finding = look([ABOVE], [far, near], [far, other])
        assert finding.outcome == "mismatch", "0.2 is on no edge"


def test_one_float_that_moves_far_does_not_excuse_the_others() -> None:
    """As the numbers of a box, whose class is beside its corners."""
    wanted = np.float32([[1, 400], [0, 800]])
    moved = answers(wanted + np.float32([0, 0.5]))
    assert _explained(wanted, wanted + np.float32([[0, 0.9], [0, 0]]), moved) is not None
    assert _explained(wanted, wanted + np.float32([[0.9, 0], [0, 0]]), moved) is None


@pytest.mark.parametrize("value", [0.509, 0.491])
def test_an_answer_that_rounding_decides_is_left_out_and_told(value: float) -> None:
    near, far = wide(value, 0.2), wide(0.8, 0.9)
    finding = look([ABOVE], [far, near], [far, _turned(near)])
    note = "the answers to samples 2 (400 of 401 numbers) lie on an edge, where rounding decides"
    assert finding == Finding("match", elements=402, notes=[note])
    alone = look([ABOVE], [near[:9]], [1 - near[:9]])
    assert alone == Finding("inconclusive", f"every answer {EDGE}: give other samples")
    assert look([ABOVE], [near, far], [_turned(near), far], {}).outcome == "mismatch", "nothing may move"


def test_one_move_that_changes_an_answer_is_enough() -> None:
    """Of eight moves of one number some change it and some do not."""
    assert look([ABOVE], [np.float32([0.501])], [np.float32([0.499])]).outcome == "inconclusive"


def test_an_answer_on_an_edge_as_a_whole_shows_nothing() -> None:
    far, near = wide(0.8, 0.9), wide(0.501)
    other = wide(0.501, 0.501)
    finding = look([ABOVE], [far, near], [far, 1 - near])
    assert finding == Finding("match", elements=401, notes=[f"the answers to samples 2 {EDGE.replace('lies', 'lie')}"])
    assert look([ABOVE], [far, other], [far, 1 - other]).outcome == "match", "one answer was compared, and not two"


def test_answers_of_two_sizes_are_not_the_same() -> None:
    far = wide(0.8, 0.9)
    assert look([ABOVE], [far, far], [far, far]).outcome == "vacuous"
    assert look([ABOVE], [far, far[:9]], [far, far[:9]]).outcome == "match"


@pytest.mark.parametrize("value", [0.511, 0.489])
def test_an_answer_beyond_rounding_is_wrong(value: float) -> None:
    near, far = wide(value, 0.2), wide(0.8, 0.9)
    assert look([ABOVE], [far, near], [far, 1 - near]).outcome == "mismatch"


def test_an_answer_without_a_number_shows_nothing() -> None:
    rows = np.float32([[0, 0.3, 1, 2, 3, 4]])
    assert look(["boxes"], [rows], [rows]) == Finding("inconclusive", "no answer was compared: give other samples")


def test_one_answer_to_all_samples_shows_nothing() -> None:
    finding = look(["argmax"], [FIRST, FIRST * 2, FIRST + 1], [FIRST] * 3)
    said = "every sample has the same answer, so any other model may pass: give other samples"
    assert finding == Finding("vacuous", said)
    assert look(["argmax"], [FIRST, FIRST, SECOND], [FIRST, FIRST, SECOND]).outcome == "match"
    assert look(["argmax"], [FIRST, SECOND, SECOND], [FIRST, SECOND, SECOND]).outcome == "match"
    assert look(["argmax"], [FIRST], [FIRST]).outcome == "match", "of one sample nobody knows"


def test_a_number_on_an_edge_tells_no_answers_apart() -> None:
    far = wide(0.8, 0.9)
    near = wide(0.491, 0.9)
    assert look([ABOVE], [far, far, near], [far, far, _turned(near)]).outcome == "vacuous"
    near = wide(0.491, 0.2)
    assert look([ABOVE], [far, far, near], [far, far, _turned(near)]).outcome == "match", "the last one does"


@pytest.mark.parametrize(("off", "outcome"), [(0.0195, "match"), (0.0205, "mismatch")])
def test_numbers_may_be_off_by_twice_as_much_as_moved_outputs_make_them(off: float, outcome: str) -> None:
    chain: list[Any] = [{"normalize": {}}]
    value = np.random.default_rng(1).random(4000).astype("float32")
    assert look(chain, [value, value * 2], [value + np.float32(off), value * 2]).outcome == outcome


class TestExplained:
    VALUE_ = np.float64([1, 2])

    def explained(self, given: Any, *moved: Any) -> Any:
        return _explained(self.VALUE_, np.asarray(given), answers(*moved))

    def test_the_limit_is_twice_the_largest_move_of_that_number(self) -> None:
        moved = np.add(self.VALUE_, [0.25, 0]), np.subtract(self.VALUE_, [0, 0.125])
        assert not self.explained(np.add(self.VALUE_, [-0.5, 0.25]), *moved).any(), "a float is on no edge"
        for off in [0.53125, 0], [-0.53125, 0], [0, 0.28125], [0, -0.28125], [np.nan, 0]:
            assert self.explained(np.add(self.VALUE_, off), *moved) is None

    def test_moves_that_give_another_shape_say_nothing(self) -> None:
        other = np.zeros((0, 2))
        assert self.explained(np.add(self.VALUE_, [0, 0.5]), other) is None
        assert self.explained(np.add(self.VALUE_, [0, 0.5]), other, self.VALUE_ + 0.25) is not None
        assert self.explained(np.add(self.VALUE_, [0, 0.5])) is None

    def test_no_move_explains_another_shape_of_floats_or_another_dtype(self) -> None:
        moved = self.VALUE_ + 9
        assert self.explained(np.float64([[1, 2]]), moved, moved[:1]) is None
        assert self.explained(np.float32([1, 2]), moved) is None

    def test_a_whole_number_is_on_an_edge_where_it_moves(self) -> None:
        wanted, given = np.int64([1, 2, 3]), np.int64([1, 99, 4])
        assert _explained(wanted, given, answers(np.int64([9, 9, 3]))) is None
        edge = _explained(wanted, given, answers(np.int64([9, 9, 3]), np.int64([1, 2, 0])))
        assert edge.tolist() == [False, True, True]

    def test_an_answer_of_another_size_is_on_an_edge_as_a_whole(self) -> None:
        wanted, given = np.int64([1, 2, 3]), np.int64([1, 3])
        assert _explained(wanted, given, answers(np.int64([9, 9, 9]))) is None
        assert _explained(wanted, given, answers(np.int64([9, 9, 9]), np.int64([1]))).all()


class TestMoved:
    def moved(self, chain: list[Any], moves: dict[str, float]) -> list[Any]:
        """With the moves that are the least that is allowed."""
        zeros = np.zeros(2000, "float32")
        outputs = {"whole": np.int64([1, 2]), "scores": zeros, "other": zeros.copy()}
        return list(
            _moved(read_chain(chain), {VALUE: zeros, **outputs}, {name: (9.0, most) for name, most in moves.items()})
        )

    def test_each_number_of_an_output_is_moved_by_at_most_its_move(self) -> None:
        states = self.moved([], {"scores": 0.5, "whole": 9.0})
        assert len(states) == 24, "8 rounds: each by itself, along its axis, all together"
        for state in states:
            value = state[VALUE]
            assert state["scores"] is value and value.dtype == "float32"
            assert set(np.abs(value)) == {0.5}
            assert not state["other"].any()
            assert (state["whole"].tolist(), state["whole"].dtype) == ([1, 2], np.int64)
        assert not np.array_equal(states[0][VALUE], states[1][VALUE])
        assert {len(set(state[VALUE])) for state in states[2::3]} == {1}
        assert {float(state[VALUE][0]) for state in states[2::3]} == {0.5, -0.5}

    def test_what_is_handed_on_is_the_output_that_was(self) -> None:
        assert not self.moved([], {"other": 0.5})[0][VALUE].any()

    def test_a_large_output_is_moved_by_a_share_of_its_largest_number(self) -> None:
        value = np.float32([-20.0, np.inf, *np.zeros(2000)])
        for moves, most in ({"scores": (0.25, 0.5)}, 5.0), ({"scores": (0.25, 7.0)}, 7.0):
            for state in _moved((), {VALUE: value, "scores": value}, moves):
                numbers = state[VALUE][2:]
                assert set(np.abs(numbers)) == {most}
        empty = value[:0]
        assert all(not state[VALUE].size for state in _moved((), {VALUE: empty, "scores": empty}, moves))

    def test_numbers_move_by_themselves_along_one_axis_or_all_together(self) -> None:
        zeros = np.zeros((30, 40), "float32")
        states = [*_moved((), {VALUE: zeros, "scores": zeros}, {"scores": (0.0, 1.0)})]
        for at, (rows, columns) in enumerate([(True, True), (True, False), (False, True), (False, False)]):
            value = states[at][VALUE]
            assert (np.ptp(value, axis=0).any(), np.ptp(value, axis=1).any()) == (rows, columns)

    def test_the_output_with_the_most_axes_says_how_often(self) -> None:
        outputs = {"scores": np.zeros(2, "float32"), "other": np.zeros((2, 2), "float32")}
        moves = {"scores": (0.0, 1.0), "other": (0.0, 1.0)}
        for first in outputs:
            assert len([*_moved((), {VALUE: outputs[first], **outputs}, moves)]) == 32

    def test_steps_that_cannot_run_on_moved_outputs_say_nothing(self) -> None:
        assert self.moved(["layout"], {"scores": 0.5}) == []


def test_the_child_reads_both_files(tmp_path: Path) -> None:
    material = recorded("after", ["argmax"], {"a": FIRST, "b": SECOND})
    material.write(tmp_path / "samples")
    save_states(tmp_path / "made", [{"scores": FIRST}, {"scores": SECOND[::-1].copy()}])
    answer = judge(AnswerRequest(("argmax",), ("argmax",), tmp_path / "samples", tmp_path / "made", MOVE))
    assert answer.reason.startswith("the answer to sample 2 is another than training's: ")
    assert answer == Judged("mismatch", answer.reason, 0, ())

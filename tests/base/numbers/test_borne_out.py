"""What is said of an output is believed as far as the recorded numbers bear it out."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from exporter.base.numbers import golden as code
from exporter.base.numbers.golden import SAME_AT_ALL_SIZES, ZERO, GoldenCase, GoldenOutput, read_cases
from exporter.base.numbers.norms import SMALLEST_SCALE, norms
from exporter.base.numbers.rule import _indistinct, told_by_shape
from exporter.base.tensors import Array
from tests.base.numbers.test_golden import recorded
from tests.prove.compare.goldens import golden

HALF = np.full((1, 2), 0.5)
TELLS = np.arange(6.0).reshape(3, 2)


def case(name: str, value: Array, **more: Any) -> GoldenCase:
    size = int(name.partition("=")[2].partition("#")[0].partition(":")[0])
    return GoldenCase(name, {"n": size}, {"y": replace(golden(value), **more)}, name)


def borne_out(*cases: GoldenCase) -> list[GoldenOutput]:
    return [code._as_borne_out("y", one, cases) for one in cases]


@pytest.mark.parametrize(
    ("value", "one"),
    [([2.0], True), ([2.0, 2.0], True), ([2.0, 2.0, 3.0], False), ([2.0, 3.0], False), ([], False), ([0.0, 0.0], True)],
)
def test_one_number_throughout(value: list[float], one: bool) -> None:
    assert code._one_number(golden(np.array(value))) is one


class TestSettled:
    """By the other sizes: what is asked about is `n=1`."""

    def settled(self, *others: GoldenCase, value: Array = HALF) -> bool:
        own = case("n=1", value)
        return code._settled("y", own, [own, *others])

    def test_another_promised_size_tells(self) -> None:
        assert self.settled(case("n=3", TELLS)) and self.settled(case("n=3", TELLS), value=np.zeros((1, 2)))
        assert not self.settled() and not self.settled(case("n=1#2", HALF)), "no other size"
        assert not self.settled(case("n=3:zeros", TELLS)), "it is not promised"
        assert not self.settled(case("n=3", np.zeros((3, 2)))), "it holds nothing"

    @pytest.mark.parametrize("more", [{"gate": "shut"}, {"settled": True}])
    def test_what_tells_nothing_itself_does_not(self, more: dict[str, Any]) -> None:
        assert not self.settled(case("n=3", TELLS, **more))
        assert self.settled(case("n=3", TELLS, **more), case("n=5", TELLS))

    @pytest.mark.parametrize(("other", "kept"), [(HALF, True), (HALF * 3, True), (HALF * 0, False), (TELLS[:1], False)])
    def test_every_draw_of_the_size_is_one_number(self, other: Array, kept: bool) -> None:
        assert self.settled(case("n=1#2", other), case("n=3", TELLS)) is kept
        own = case("n=1", np.zeros((1, 2)))
        zero = code._settled("y", own, [own, case("n=1#2", np.zeros((1, 2))), case("n=3", TELLS)])
        assert zero, "zero in all of them"


class TestBorneOut:
    def test_a_constant_is_not_decided_by_sizes_as_well(self) -> None:
        said = {"constant": True, "sized": True}
        for found in borne_out(case("n=1", HALF, **said), case("n=3", HALF, **said)):
            assert (found.constant, found.sized, found.gate) == (True, False, "")

    def test_sizes_decide_where_it_is_said_of_every_case_and_each_size_has_one_output(self) -> None:
        one, three, again = case("n=1", HALF, sized=True), case("n=3", TELLS, sized=True), case("n=3#2", TELLS)
        assert all(found.sized for found in borne_out(one, three))
        assert not any(found.sized for found in borne_out(one, three, again))
        other = case("n=3#2", TELLS + 1, sized=True)
        assert not any(found.sized for found in borne_out(one, three, other))

    def test_a_gate_that_was_shut_stays_so(self) -> None:
        plain, shut = case("n=1", HALF, sized=True), case("n=3", HALF, sized=True, gate="own")
        assert [found.gate for found in borne_out(plain, shut)] == [SAME_AT_ALL_SIZES, "own"]
        small = {"scale": (1e-40, 1.0)}
        found = borne_out(case("n=1", HALF, **small), case("n=3", TELLS, gate="own", **small), case("n=5", TELLS))
        assert [one.gate for one in found] == [ZERO.format(1e-40), "own", ""]

    def test_settled_is_what_is_said_and_shown(self) -> None:
        tells = case("n=3", TELLS)
        for said in (True, False):
            assert borne_out(case("n=1", HALF, settled=said), tells)[0].settled is said
        assert borne_out(case("n=1", TELLS, settled=True), tells)[0].settled is False
        zero = case("n=1", np.zeros((1, 2)), settled=True)
        assert borne_out(zero, tells)[0].gate == "" and borne_out(zero)[0].gate == ZERO.format(0.0)
        whole = case("n=1", np.zeros((1, 2), "int64")), case("n=3", np.zeros((0, 2)))
        assert [found.gate for found in borne_out(*whole)] == ["", ""], "of whole numbers, and of none"

    def test_the_smallest_scale_tells(self) -> None:
        found = borne_out(case("n=1", HALF, scale=(SMALLEST_SCALE, 1.0)), case("n=3", TELLS))
        assert found[0].gate == ""


def test_what_the_manifest_does_not_say_is_not_so() -> None:
    tensors, described = recorded({"n=1": (HALF, HALF), "n=3": (TELLS, TELLS)})
    described[1]["outputs"]["y"]["settled"] = False
    assert not any(one.outputs["y"].settled or one.outputs["y"].sized for one in read_cases(tensors, described))
    described[0]["outputs"]["y"]["settled"] = True
    assert read_cases(tensors, described)[0].outputs["y"].settled


def test_what_sizes_decide_is_measured_as_all_else() -> None:
    tensors, described = recorded({"n=1": (HALF * (1 + 1e-6), HALF), "n=3": (TELLS * (1 + 1e-6), TELLS)}, sized=True)
    for one, value in zip(read_cases(tensors, described), (HALF, TELLS), strict=True):
        assert one.outputs["y"].sized and one.outputs["y"].scale == norms(value)
        assert one.outputs["y"].e_ref == pytest.approx((1e-6, 1e-6), rel=1e-3)


@pytest.mark.parametrize("said", [{"sized": True}, {"settled": True}, {}])
def test_another_shape_tells_where_it_is_said_that_no_value_does(said: dict[str, bool]) -> None:
    one, other = (replace(golden(value), **said) for value in (HALF, TELLS))
    third = replace(golden(np.ones((2, 2))), **said)
    assert told_by_shape(one, [one, other]) is told_by_shape(one, [one, other, third]) is bool(said)
    assert not told_by_shape(one, [one, one])


def test_whole_numbers_of_another_shape_tell_where_sizes_decide() -> None:
    small, large = (golden(np.zeros(size, "int64")) for size in (2, 3))

    def outcome(*cases: GoldenOutput, **said: bool) -> str:
        every = [replace(one, **said) for one in cases]
        return _indistinct(every[0], every)[0]

    assert outcome(small, large, sized=True) == "match"
    assert outcome(small, large, settled=True) == outcome(small, small, sized=True) == "vacuous"

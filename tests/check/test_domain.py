"""The laws of the domain: what `join`, `leq` and `widen` promise, for any values."""

from __future__ import annotations

import copy
from operator import itemgetter

from hypothesis import given
from hypothesis import strategies as st

from exporter.check.domain.join import alike, join, join_all, leq, widen
from exporter.check.domain.values import (
    UNBOUND,
    UNKNOWN,
    Array,
    Const,
    Dim,
    Extent,
    External,
    Layer,
    Mapping,
    Method,
    Scalar,
    Sequence,
    Size,
    Tensor,
    Value,
)

INPUTS = st.frozensets(st.sampled_from("xy"))
OTHERS: st.SearchStrategy[Value] = st.one_of(
    st.sampled_from([UNKNOWN, UNBOUND, External("builtins.len")]),
    st.sampled_from([None, 0, 1, 2.5, True, "a", "b"]).map(Const),
    st.sampled_from("int number bool str layer".split()).map(Scalar),
    st.booleans().map(Array),
    st.builds(Layer, st.sampled_from(["paddle.nn.ReLU", "paddle.nn.Tanh"])),
)


def _sized(*sizes: Size) -> st.SearchStrategy[Value]:
    known = st.sampled_from(sizes)
    few, dtypes = st.lists(known, max_size=3).map(tuple), st.sampled_from(["", "float32", "int64"])
    flags = {name: st.booleans() for name in ("boolean", "guessed", "shaped")}
    return st.builds(Dim, known, INPUTS) | st.builds(Tensor, few, st.booleans(), INPUTS, dtype=dtypes, **flags)


def _around(inner: st.SearchStrategy[Value]) -> st.SearchStrategy[Value]:
    held = inner.filter(lambda value: value is not UNBOUND)
    items, rest = st.lists(held, max_size=2).map(tuple), st.none() | held
    return st.one_of(
        st.builds(Sequence, st.sampled_from(["list", "tuple"]), items, rest, grown_in_branch=st.booleans()),
        st.builds(Mapping, st.dictionaries(st.sampled_from("ab"), held, max_size=2), rest),
        st.lists(held, min_size=1, max_size=3).map(join_all),
    )


def _three(sized: st.SearchStrategy[Value]) -> st.SearchStrategy[tuple[Value, Value, Value]]:
    """Three values of one kind, or of any."""
    every = st.recursive(OTHERS | sized, _around, max_leaves=6)
    return st.one_of(st.tuples(kind, kind, kind) for kind in (OTHERS, sized, _around(sized), _around(OTHERS), every))


ANY = _three(_sized(2, 3, Extent.DYNAMIC, Extent.UNKNOWN))
VALUES = ANY.map(itemgetter(0))


def test_a_layer_is_not_another_that_is_made_with_the_same_arguments() -> None:
    one, other = (Layer(f"paddle.nn.{name}", (Const(9), Const(4))) for name in ("Linear", "Embedding"))
    assert set(join(one, other).options) == {one, other}
    assert join(one, Layer(one.name, (Const(9), Const(4)))) is one
    train, evaluate = Method(one, "train"), Method(one, "eval")
    assert set(join(train, evaluate).options) == {train, evaluate}


@given(VALUES)
def test_a_value_joined_with_itself_is_what_it_was(value: Value) -> None:
    again = copy.deepcopy(value, {id(one): one for one in (UNKNOWN, UNBOUND)})
    assert alike(value, again)
    assert alike(join(value, again), value)
    assert leq(value, again)


@given(ANY)
def test_the_order_of_two_values_does_not_count(values: tuple[Value, Value, Value]) -> None:
    one, other, _ = values
    assert alike(join(one, other), join(other, one))
    assert alike(one, other) is alike(other, one)


@given(ANY)
def test_a_join_is_above_both(values: tuple[Value, Value, Value]) -> None:
    one, other, _ = values
    both = join(one, other)
    assert leq(one, both) and leq(other, both)
    assert leq(both, widen(one, other))


@given(ANY)
def test_leq_is_an_order(values: tuple[Value, Value, Value]) -> None:
    one, other, third = values
    if leq(one, other) and leq(other, one):
        assert alike(one, other)
    above = join(one, other)
    assert leq(one, join(above, third))
    if leq(one, other) and leq(other, third):
        assert leq(one, third)


@given(VALUES)
def test_nothing_is_below_unbound_and_all_below_unknown(value: Value) -> None:
    assert leq(UNBOUND, value) and leq(value, UNKNOWN)
    assert value is UNBOUND or not leq(value, UNBOUND)
    assert value is UNKNOWN or not leq(UNKNOWN, value)


@given(VALUES, st.lists(VALUES, max_size=40))
def test_widening_comes_to_an_end(value: Value, turns: list[Value]) -> None:
    grown = 0
    for new in turns:
        wider = widen(value, new)
        assert leq(join(value, new), wider)
        grown += not alike(wider, value)
        value = wider
    assert grown <= 20


@given(VALUES, st.sampled_from(["list", "tuple"]), st.integers(1, 2))
def test_what_lies_deeper_each_time_is_given_up(value: Value, kind: str, length: int) -> None:
    for _ in range(12):
        before, value = value, widen(value, Sequence(kind, (value,) * length))
    assert alike(before, value)


@given(st.integers(), st.lists(st.integers(), min_size=2, unique=True))
def test_a_number_that_grows_is_any_number(first: int, turns: list[int]) -> None:
    value: Value = Const(first)
    for number in turns:
        value = widen(value, Const(number))
    assert alike(value, Scalar("number"))


@given(_three(_sized(2, 3, Extent.UNKNOWN)))
def test_the_order_of_joins_does_not_count(values: tuple[Value, Value, Value]) -> None:
    """But for sizes: 2, 3 and one that varies are one that varies, or one of which nothing is known."""
    one, other, third = values
    assert alike(join(one, join(other, third)), join(join(one, other), third))

"""Causes by arithmetic: each is found where it was done, and no array of a stranger's makes the search fail."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from exporter.base.numbers.golden import GoldenCase, GoldenOutput
from exporter.deploy.elsewhere.answers import Fault
from exporter.deploy.elsewhere.causes.find import find_cause
from exporter.deploy.elsewhere.causes.near import explains, score
from exporter.deploy.elsewhere.causes.outputs import Wrong, causes_of

Array = np.ndarray


def golden(name: str, truth: Array, draw: str) -> GoldenOutput:
    kept = truth.astype("float32") if truth.dtype.kind == "f" else truth
    return GoldenOutput(name, kept.dtype.name, kept.shape, kept, truth, None, (1.0, 1.0), (1e-7, 1e-7), "", draw, None)


def case(number: int, shape: tuple[int, ...], *, labels: bool = False) -> GoldenCase:
    draw = np.random.default_rng(number)
    truth = draw.integers(0, 9, shape) if labels else draw.standard_normal(shape)
    other = draw.standard_normal(shape)
    name = f"case {number}"
    return GoldenCase(name, {"n": shape[0]}, {"y": golden("y", truth, name), "z": golden("z", other, name)}, name)


def wrong(own: GoldenCase, got: Array | Fault, **more: Array) -> Wrong:
    others = tuple(case(number, own.outputs["y"].shape) for number in (1, 2))
    return Wrong(own, "y", {"y": got, **more}, ("y", "z"), ("y", "z"), others[:1], others[1:])


def cause(own: GoldenCase, got: Array | Fault, **more: Array) -> str:
    named = find_cause([wrong(own, got, **more)], None)
    return named.name if named else ""


IMAGE, TABLE = case(5, (2, 3, 4, 6)), case(6, (4, 12))
UNDONE: tuple[tuple[str, GoldenCase, Callable[[Array], Array]], ...] = (
    ("NHWC for NCHW", IMAGE, lambda x: np.ascontiguousarray(x.transpose(0, 2, 3, 1)).reshape(x.shape)),
    ("NHWC for NCHW", IMAGE, lambda x: x.transpose(0, 2, 3, 1)),
    ("transposed", IMAGE, lambda x: x.swapaxes(2, 3)),
    ("transposed", TABLE, lambda x: x.T),
    ("off by one", TABLE, lambda x: np.roll(x, 1, 1)),
    ("off by one", TABLE, lambda x: np.roll(x, -1, 1)),
    ("rows in another order", TABLE, lambda x: x[[2, 0, 3, 1]]),
    ("byte order", TABLE, lambda x: x.byteswap()),
    ("dtype", TABLE, lambda x: x.astype("float64")),
    ("shape", TABLE, lambda x: x.reshape(4, 12, 1)),
    ("scale of outputs", TABLE, lambda x: x * 17 + 3),
    ("clip at zero applied", TABLE, lambda x: np.maximum(x, 0)),
    ("exponential applied", TABLE, np.exp),
    ("sigmoid applied", TABLE, lambda x: 1 / (1 + np.exp(-x))),
    ("all zero", TABLE, np.zeros_like),
    ("all NaN", TABLE, lambda x: x * np.nan),
    ("stale", TABLE, lambda x: np.broadcast_to(x[:1], x.shape).copy()),
    ("stale", TABLE, lambda x: case(1, (4, 12)).outputs["y"].eager),
)


@pytest.mark.parametrize(("name", "own", "spoil"), UNDONE)
def test_a_cause_is_found_where_it_was_done(name: str, own: GoldenCase, spoil: Callable[[Array], Array]) -> None:
    with np.errstate(all="ignore"):
        spoiled = spoil(own.outputs["y"].eager)
    assert cause(own, spoiled) == name


def test_outputs_in_each_others_place_and_what_cannot_be_read() -> None:
    assert cause(TABLE, TABLE.outputs["z"].eager, z=TABLE.outputs["y"].eager) == "swapped outputs"
    assert cause(TABLE, Fault("0.0.npy (or .bin) is missing", missing=True)) == "missing"
    assert cause(TABLE, Fault("0.0.npy: truncated: it announces 8 bytes")) == "truncated"
    assert cause(TABLE, Fault("0.0.npy is a symbolic link")) == "unreadable"


def test_what_is_right_or_random_has_no_cause() -> None:
    right = TABLE.outputs["y"].eager
    noise = np.random.default_rng(0).standard_normal(right.shape).astype("float32")
    assert cause(TABLE, right) == "" and cause(TABLE, noise) == ""
    labels = case(7, (4, 12), labels=True)
    assert cause(labels, np.random.default_rng(0).integers(0, 9, (4, 12))) == ""


def test_nearness_has_one_scale_for_numbers_and_labels() -> None:
    truth = np.array([1.0, -2.0, 3.0])
    assert score(truth, truth.astype("float32")) == 200 and score(truth, truth * 1.1) == pytest.approx(20)
    assert score(truth, truth[:2]) == -np.inf and score(truth, truth * np.nan) == -np.inf
    assert score(np.arange(10), np.arange(10)) == 200 and score(np.arange(10), np.zeros(10)) == pytest.approx(
        0.458, 1e-2
    )
    assert explains(truth, truth * 1.001, 55.0) is None  # hardly nearer than before
    assert explains(truth, truth * 1.001, 20.0) == pytest.approx(60)
    assert explains(truth, truth * 1.1, -np.inf) is None


kinds = st.sampled_from(["float32", "float64", "float16", "int64", "int8", "uint8", "bool", "complex64"])
answers = kinds.flatmap(
    lambda kind: arrays.arrays(kind, st.sampled_from([(4, 12), (12, 4), (48,), (4, 12, 1), (0, 12), (4, 11), ()]))
)


@given(got=answers, labels=st.booleans())
@pytest.mark.filterwarnings("ignore")
def test_no_array_makes_the_search_fail(got: Array, labels: bool) -> None:
    own = case(8, (4, 12), labels=labels)
    with np.errstate(all="ignore"):
        causes = list(causes_of(wrong(own, got)))
    assert all(found.name and not np.isnan(found.score) for found in causes)
    assert find_cause([wrong(own, got)], None) is None or causes

"""A run that is not truly float64 is seen, also where the outputs hardly answer to the inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import paddle
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from paddle.base import core

from exporter.base.tensors import Array, TensorMap
from exporter.prove.goldens.float64 import (
    FAKE,
    boxes_decoded,
    lifted,
    narrow_kernels,
    raise_plain_tensors,
    second_difference,
)


def net(depth: int, answer: float, inside: str) -> tuple[TensorMap, Callable[[TensorMap], TensorMap]]:
    """`depth` layers over 64 values; `answer` is how much of the output comes from the input."""
    generator = np.random.default_rng(depth)
    weights = [generator.standard_normal((64, 64)) / 8 for _ in range(depth)]
    turns = [np.linalg.qr(weight)[0] for weight in weights]

    def run(inputs: TensorMap) -> TensorMap:
        value = inputs["x"]
        for weight in weights:
            value = np.tanh(value.astype(inside).astype("float64") @ weight)
        out = 1.0 + answer * value
        for weight in turns:  # what comes behind adds its own rounding
            out = (out @ weight) @ weight.T
        return {"y": out}

    return {"x": generator.standard_normal((4, 64))}, run


@given(depth=st.integers(1, 6), answer=st.floats(-5, 3).map(lambda power: 10**power))
@settings(deadline=None, max_examples=40)
def test_float64_is_called_true_and_float32_inside_is_seen(depth: int, answer: float) -> None:
    inputs, run = net(depth, answer, "float64")
    assert second_difference(run, inputs) < FAKE
    inputs, run = net(depth, answer, "float32")
    assert second_difference(run, inputs) > FAKE


def test_integers_and_constants_prove_nothing() -> None:
    def never(_: TensorMap) -> TensorMap:
        raise AssertionError("there is nothing to move")

    assert second_difference(never, {"x": np.arange(4)}) == 0.0
    assert second_difference(lambda _: {"y": np.ones(4)}, {"x": np.ones(4)}) == 0.0


def second(run: Callable[[Array], Array], value: float = 1.0) -> float:
    return second_difference(lambda inputs: {"y": run(inputs["x"])}, {"x": np.full(64, value)})


def test_the_second_difference_is_that_of_the_outputs_over_the_first() -> None:
    """A kink where it stands bends it; where up and down go the same way there is no first difference to speak of."""
    assert second(np.tanh) < 1e-6
    bent = second(lambda value: np.where(value > 1, 1 + 3 * (value - 1), value))
    assert bent == pytest.approx(1.0, rel=1e-3), "slopes of 1 and 3: (3 - 1) over (3 + 1) / 2"
    assert second(lambda value: np.abs(value - 1)) == float("inf"), "no small step moves it, and a large one does"


def test_what_counts_as_float32_inside_and_as_an_answer_is_just_so_much() -> None:
    def kink(ratio: float) -> float:
        return second(lambda value: np.where(value > 1, 1 + (1 + ratio) * (value - 1), value))

    assert kink(0.0198) < FAKE < kink(0.0206), "of a ratio of 0.02"


@pytest.mark.parametrize(
    ("roundings", "found", "runs"),
    [(15, 0.0, 8), (17, 2.0, 7), (2**14 / 1.05, 2.0, 7), (2**14, 2.0, 7), (2**14 * 1.05, 2.0, 3)],
)
def test_what_is_no_more_than_some_roundings_tells_little(roundings: float, found: float, runs: int) -> None:
    """Half of the jump has to be more than 8 of them to count, and more than 2^13 to decide at its step."""
    seen: list[Array] = []

    def run(value: Array) -> Array:
        seen.append(value)
        return np.where(value > 1, 1 + round(roundings) * np.finfo("float64").eps, 1.0)

    assert second(run) == pytest.approx(found, rel=0.1) and len(seen) == runs


@pytest.mark.parametrize(("roundings", "found"), [(2**13, 0.0), (2**13 * 1.05, float("inf"))])
def test_what_a_large_step_alone_moves_counts_from_so_many_roundings_on(roundings: float, found: float) -> None:
    jump = round(roundings) * np.finfo("float64").eps
    assert second(lambda value: np.where(np.abs(value - 1) > 2.0**-14, 1 + jump, 1.0)) == found


def test_the_size_of_a_difference_is_that_of_all_elements() -> None:
    """One of 64 has a kink, of slopes 1 and 3: 2 / 8 over the root of (63 + 4) / 64."""
    first = np.arange(64) == 0
    bent = second(lambda value: np.where(first & (value > 1), 1 + 3 * (value - 1), value))
    assert bent == pytest.approx(0.25 / np.sqrt(67 / 64), rel=1e-3)


@pytest.mark.filterwarnings("ignore:invalid value")
def test_an_output_that_a_step_makes_infinite_is_not_called_smooth() -> None:
    assert not second(lambda value: np.where(value > 1, np.inf, 1.0)) <= FAKE


def test_whole_numbers_are_not_judged_and_empty_outputs_ask_for_no_further_step() -> None:
    seen: list[TensorMap] = []

    def run(inputs: TensorMap) -> TensorMap:
        seen.append(inputs)
        x = inputs["x"]
        return {"y": x, "none": x[:0], "ids": np.rint(x * 2**16).astype("int64"), "flags": x > 1}

    assert second_difference(run, {"x": np.ones(64)}) < FAKE and len(seen) == 3
    assert second_difference(lambda inputs: {"ids": run(inputs)["ids"]}, {"x": np.ones(64)}) == 0.0


def test_the_first_step_that_moves_an_output_far_above_rounding_decides() -> None:
    """Steps are 2^-33, 2^-28 and 2^-24: what float32 hides at the first may show at none."""
    seen: list[float] = []

    def run(value: Array) -> Array:
        seen.append(float(np.abs(value / 1.0 - 1).max()))
        return value

    assert second(run) == 0.0
    assert seen == [0.0, 2.0**-33, 2.0**-33], "a linear function answers at the first step"
    seen.clear()
    assert second(lambda value: 1.0 + 1e-6 * run(value)) < FAKE
    assert seen == [0.0, *(step for step in (2.0**-33, 2.0**-28, 2.0**-24) for _ in (0, 1))]
    seen.clear()
    assert second(lambda value: np.rint(run(value) * 2**20) / 2**20) == float("inf")
    assert seen == [0.0, *(step for step in (2.0**-33, 2.0**-28, 2.0**-24) for _ in (0, 1)), 2.0**-13]


def test_each_output_is_judged_by_itself_and_the_worst_counts() -> None:
    def run(inputs: TensorMap) -> TensorMap:
        narrow = (inputs["x"] * 3).astype("float32").astype("float64") + inputs["x"] * 1e-3
        return {
            "good": np.tanh(inputs["x"]),
            "ids": np.arange(3),
            "none": np.zeros((0, 3)),
            "still": np.ones(3),
            "bad": narrow,
        }

    inputs = {"x": np.random.default_rng(0).standard_normal(64), "ids": np.arange(4)}
    assert second_difference(run, inputs) > FAKE
    sound = {name: run for name in ("good", "ids", "none", "still")}
    assert second_difference(lambda given: {name: run(given)[name] for name in sound}, inputs) < FAKE


@pytest.mark.parametrize("power", [-33, -28, -24, -13])
@pytest.mark.parametrize("side", [1, -1])
def test_an_output_whose_shape_a_step_changes_is_not_smooth(power: int, side: int) -> None:
    """Such as what a threshold lets through; `power` is that of the first step that goes beyond it."""

    def run(inputs: TensorMap) -> TensorMap:
        beyond = side * (inputs["x"] - 1) > 2.0**power * 0.99
        return {"over": np.ones(int((~beyond).sum()))}

    assert second_difference(run, {"x": np.ones(64)}) == float("inf")
    assert second_difference(lambda given: {**run(given), "over": np.ones(64)}, {"x": np.ones(64)}) == 0.0


def test_integers_are_not_moved() -> None:
    def run(inputs: TensorMap) -> TensorMap:
        assert np.array_equal(inputs["ids"], np.arange(4)) and inputs["ids"].dtype == "int64"
        return {"y": inputs["x"] + inputs["ids"]}

    assert second_difference(run, {"x": np.ones(4), "ids": np.arange(4)}) < FAKE


# ---- real Paddle -------------------------------------------------------------------------------------------------


@pytest.fixture
def wide() -> Any:
    return paddle.to_tensor(np.full(3, 0.1))


def test_kernels_in_narrow_floats_are_named_but_for_those_that_make_or_move_numbers(wide: Any) -> None:
    narrow = wide.astype("float32")
    with narrow_kernels() as found:
        paddle.tanh(wide)
        paddle.full([2], 1.0, "float32")
        wide.astype("float32")
        paddle.arange(3, dtype="int64")
        assert found == set(), "it is told in the end"
    assert found == set()
    with narrow_kernels() as found:
        paddle.tanh(narrow)
        paddle.exp(wide.astype("float16").astype("float32"))
    assert found == {"tanh", "exp"}
    with narrow_kernels() as found:
        paddle.tanh(wide)
    assert found == set(), "what ran before counts no more"


def test_the_count_is_switched_off_again() -> None:
    with pytest.raises(KeyError), narrow_kernels():
        assert paddle.get_flags("FLAGS_low_precision_op_list")["FLAGS_low_precision_op_list"] == 1
        raise KeyError("a failure inside")
    assert paddle.get_flags("FLAGS_low_precision_op_list")["FLAGS_low_precision_op_list"] == 0


#: By what they do: kernels that make constants, that change the dtype, that move memory.
CONSTANTS = ("fill_constant", "full", "full_", "fill_any_like", "full_like", "linspace", "range", "arange", "eye")
CONSTANTS += ("fill_constant_batch_size_like", "full_batch_size_like", "assign_value", "assign_value_")
COPIES = ("memcpy_d2h", "memcpy_h2d", "empty", "empty_like")


def test_counts_are_of_half_of_bfloat16_of_float32_and_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Names that this version of Paddle gives no kernel of ours come from other operators of user code."""
    counts = {name: "0,0,1,0" for name in (*CONSTANTS, *COPIES, "cast", "matmul")}
    counts |= {"half": "1,0,0,0", "brain": "0,2,0,0", "double": "0,0,0,9"}
    monkeypatch.setattr(core, "get_low_precision_op_list", lambda: counts)
    with narrow_kernels() as found:
        pass
    assert found == {"matmul", "half", "brain"}


CASTS: dict[str, Callable[[Any, Any], Any]] = {
    "astype": lambda value, dtype: value.astype(dtype),
    "cast": lambda value, dtype: value.cast(dtype),
    "to": lambda value, dtype: value.to(dtype),
    "to a device": lambda value, dtype: value.to("cpu", dtype),
    "by name": lambda value, dtype: value.astype(dtype=dtype),
    "paddle.cast": lambda value, dtype: paddle.cast(value, dtype),
}


@pytest.mark.parametrize("name", CASTS)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", paddle.float32, np.dtype("float32")])
def test_casts_to_narrow_floats_give_float64_while_they_are_lifted(wide: Any, name: str, dtype: Any) -> None:
    with lifted():
        assert CASTS[name](wide, dtype).dtype == paddle.float64
        assert CASTS[name](wide, dtype).numpy().tolist() == [0.1] * 3
        assert CASTS[name](wide, "int64").dtype == paddle.int64
    assert CASTS[name](wide, dtype).dtype != paddle.float64


MADE: dict[str, Callable[[], Any]] = {
    "full": lambda: paddle.full([3], 0.1, "float32"),
    "full_like": lambda: paddle.full_like(paddle.ones([3], "float64"), 0.1, dtype="float32"),
    "arange": lambda: paddle.arange(0.1, 0.2, 1.0, dtype="float32"),
    "linspace": lambda: paddle.linspace(0.1, 0.1, 3, dtype="float32"),
    "logspace": lambda: paddle.logspace(-1, -1, 3, dtype="float32"),
    "to_tensor": lambda: paddle.to_tensor([0.1, 0.1], dtype="float32"),
    "one_hot": lambda: paddle.nn.functional.one_hot(paddle.to_tensor([1, 0]), 2),
    "sequence_mask": lambda: paddle.nn.functional.sequence_mask(paddle.to_tensor([1, 2]), 3, dtype="float32"),
    "half": lambda: paddle.to_tensor(np.full(2, 0.1, "float16")).astype("float64"),
}


@pytest.mark.parametrize("name", MADE)
def test_constants_keep_the_value_that_they_have_in_float32(name: str) -> None:
    plain = MADE[name]().numpy()
    with lifted():
        made = MADE[name]()
    assert made.dtype == paddle.float64 and made.numpy().tolist() == plain.astype("float64").tolist()
    assert MADE[name]().dtype == (paddle.float64 if name == "half" else paddle.float32), "it is over"


def test_whole_numbers_and_what_is_no_tensor_stay_what_they_are(wide: Any) -> None:
    kind = wide.type
    with lifted():
        assert paddle.full([2], 3, "int64").dtype == paddle.int64
        assert paddle.eye(2, dtype="float32").numpy().tolist() == [[1.0, 0.0], [0.0, 1.0]]
        assert paddle.to_tensor([1, 2]).dtype == paddle.int64
        assert wide.type == kind, "a property of tensors that is called like a cast is none"


FRACTIONS: dict[str, Callable[[Any], Any]] = {
    "sum": lambda whole: whole + 0.1,
    "sum, turned": lambda whole: 0.1 + whole,
    "difference": lambda whole: whole - 0.1,
    "difference, turned": lambda whole: 1.0 - whole,
    "product": lambda whole: whole * 0.1,
    "product, turned": lambda whole: 0.7 * whole,
    "of numpy": lambda whole: whole * np.float64(0.1),
    "quotient": lambda whole: whole / 0.3,
    "quotient, turned": lambda whole: 0.3 / (whole + 1),
    "quotient of whole numbers": lambda whole: whole / 3,
    "quotient of tensors": lambda whole: whole / (whole + 3),
    "quotient of a number": lambda whole: 7 / (whole + 3),
    "power": lambda whole: whole**0.5,
    "mask": lambda whole: (1.0 - (whole > 3)) * -1e4,
}


@pytest.mark.parametrize("name", FRACTIONS)
def test_what_whole_numbers_and_a_fraction_give_keeps_the_value_that_it_has_in_float32(name: str) -> None:
    whole = paddle.arange(100, dtype="int64")
    plain = FRACTIONS[name](whole)
    assert plain.dtype == paddle.float32
    with lifted(), narrow_kernels() as narrow:
        made = FRACTIONS[name](whole)
    assert made.dtype == paddle.float64 and not narrow
    if name == "power":  # float32's own is no nearer than this to the power itself
        np.testing.assert_allclose(made.numpy(), plain.numpy(), rtol=2e-7)
    else:
        assert made.numpy().tolist() == plain.numpy().astype("float64").tolist()
    assert FRACTIONS[name](whole).dtype == paddle.float32, "it is over"


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64"])
def test_whole_numbers_of_each_dtype_and_a_fraction(dtype: str) -> None:
    whole = paddle.to_tensor([0, 1, 1]).astype(dtype)
    plain = whole * 0.1
    assert plain.dtype == paddle.float32
    with lifted():
        made = whole * 0.1
    assert made.dtype == paddle.float64 and made.numpy().tolist() == plain.numpy().astype("float64").tolist()


def test_whole_arithmetic_and_that_of_float64_stays_what_it_is(wide: Any) -> None:
    whole = paddle.arange(3, dtype="int64")
    with lifted():
        assert [(whole * 2).dtype, (whole - whole).dtype, (2**whole).dtype] == [paddle.int64] * 3
        assert (wide * 0.1).numpy().tolist() == (np.full(3, 0.1) * 0.1).tolist(), "no number is rounded to float32"
        with pytest.raises(TypeError, match="Type promotion"):  # Paddle's own
            whole / wide


@paddle.jit.to_static(full_graph=True)
def traced(x: Any) -> Any:
    return x * paddle.linspace(0.5, 2, 2)


def test_what_a_function_traced_inside_is_made_of_stays_what_it_is() -> None:
    """Paddle refuses a linspace of float32 from a start in float64, which a value cast up in the program would be."""
    with lifted():
        found = traced(paddle.to_tensor([1.0, 3.0], dtype="float64"))
    assert found.dtype == paddle.float64 and found.numpy().tolist() == [0.5, 6.0]


def test_it_is_over_when_something_fails_inside() -> None:
    before = (paddle.to_tensor, paddle._C_ops.cast, paddle._C_ops.full)
    with pytest.raises(KeyError), lifted():
        assert paddle.to_tensor is not before[0] and paddle._C_ops.cast is not before[1]
        raise KeyError("a failure inside")
    assert (paddle.to_tensor, paddle._C_ops.cast, paddle._C_ops.full) == before


def coded(priors: str, target: str) -> paddle.Tensor:
    boxes = paddle.to_tensor([[0.1, 0.1, 0.5, 0.6], [0.2, 0.3, 0.8, 0.9]], dtype=priors)
    wanted = paddle.full([3, 2, 4], 0.25, target)
    return paddle.vision.ops.box_coder(boxes, [0.1, 0.1, 0.2, 0.2], wanted, "decode_center_size", axis=0)


def test_boxes_are_decoded_in_float64_as_in_float32_or_refused_where_paddle_ends_the_process() -> None:
    before, right = paddle._C_ops.box_coder, coded("float32", "float32")
    assert np.abs(coded("float64", "float64").numpy() - right.numpy()).max() > 0.01, (
        "Paddle is right here: leave it alone"
    )
    with boxes_decoded():
        assert np.allclose(coded("float64", "float64").numpy(), right.numpy(), rtol=1e-5)
        assert np.array_equal(coded("float32", "float32").numpy(), right.numpy())
        with pytest.raises(TypeError, match="box_coder takes no float32 and float64 together"):
            coded("float32", "float64")
    assert paddle._C_ops.box_coder is before


class Keeping(paddle.nn.Layer):
    """Tensors as plain attributes, in lists, tuples and dicts, and one level below."""

    def __init__(self, depth: int = 1) -> None:
        super().__init__()
        narrow = paddle.full([2], 0.1, "float32")
        self.list_, self.tuple_, self.dict_ = [narrow, 7], (narrow,), {"a": narrow, "b": [narrow]}
        object.__setattr__(self, "plain", narrow)
        object.__setattr__(self, "half", narrow.astype("float16"))
        object.__setattr__(self, "_private", narrow)
        self.count, self.text = 3, "float32"
        object.__setattr__(self, "ids", paddle.arange(2))
        if depth:
            self.below = Keeping(0)


def test_tensors_that_a_layer_keeps_as_attributes_are_raised_wherever_they_lie() -> None:
    layer = Keeping()
    assert raise_plain_tensors(layer) is layer
    for kept in (layer, layer.below):
        held = [kept.plain, kept.half, kept.list_[0], kept.tuple_[0], kept.dict_["a"], kept.dict_["b"][0]]
        assert {value.dtype for value in held} == {paddle.float64}
        assert kept.plain.numpy().tolist() == np.full(2, 0.1, "float32").astype("float64").tolist()
        assert (kept.list_[1], kept.count, kept.text) == (7, 3, "float32")
        assert (type(kept.list_), type(kept.tuple_), kept.ids.dtype) == (list, tuple, paddle.int64)
        assert kept._private.dtype == paddle.float32, "Paddle's own lie there"

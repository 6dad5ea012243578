"""Weights into which a batch norm was folded are computed again, and one that was changed is found."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import onnx
import pytest
from onnx import NodeProto, helper, numpy_helper

from exporter.base.numbers.norms import SMALLEST_SCALE
from exporter.base.tensors import Array, digest
from exporter.prove.proofs import folds
from exporter.prove.proofs.folds import Fold, judge_folds
from tests.export.lower.passes.models import constant, made, model

RNG = np.random.default_rng(0)
NORM = {name: RNG.uniform(0.5, 2, 4).astype("float32") for name in "abmv"}
#: As a factory leaves them: equal vectors have one digest.
FRESH = {name: np.full(4, value, "float32") for name, value in zip("abmv", (1, 0, 0, 1), strict=True)}
#: As a training leaves them: of channels that hardly move, and of some that do, ε decides the factor of the former.
TRAINED = {**NORM, "v": np.array([1.1e-4, 0.2, 1.0, 300.0], "float32")}
WEIGHT = RNG.normal(size=(4, 3, 1, 1)).astype("float32")
BIAS = RNG.normal(size=4).astype("float32")


def folded(parts: Mapping[str, Array], nodes: list[NodeProto]) -> tuple[dict[str, Array], dict[str, list[str]]]:
    """The stored tensors of a canonical model that are made of others, and the digests of their parts."""
    name = nodes[0].input[0]
    shape = [None, 4 if name == "g" else 3, 4, 4] if nodes[0].op_type != "Gemm" else [None, 3]
    found = made(model([*(constant(part, value) for part, value in parts.items()), *nodes], {name: shape}))
    graph = onnx.load_model_from_string(found.content).graph
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    names = {name: list(digests) for name, digests in found.folded.items() if stored[name].size > 1}
    assert names, "nothing was folded"
    return {name: stored[name] for name in names}, names


def conv(*more: str, **attributes: object) -> NodeProto:
    return helper.make_node("Conv", ["x", "w", *more], ["c"], **attributes)


def norm(epsilon: float = 1e-5, after: str = "c") -> NodeProto:
    return helper.make_node("BatchNormalization", [after, *"abmv"], ["y"], epsilon=epsilon)


FOLDS = {
    "a batch norm": ({"w": WEIGHT, **NORM}, [conv(), norm()]),
    "another epsilon": ({"w": WEIGHT, **NORM}, [conv(), norm(7e-4)]),
    "a trained batch norm": ({"w": WEIGHT, **TRAINED}, [conv(), norm()]),
    "a trained one with another epsilon": ({"w": WEIGHT, **TRAINED}, [conv(), norm(7e-4)]),
    "a fresh batch norm": ({"w": WEIGHT, **FRESH}, [conv(), norm()]),
    "behind a bias": ({"w": WEIGHT, "z": BIAS, **NORM}, [conv("z"), norm()]),
    "a transposed convolution": (
        {"w": RNG.normal(size=(3, 4, 2, 2)).astype("float32"), **NORM},
        [helper.make_node("ConvTranspose", ["x", "w"], ["c"]), norm()],
    ),
    "a transposed convolution in groups": (
        {"w": RNG.normal(size=(4, 2, 3, 3)).astype("float32"), **NORM},
        [helper.make_node("ConvTranspose", ["g", "w"], ["c"], group=2), norm()],
    ),
    "a trained one in groups, with a bias": (
        {"w": RNG.normal(size=(4, 2, 3, 3)).astype("float32"), "z": BIAS, **TRAINED},
        [helper.make_node("ConvTranspose", ["g", "w", "z"], ["c"], group=2), norm(7e-4)],
    ),
    "a transposed depthwise convolution": (
        {"w": RNG.normal(size=(4, 1, 3, 3)).astype("float32"), **NORM},
        [helper.make_node("ConvTranspose", ["g", "w"], ["c"], group=4), norm()],
    ),
    "a linear layer": (
        {"w": RNG.normal(size=(3, 4)).astype("float32"), "z": BIAS, **NORM},
        [helper.make_node("Gemm", ["x", "w", "z"], ["c"]), norm()],
    ),
}


@pytest.mark.parametrize("name", FOLDS)
def test_it_is_computed_again_from_what_was_trained(name: str) -> None:
    parts, nodes = FOLDS[name]
    stored, digests = folded(parts, nodes)
    trained = {digest(value): value for value in parts.values()}
    assert set(judge_folds(stored, digests, trained).values()) == {Fold.PROVEN}


@pytest.mark.parametrize("name", FOLDS)
def test_vectors_may_be_at_hand_in_another_shape(name: str) -> None:
    """Another variant gives them, and an equal constant of its stands for one: digests do not tell shapes apart."""
    parts, nodes = FOLDS[name]
    stored, digests = folded(parts, nodes)
    trained = {digest(value): value if value.ndim > 1 else value.reshape(1, -1, 1, 1) for value in parts.values()}
    assert set(judge_folds(stored, digests, trained).values()) == {Fold.PROVEN}


def test_vectors_may_be_as_large_as_the_weight() -> None:
    """Of a depthwise convolution of one pixel there is one number a channel."""
    weight = WEIGHT[:, :1]
    factor = NORM["a"] / np.sqrt(NORM["v"] + np.float32(1e-5))
    trained = {digest(value): value for value in (weight, *NORM.values())}
    stored = {"w.folded": weight * factor.reshape(4, 1, 1, 1)}
    assert judge_folds(stored, {"w.folded": sorted(trained)}, trained) == {"w.folded": Fold.PROVEN}


def test_the_norm_of_one_channel_may_be_at_hand_as_scalars() -> None:
    """As in PicoDet's head, whose scale of 1.0 and shift of 0.0 equal other constants of the file."""
    one = {name: value[:1] for name, value in {**NORM, "a": FRESH["a"], "b": FRESH["b"]}.items()}
    parts = {"w": WEIGHT[:1], **one}
    stored, digests = folded(parts, [conv(), norm()])
    trained = {digest(value): value if value.ndim > 1 else value.reshape(()) for value in parts.values()}
    assert set(judge_folds(stored, digests, trained).values()) == {Fold.PROVEN}
    (weight,) = (name for name in stored if stored[name].ndim > 1)
    wrong = {**stored, weight: stored[weight] * np.array([1, 1.001, 1], "float32").reshape(1, 3, 1, 1)}
    assert judge_folds(wrong, digests, trained)[weight] is Fold.WRONG


@pytest.mark.parametrize("name", FOLDS)
@pytest.mark.parametrize("factor", [0.0, 1.001, -1.0])
def test_one_number_that_was_changed_is_found(name: str, factor: float) -> None:
    parts, nodes = FOLDS[name]
    stored, digests = folded(parts, nodes)
    trained = {digest(value): value for value in parts.values()}
    for changed, value in stored.items():
        wrong = value.copy()
        wrong.flat[1] = wrong.flat[1] * np.float32(factor) + np.float32(0.01)
        judged = judge_folds({**stored, changed: wrong}, digests, trained)[changed]
        assert judged is (Fold.WRONG if value.ndim > 1 else Fold.UNKNOWN)


def test_channels_that_a_training_has_silenced_are_computed_again() -> None:
    """Near float32's denormals a rounding is a large share of a number, and their variance is the least."""
    weight = WEIGHT.copy()
    weight[0], weight[2, 1] = weight[0] * np.float32(1e-41), np.float32(3e-45)
    parts = {"w": weight, **NORM, "v": np.array([1e-12, 0.2, 1.0, 3.0], "float32")}
    stored, digests = folded(parts, [conv(), norm(7e-4)])
    trained = {digest(value): value for value in parts.values()}
    (name,) = (name for name in stored if stored[name].ndim > 1)
    assert judge_folds(stored, digests, trained)[name] is Fold.PROVEN
    wrong = {**stored, name: np.where(np.arange(4).reshape(4, 1, 1, 1) == 0, np.float32(0), stored[name])}
    assert judge_folds(wrong, digests, trained)[name] is Fold.WRONG


def once(weight: Array, factor: Array, *more: Array) -> Fold:
    """What is found of a weight times a factor of each channel, beside a batch norm's vectors."""
    trained = {digest(value): value for value in (weight, *NORM.values(), *more)}
    stored = {"w.folded": (weight * factor.reshape(-1, *[1] * (weight.ndim - 1))).astype("float32")}
    return judge_folds(stored, {"w.folded": sorted(trained)}, trained)["w.folded"]


def test_a_channel_whose_largest_weight_is_one_is_looked_at() -> None:
    ones, factor = np.ones((4, 3, 1, 1), "float32"), NORM["a"] / np.sqrt(NORM["v"] + np.float32(1e-5))
    assert once(ones, factor) is Fold.PROVEN
    assert once(ones, factor * np.array([1, 1, 1.01, 1], "float32")) is Fold.WRONG


def test_epsilon_follows_from_weights_above_the_smallest_scale() -> None:
    factor = NORM["a"] / np.sqrt(NORM["v"] + np.float32(7e-4))
    weight = (1.05 * SMALLEST_SCALE / factor).astype("float32").reshape(4, 1, 1, 1) * np.ones((4, 3, 1, 1), "float32")
    assert once(weight, factor) is Fold.PROVEN
    assert once(weight / 2, factor) is Fold.WRONG, "no usual epsilon, and none that the weights tell"
    variance = np.full(4, 1 - 7e-4)  # so that the factor is the scale of 1
    parts = (np.full((4, 3, 1, 1), SMALLEST_SCALE), np.ones(4), variance)
    trained = {digest(value): value for value in parts}
    judged = judge_folds({"w": parts[0]}, {"w": list(trained)}, trained)
    assert judged == {"w": Fold.WRONG}, "the smallest scale itself tells none"


@pytest.mark.parametrize(("off", "near"), [(2.0**-20, True), (1.0625 * 2.0**-20, False)])
def test_a_number_may_be_off_by_a_few_roundings_of_its_parts(off: float, near: bool) -> None:
    assert folds._near(np.ones(2) + off, np.ones(2), np.ones(2)) is near


@pytest.mark.parametrize(("off", "near"), [(2.0**-148, True), (2.0**-147, False)])
def test_near_zero_it_may_be_off_by_two_of_float32_s_least_steps(off: float, near: bool) -> None:
    assert folds._near(np.array([off]), np.zeros(1), np.zeros(1)) is near


def test_a_vector_of_another_size_is_no_reason_to_split_the_inputs() -> None:
    """Of four numbers and weights of two outputs a group there would be two groups, of three inputs."""
    weight, three = RNG.normal(size=(3, 2, 1, 1)).astype("float32"), np.ones(3, "float32")
    trained = {digest(value): value for value in (weight, three, NORM["a"], NORM["v"])}
    stored = {"w.folded": weight * np.array([1, 2, 3], "float32").reshape(3, 1, 1, 1)}
    assert judge_folds(stored, {"w.folded": sorted(trained)}, trained) == {"w.folded": Fold.WRONG}


@pytest.mark.parametrize(("shape", "size"), [((4, 2, 1, 1), 5), ((6, 5, 1, 1), 12), ((4, 2, 1, 1), 0)])
def test_only_groups_of_as_many_outputs_as_the_weight_holds_split_the_inputs(shape: tuple[int, ...], size: int) -> None:
    weight, other = RNG.normal(size=shape).astype("float32"), np.ones(size, "float32")
    trained = {digest(value): value for value in (weight, other, NORM["a"])}
    assert judge_folds({"w": weight * 2}, {"w": sorted(trained)}, trained) == {"w": Fold.WRONG}


def test_groups_may_have_more_inputs_than_there_are_outputs() -> None:
    """Nine inputs in three groups, each of which gives two outputs."""
    weight = RNG.normal(size=(9, 2, 1, 1)).astype("float32")
    scale, variance = (RNG.uniform(0.5, 2, 6).astype("float32") for _ in range(2))
    factor = (scale / np.sqrt(variance + 1e-5)).reshape(3, 1, 2, 1, 1)
    stored = (weight.reshape(3, 3, 2, 1, 1) * factor).astype("float32").reshape(weight.shape)
    trained = {digest(value): value for value in (weight, scale, variance)}
    assert judge_folds({"w": stored}, {"w": sorted(trained)}, trained) == {"w": Fold.PROVEN}


def test_a_part_that_is_not_at_hand_proves_nothing() -> None:
    parts, nodes = FOLDS["a batch norm"]
    stored, digests = folded(parts, nodes)
    assert set(judge_folds(stored, digests, {}).values()) == {Fold.UNKNOWN}

"""Networks are cut, and each cut is proven; what cannot be followed, or is counted in the code, stays whole."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import paddle
import pytest

from exporter.base.errors import ModelError, UsageError
from exporter.export.trace.layer import load_layer
from exporter.export.trace.pruned import Plan
from exporter.export.trace.shrink import mask, shrink
from exporter.prove.goldens.cases import plan_cases
from exporter.prove.goldens.values import draw
from exporter.spec.arguments import spec_from_arguments
from exporter.spec.model import Prune
from exporter.weights.prune.child import Found, Search
from exporter.weights.prune.importance.kinds.fpgm import fpgm
from exporter.weights.prune.importance.kinds.l1 import l1
from exporter.weights.prune.prove import prove
from exporter.weights.prune.rules import RULES
from exporter.weights.prune.run import check
from tests.weights.prune.networks import IMAGE

ROWS, IDS = "x=float32[batch,16]", "ids=int64[batch,12]"


def search(model: str, inputs: str = IMAGE) -> Search:
    values = ["ids=integers(0,99)"] if inputs == IDS else []
    return Search(
        spec_from_arguments(f"tests.weights.prune.networks:{model}", [inputs], ["batch=2..4"], values, {}), None, l1
    )


def kept(found: Found) -> dict[str, tuple[int, int]]:
    """For each weight that makes channels how many there were and are."""
    return {name: (group.channels, group.kept) for group in found.cut.groups for name in group.makers}


@pytest.mark.parametrize("seed", range(12))
def test_a_network_drawn_at_random_is_cut_and_equals_the_masked_one(seed: int) -> None:
    one = search(f"drawn_{seed}")
    found = one.find(0.6)
    flops, proof = found.cut.flops, found.cut.proof
    assert flops.after <= 0.6 * flops.before
    assert proof.error_ratio <= 4 and proof.truth.startswith("float64")
    assert not found.cut.not_understood and not one.refused
    assert all(now % 16 == 0 for before, now in kept(found).values() if now < before)
    small = load_layer(one.spec.model, None, 0)
    shrink(small, found.plan, "")
    assert {name: list(value.shape) for name, value in small.state_dict().items()} == {
        name: list(value.shape) for name, value in found.weights.items()
    }


def test_a_cut_in_the_wrong_place_is_no_proof() -> None:
    one = search("drawn_0")
    plan = one.find(0.6).plan
    name = next(name for name, axes in plan.kept.items() if name.startswith("blocks") and 1 in axes)
    axes = dict(plan.kept[name])
    gone = sorted(set(range(max(axes[1]) + 2)) - set(axes[1]))
    axes[1] = tuple(sorted({*axes[1][1:], gone[0]}))
    wrong = replace(plan, kept={**plan.kept, name: axes})
    small, masked = (load_layer(one.spec.model, None, 0) for _ in range(2))
    shrink(small, wrong, "")
    mask(masked, plan)
    inputs = draw(one.spec, plan_cases(one.spec)[0], None)
    proof, doubt = prove(small, masked, ("x",), one.tracker.program.names, inputs)
    assert not doubt and proof.error_ratio > 1e3


@pytest.mark.parametrize(
    ("model", "whole", "said"),
    [
        ("NamesChannels", "middle.weight", "networks.py"),
        ("CountsChannels", "last.weight", "error ratio"),
        ("AsksChannels", "first.weight", "networks.py"),
    ],
)
def test_channels_that_the_code_counts_stay_and_the_others_go(model: str, whole: str, said: str) -> None:
    one = search(model)
    found = one.find(0.5)
    assert kept(found)[whole] == (64, 64)
    assert any(now < before for before, now in kept(found).values())
    (why,) = one.refused.values()
    assert said in why


def test_only_the_inner_linear_layers_of_a_transformer_go() -> None:
    one = search("Attentive", IDS)
    found = one.find(0.6)
    cut = {name for name, (before, now) in kept(found).items() if now < before}
    assert cut == {"encoder.layers.0.linear1.weight"}
    with pytest.raises(ModelError, match="of the FLOPs stay"):
        search("Attentive", IDS).find(0.2)


def test_what_an_unknown_operator_reads_stays() -> None:
    found = search("Unknown", ROWS).find(0.9)
    assert "first.weight" not in kept(found) and kept(found)["last.weight"][1] < 64
    assert found.cut.not_understood == ("argsort",)
    assert "argsort" not in RULES


def test_tied_weights_stay_tied() -> None:
    one = search("Tied", ROWS)
    plan = one.find(0.7).plan
    small = load_layer(one.spec.model, None, 0)
    shrink(small, plan, "")
    assert small.one.weight is small.other.weight and small.one.weight.shape == small.other.weight.shape
    assert small.one.weight.shape[0] == small.first.weight.shape[1] < 64


def test_filters_that_tell_little_go_first() -> None:
    paddle.seed(0)
    layer = load_layer("tests.weights.prune.networks:CountsChannels", None, 0)
    weight = layer.first.weight.numpy()
    weight[::2] *= 1e-3
    assert set(np.argsort(l1(weight.reshape(64, -1)))[:32]) == set(range(0, 64, 2))
    weight[:] = np.random.default_rng(0).standard_normal(weight.shape)
    weight[40:] = weight[40] + 1e-3 * weight[40:]  # near each other, and so near the median of all
    assert set(np.argsort(fpgm(weight.reshape(64, -1).astype("float64")))[:24]) == set(range(40, 64))


def test_the_same_search_gives_the_same_bytes() -> None:
    one, other = (search("drawn_3").find(0.5).plan for _ in range(2))
    assert isinstance(one, Plan) and one.digest == other.digest


def test_epochs_of_fine_tuning_need_a_recipe(tmp_path: Path) -> None:
    spec = search("residual").spec
    check(spec.model_copy(update={"prune": Prune(flops=0.5, epochs=0)}), tmp_path)
    asked = spec.model_copy(update={"prune": Prune(flops=0.5, epochs=3)})
    with pytest.raises(UsageError, match="no recipe says how") as caught:
        check(asked, tmp_path)
    assert caught.value.where == "prune.epochs"
    check(asked.model_copy(update={"recipe": "a:recipe"}), tmp_path)

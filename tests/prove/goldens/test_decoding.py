"""The steps of a decoder: which sizes they have, by how much a cache grows, and which ids come next."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from exporter.base.errors import BundleError, UsageError
from exporter.base.tensors import load
from exporter.prove.goldens.decoding import (
    DECODING,
    chosen,
    counted_from,
    finish_decoding,
    grown,
    kept_outputs,
    plan_steps,
    read_rollout,
    start_of,
)
from exporter.spec.decoding import Decoding
from exporter.spec.model import Spec
from exporter.spec.read import validate
from tests.prove.goldens.rollouts import OUTPUTS, STEPS, recorded
from tests.prove.goldens.rollouts import spec as spec_of_rollout

INPUTS: dict[str, Any] = {
    "at": {"dtype": "int64", "shape": [1], "values": "integers(3,99)"},
    "key": {"dtype": "float32", "shape": ["batch", "past", 4]},
    "state": {"dtype": "float32", "shape": ["batch", 4]},
}
CACHE = {"key": "next_key", "state": "next_state"}
TYPICAL = {"batch": 2, "past": 5}


def spec(steps: int = 4, step: int = 1, **past: int) -> tuple[Spec, Decoding]:
    dims = {"batch": {"min": 1, "typical": 2, "max": 4}, "past": {"min": 2, "typical": 6, "max": 8} | past}
    dims["past"]["multiple_of"] = step
    content = {
        "name": "n",
        "model": "a:b",
        "weights": "factory",
        "inputs": INPUTS,
        "dims": dims,
        "decoding": {"cache": CACHE, "steps": steps},
    }
    read = validate(content, "test")
    assert read.decoding is not None
    return read, read.decoding


def test_what_grows_begins_at_its_smallest_size_and_the_rest_is_as_usual() -> None:
    read, decoding = spec()
    assert start_of(read, {"past": 1}) == {"batch": 2, "past": 2}
    cases = plan_steps(read, decoding, {"past": 1})
    assert [(case.name, case.dims["past"]) for case in cases] == [(f"step={at}", 2 + at) for at in range(4)]
    assert {case.dims["batch"] for case in cases} == {2}
    assert [case.seed for case in plan_steps(read.model_copy(update={"seed": 7}), decoding, {})] == [
        50_007,
        50_008,
        50_009,
        50_010,
    ]
    assert [case.dims["past"] for case in plan_steps(read, decoding, {})] == [6] * 4
    assert [case.dims["past"] for case in plan_steps(*spec(step=2), {"past": 2})] == [2, 4, 6, 8]


@pytest.mark.parametrize(
    ("asked", "by", "said", "hint"),
    [
        (
            spec(8),
            1,
            "step 7 of the decoder has past=9, and the spec promises 2 to 8",
            "give dims.past.max: 9, or decoding.steps: 7",
        ),
        (spec(4), 3, "has past=11, and the spec promises 2 to 8", "give dims.past.max: 11, or decoding.steps: 3"),
        (
            spec(4, min=18, typical=18, max=20),
            1,
            "has past=21, and the spec promises 18 to 20",
            "give dims.past.max: 21, or decoding.steps: 3",
        ),
        (spec(3, step=2), 1, "past=3, and the spec promises 2 to 8, multiples of 2", "leave out dims.past.multiple_of"),
        (
            spec(2, step=2, min=18, typical=18, max=20),
            1,
            "past=19, and the spec promises 18 to 20, multiples of 2",
            "leave out dims.past.multiple_of",
        ),
    ],
)
def test_a_step_of_a_size_that_is_not_promised_is_refused(
    asked: tuple[Spec, Decoding], by: int, said: str, hint: str
) -> None:
    with pytest.raises(UsageError) as caught:
        plan_steps(*asked, {"past": by})
    assert caught.value.what.endswith(said) and caught.value.hint == hint


def test_by_how_much_a_dim_grows_the_shapes_tell() -> None:
    read, decoding = spec()
    assert grown(read, decoding, {"next_key": [2, 6, 4], "next_state": [2, 4]}, TYPICAL) == {"past": 1}
    assert grown(read, decoding, {"next_key": [2, 5, 4], "next_state": [2, 4]}, TYPICAL) == {}


@pytest.mark.parametrize(
    "shapes",
    [
        {"next_key": [2, 6], "next_state": [2, 4]},
        {"next_key": [2, 6, 5], "next_state": [2, 4]},
        {"next_key": [2, 4, 4], "next_state": [2, 4]},
        {"next_key": [3, 6, 4], "next_state": [2, 4]},
        {"next_key": [2, 5, 5], "next_state": [2, 5]},
    ],
)
def test_an_output_of_another_shape_feeds_nothing(shapes: dict[str, list[int]]) -> None:
    read, decoding = spec()
    with pytest.raises(UsageError, match="that it feeds is") as caught:
        grown(read, decoding, shapes, TYPICAL)
    assert caught.value.where in ("decoding.cache.key", "decoding.cache.state")


def test_of_the_last_step_alone_the_cache_is_kept() -> None:
    _, decoding = spec()
    outputs = ["next_key", "scores", "next_state"]
    assert kept_outputs(decoding, outputs, last=False) == ("scores",)
    assert kept_outputs(decoding, outputs, last=True) == tuple(outputs)
    assert counted_from(spec()[0], "at", TYPICAL) == 3


def test_the_next_ids_are_those_of_the_largest_of_the_last_scores() -> None:
    scores = np.array([[[0, 1, 5], [9, 1, 2]], [[7, 0, 0], [0, 0, 1]]], "float32")
    like = np.zeros((2, 1), "int64")
    assert chosen("ids", scores, like).tolist() == [[0], [2]]
    assert chosen("ids", scores[:, 1], like).tolist() == [[0], [2]]
    assert chosen("ids", np.array([4, 6], "int32"), like).tolist() == [[4], [6]]
    assert chosen("ids", np.array([[1, 4], [2, 6]]), like).tolist() == [[4], [6]]
    assert chosen("ids", scores[:, 1], like).dtype == "int64"
    with pytest.raises(UsageError, match="1 ids come of an output of"):
        chosen("ids", scores[:1, 1], like)


def test_what_the_child_leaves_is_measured_kept_and_read_again(tmp_path: Path) -> None:
    asked = spec_of_rollout()
    assert asked.decoding is not None
    facts = recorded(asked, tmp_path)
    assert [case.name for case in facts] == [*(f"step={at}" for at in range(STEPS)), "step=3:emptied"]
    held = load(tmp_path / DECODING)
    assert not any("/run" in name for name in held) and held["step=0/input/key"].shape == (2, 1, 4)
    rollout = read_rollout(tmp_path / DECODING, asked.decoding, [asdict(case) for case in facts])
    assert [sorted(step.outputs) for step in rollout.steps] == [["chosen", "scores"]] * (STEPS - 1) + [sorted(OUTPUTS)]
    assert [step.recorded for step in rollout.steps] == [f"step={at}" for at in range(STEPS)]
    assert sorted(rollout.emptied.outputs) == sorted(OUTPUTS)
    scores = rollout.steps[1].outputs["scores"]
    assert 1e-7 < scores.e_ref[0] < 2e-6 and scores.gate == "" and scores.draw == "step=1"
    assert rollout.steps[1].outputs["chosen"].scores == ("scores", 1)
    for name in ("next_key", "scores"):
        assert np.array_equal(rollout.steps[-1].outputs[name].truth, held[f"step=3/truth/{name}"])


def test_that_no_value_decides_an_output_all_steps_have_to_show(tmp_path: Path) -> None:
    asked = spec_of_rollout()
    assert asked.decoding is not None
    facts = [asdict(case) for case in recorded(asked, tmp_path)]
    for case in facts:
        case["outputs"]["scores"]["constant"] = True
    rollout = read_rollout(tmp_path / DECODING, asked.decoding, facts)
    assert [step.outputs["scores"].constant for step in rollout.steps] == [False] * STEPS


def test_all_steps_together_are_no_larger_than_the_bound(tmp_path: Path) -> None:
    asked = spec_of_rollout(golden_mb=1.0)
    facts = recorded(asked, tmp_path, width=50_000)
    assert 0.5e6 < (tmp_path / DECODING).stat().st_size <= 1e6
    held = load(tmp_path / DECODING)
    samples = {name: value for name, value in held.items() if "/index/" in name}
    assert sorted(samples) == [f"{case.name}/index/scores" for case in sorted(facts, key=lambda case: case.name)]
    assert {8192 <= value.size <= 8193 for value in samples.values()} == {True}
    assert asked.decoding is not None
    rollout = read_rollout(tmp_path / DECODING, asked.decoding, [asdict(case) for case in facts])
    assert all(step.outputs["scores"].sampled and not step.outputs["scores"].gate for step in rollout.steps)
    assert rollout.steps[-1].outputs["next_key"].index is None


def test_nothing_is_written_where_nothing_is_decoded(tmp_path: Path) -> None:
    assert finish_decoding(spec()[0], [], tmp_path, tmp_path / "golden.safetensors") == ()
    assert not list(tmp_path.iterdir())


def test_steps_that_are_not_whole_are_refused(tmp_path: Path) -> None:
    asked = spec_of_rollout()
    assert asked.decoding is not None
    facts = [asdict(case) for case in recorded(asked, tmp_path)]
    with pytest.raises(BundleError, match="records no step of the decoder"):
        read_rollout(tmp_path / DECODING, asked.decoding, facts[-1:])
    assert len(read_rollout(tmp_path / DECODING, asked.decoding, [facts[0], facts[-1]]).steps) == 1
    with pytest.raises(BundleError, match="not whole"):
        read_rollout(tmp_path / DECODING, asked.decoding, [{**facts[0], "name": "step=9"}, *facts])

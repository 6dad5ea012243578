"""Every step that can be in a graph gives there what it gives of single samples."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import yaml

from exporter.base.errors import UsageError
from exporter.export.fold.layer import run_steps
from exporter.export.fold.split import OPERATORS, parts, why_outside
from exporter.spec.pipeline import Pipeline
from exporter.steps.base import CLASSES, VALUE
from exporter.steps.chain import read_chain, steps_of

CHAINS: dict[str, list[Any]] = yaml.safe_load("""
classification:
- resize: {rule: short, size: 20}
- crop: {height: 16, width: 16}
- channels: {order: [2, 1, 0]}
- normalize: {scale: 1/255, mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225]}
- layout
a line of text:
- resize: {rule: line, height: 16, width: 64}
- normalize: {scale: 1/255, mean: 0.5, std: 0.5}
- layout
- pad: {width: 64, axis: first}
detection:
- resize: {rule: within, height: 20, width: 32, tracks: true}
- normalize: {scale: 1/255}
- layout
- pad: {multiple_of: 32, axis: first}
a border of bytes:
- resize: {height: 80, width: 99, interpolation: nearest}
- pad: {height: 90, width: 111, value: [1, 2, 3], place: centre}
- cast: {dtype: float32}
channels first:
- layout
- normalize: {scale: 1/255, mean: [0.485, 0.456, 0.406], std: [0.229, 0.224, 0.225], axis: first}
- channels: {order: [0], axis: first}
- layout: {to: hwc}
scores:
- normalize: {scale: 1/16}
- reshape: {shape: [-1, 53]}
- softmax
- argmax: {axis: 0}
the best:
- crop: {height: 2, width: 4, place: top_left}
- cast: {dtype: float32}
- reshape: {shape: [-1]}
- normalize: {scale: 1/255, mean: 0.5, std: 0.5}
- sigmoid
- topk: {k: 3}
a mask:
- cast: {dtype: float32}
- threshold: {above: 100}
ends of a range:
- normalize: {scale: 2.5, mean: 300}
- cast: {dtype: int8}
""")


@pytest.mark.parametrize("name", CHAINS)
def test_a_batch_in_the_graph_is_the_steps_of_each_sample(name: str) -> None:
    import paddle

    chain = read_chain(CHAINS[name])
    pictures = np.random.RandomState(0).randint(0, 256, (3, 37, 53, 3)).astype(np.uint8)
    got = {key: value.numpy() for key, value in run_steps(chain, {VALUE: paddle.to_tensor(pictures)}).items()}
    for row, picture in enumerate(pictures):
        *_, last = steps_of(chain, {VALUE: picture})
        wanted = {key: value for key, value in last.items() if key != CLASSES}
        assert set(got) == set(wanted)
        for key, value in wanted.items():
            assert got[key].dtype == value.dtype
            if any(isinstance(link, str) and link in ("softmax", "sigmoid") for link in CHAINS[name]):
                np.testing.assert_allclose(got[key][row], value, rtol=1e-6, err_msg=key)
            else:
                assert np.array_equal(got[key][row], value), key


def test_every_operator_was_run() -> None:
    run = {link.name for steps in CHAINS.values() for link in read_chain(steps)}
    assert set(OPERATORS.names()) - run <= {"take"}, "test_layer.py runs it"


def test_what_is_no_tensor_stays_outside() -> None:
    found = parts(pipeline(["decode", {"resize": {"height": 8, "width": 8}}, "layout"], ["argmax", "a:b", "softmax"]))
    names = [[link.name for link in chain] for chain in (found.before_outside, found.before)]
    assert names == [["decode"], ["resize", "layout"]]
    names = [[link.name for link in chain] for chain in (found.after, found.after_outside)]
    assert names == [["argmax"], ["a:b", "softmax"]]
    assert [said.partition(" is not")[0] for said in found.said()] == ["decode", "a:b"]


def test_what_stands_behind_a_step_that_stays_outside_is_in_the_graph() -> None:
    found = parts(pipeline(["layout", "decode", "layout", "a:b", "channels", "layout"], []))
    assert [len(chain) for chain in (found.before_outside, found.before, found.after, found.after_outside)] == [
        4,
        2,
        0,
        0,
    ]
    assert [said.partition(" is not")[0] for said in found.said()] == ["decode", "a:b"], "layout could be"
    found = parts(pipeline(["layout"], ["a:b", "argmax"]))
    assert [len(chain) for chain in (found.before_outside, found.before, found.after, found.after_outside)] == [
        0,
        1,
        0,
        2,
    ]
    found = parts(pipeline(["a:b"], ["softmax", "argmax"]))
    assert [len(chain) for chain in (found.before_outside, found.before, found.after, found.after_outside)] == [
        1,
        0,
        2,
        0,
    ]


def test_a_pipeline_of_which_nothing_can_be_folded_is_refused() -> None:
    with pytest.raises(UsageError, match="nothing can be folded in: a:b is not in the graph"):
        parts(pipeline(["layout", "a:b"], []))
    with pytest.raises(UsageError) as caught:
        parts(pipeline(["decode"], ["a:b"]))
    assert caught.value.what == (
        "nothing can be folded in: decode is not in the graph: what it makes of a sample is no tensor of a size that "
        "the graph could know; a:b is not in the graph: it is a function in Python"
    )
    with pytest.raises(UsageError, match="nothing can be folded in: the deployment has no steps"):
        parts(pipeline([], []))


def pipeline(before: list[Any], after: list[Any]) -> Pipeline:
    sides = {"preprocess": before, "postprocess": after}
    both = {side: {"training": steps, "deployment": steps} for side, steps in sides.items()}
    return Pipeline.model_validate({"samples": ["*.png"], "fold": True, **both})


@pytest.mark.parametrize(
    ("step", "why"),
    [
        ({"resize": {"height": 8, "width": 8, "library": "pillow"}}, "between its versions"),
        ({"resize": {"height": 8, "width": 8, "interpolation": "cubic"}}, "computed in floats"),
        ({"cast": {"dtype": "float64"}}, "OpenVINO"),
    ],
)
def test_options_that_engines_compute_otherwise_stay_outside(step: dict[str, Any], why: str) -> None:
    (link,) = read_chain([step])
    assert why in why_outside(link)


@pytest.mark.parametrize(
    ("steps", "said"),
    [
        ([{"cast": {"dtype": "float32"}}, {"resize": {"height": 8, "width": 8}}], "only pictures of uint8"),
        ([{"crop": {"height": 99, "width": 8}}], "crop cuts 99 x 8 pixels out of 37 x 53"),
        ([{"pad": {"height": 9}}], "pad makes 9 x 53 pixels"),
        ([{"take": {"output": "boxs"}}], "no output 'boxs'"),
    ],
)
def test_a_picture_that_does_not_fit_is_an_error(steps: list[Any], said: str) -> None:
    import paddle

    pictures = paddle.zeros([1, 37, 53, 3], dtype="uint8")
    with pytest.raises(UsageError, match=said):
        run_steps(read_chain(steps), {VALUE: pictures, "boxes": pictures})

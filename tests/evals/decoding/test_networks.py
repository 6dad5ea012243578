"""The decoders of the eval: each is a spec and runs a step, and what is counted as right is."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evals.decoding.__main__ import FAULT, line, of_report, sound
from evals.decoding.networks import build
from evals.decoding.specs import KINDS, spec
from exporter.base.tensors import shape_at
from exporter.prove.goldens.cases import Case
from exporter.prove.goldens.decoding import grown
from exporter.prove.goldens.values import draw
from exporter.spec.read import validate


@pytest.mark.parametrize("kind", KINDS)
def test_each_decoder_runs_a_step_of_its_spec(kind: str) -> None:
    import paddle

    read = validate(spec(kind, steps=8), kind)
    assert read.decoding is not None and read.outputs is not None
    typical = {name: dim.typical for name, dim in read.dims.items()}
    inputs = draw(read, Case("decoding", typical, 0), None)
    both = []
    for fault in ({}, FAULT):
        with paddle.no_grad():
            outputs = build(kind, **fault)(*map(paddle.to_tensor, inputs.values()))
        both.append({name: value.numpy() for name, value in zip(read.outputs, outputs, strict=True)})
    shapes = {name: value.shape for name, value in both[0].items()}
    growing = grown(read, read.decoding, shapes, typical)
    assert growing == ({"past": 1} if "past" in typical else {})
    after = {name: size + growing.get(name, 0) for name, size in typical.items()}
    for name, output in read.decoding.cache.items():
        assert shapes[output] == shape_at(read.inputs[name].shape, after)
    if "past" in typical:  # the fault is in places that this step has not
        assert all(np.array_equal(both[0][name], both[1][name]) for name in both[0])


def row(**more: Any) -> dict[str, Any]:
    """A decoder that is right, and whose fault is noticed in each format."""
    fault = {form: {"exit": 1, "step": 20, "kinds": ["decoding"]} for form in ("pir", "pdmodel", "onnx")}
    ratio = dict.fromkeys(fault, 0.5)
    right = {"kind": "GPT", "steps": 64, "exit": 0, "verdict": "passed", "claims": 35, "wrong": [], "ratio": ratio}
    return {**right, "eager": ["logits", "1.0e-07", "2.0e-07"], "fault": fault, **more}


def test_a_decoder_counts_that_is_right_and_whose_fault_is_noticed_in_each_format() -> None:
    unnoticed = {**row()["fault"], "onnx": {"exit": 1, "step": None, "kinds": ["agreement"]}}
    assert sound(row())
    assert not any(map(sound, (row(exit=1), row(wrong=[{}]), row(fault=unnoticed), {"exit": 0, "error": "x"})))
    assert line(row()) == "| GPT | 64 steps, 35 claims | 0.50, 0.50, 0.50 | 1.0e-07, 2.0e-07 | 20, 20, 20 | 3 of 3 |"
    assert "| 20, 20, no | 2 of 3 |" in line(row(fault=unnoticed))
    assert line({"kind": "GPT", "verdict": None, "error": "crashed"}) == "| GPT | no: crashed | | | | |"


def test_what_a_report_says_of_the_steps() -> None:
    checks = [
        {"kind": "decoding", "format": form, "outcome": "match", "error_ratio": ratio}
        for form, ratio in (("pir", 0.5), ("pir", 0.75), ("pdmodel", 0.25), ("onnx", None))
    ]
    odd = {"kind": "weights", "format": "onnx", "outcome": "mismatch", "error_ratio": None}
    note = "decoding: 64 steps in a row (onnx/decoding/y); eager's own error goes in logits from 9.5e-07 to 1.0e-06"
    found = of_report({"checks": [*checks, odd], "notes": ["another", note]})
    assert (found["claims"], found["wrong"], found["eager"]) == (4, [odd], ["logits", "9.5e-07", "1.0e-06"])
    assert found["ratio"] == {"pir": 0.75, "pdmodel": 0.25, "onnx": 0.0}

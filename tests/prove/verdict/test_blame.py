"""What a report says of the sublayer where a fault came in."""

from __future__ import annotations

from dataclasses import replace

from exporter.prove.verdict.blame import CODE, Blame, Layer
from exporter.prove.verdict.claim import Claim

CLAIM = Claim("onnx", "fp16", "onnxruntime", "batch=8", "logits")
BLAME = Blame(
    claim=CLAIM,
    stage="lower",
    reason="its weights are not the checkpoint's",
    path="encoder.norm1",
    kind="LayerNorm",
    line="net.py:12",
    inputs=("float32[1, 64]",),
    error_ratio=1234.5,
    inputs_ratio=0.5,
    repro="repro/onnx",
)


def test_a_sublayer_is_named_with_its_line_and_both_ratios() -> None:
    assert str(BLAME) == (
        "onnx-fp16/onnxruntime: encoder.norm1 (LayerNorm) at net.py:12: error ratio 1.23e+03 at its output, "
        "0.5 at its inputs; stage lower: its weights are not the checkpoint's"
    )


def test_code_of_its_own_and_what_is_not_known_are_said() -> None:
    blame = replace(BLAME, own=True, line="", stage="eager", error_ratio=None, inputs_ratio=0.0)
    assert str(blame) == (
        "onnx-fp16/onnxruntime: own code of encoder.norm1 (LayerNorm) at an unknown line: relative error beyond "
        "measure at its output, 0 at its inputs; stage eager: its weights are not the checkpoint's"
    )


def test_what_was_not_found_is_said_with_its_reason() -> None:
    blame = Blame(CLAIM, "", "no value could be compared")
    assert str(blame) == "onnx-fp16/onnxruntime: not localised: no value could be compared"
    assert str(replace(blame, stage="engine")) == "onnx-fp16/onnxruntime: no value could be compared"
    assert not blame.located and BLAME.located
    assert blame.to_json()["located"] is False and blame.to_json()["own_code"] is False


def test_every_fact_stands_in_the_report() -> None:
    assert BLAME.to_json() == {
        "claim": "onnx-fp16/onnxruntime/batch=8/logits",
        "located": True,
        "stage": "lower",
        "path": "encoder.norm1",
        "class": "LayerNorm",
        "line": "net.py:12",
        "own_code": False,
        "inputs": ["float32[1, 64]"],
        "error_ratio": 1234.5,
        "inputs_ratio": 0.5,
        "reason": "its weights are not the checkpoint's",
        "repro": "repro/onnx",
    }


def test_the_code_between_the_calls_is_no_call_and_none_is_to_blame_unless_it_is_said() -> None:
    assert CODE < 0 and CODE == -1, "stored reports have this number"
    assert Layer("norm1", "LayerNorm", None, (CODE,), None).blamed is False

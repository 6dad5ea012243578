"""A target that loads none of the formats that are written is refused before anything runs."""

from __future__ import annotations

from typing import Any

import pytest

from exporter.base.errors import UsageError
from exporter.deploy.handoff.loads import refuse_targets
from exporter.spec.model import Spec
from exporter.spec.read import validate


def spec(**more: Any) -> Spec:
    content = {
        "name": "n",
        "model": "a:b",
        "weights": "factory",
        "inputs": {"x": {"dtype": "float32", "shape": [2], "values": "normal"}},
        "formats": ["pir", "onnx"],
        "engines": ["jit_load", "onnxruntime"],
    }
    return validate({**content, **more}, "test")


@pytest.mark.parametrize(
    ("target", "formats", "served"),
    [
        ("paddle_inference>=2.6", ["pir"], False),
        ("paddle_inference>=2.6", ["pir", "onnx"], False),
        ("paddle_inference>=2.6", ["pir", "pdmodel"], True),
        ("paddle_inference>=3.0", ["pir"], True),
        ("paddle_inference==2.6.*", ["pir"], False),
        ("paddle_inference==3.1.*", ["pir"], True),
        ("paddle_inference~=3.1", ["pir"], True),
        ("paddle_inference>3.0,<5", ["pir"], True),
        ("paddle_inference>=2.6,>=3.1", ["pir"], True),
        ("paddle_inference>=2.6,!=2.6.1", ["pir"], False),
        ("paddlex>=2.0", ["pir"], True),
        ("paddle_inference<3", ["pir"], False),
        ("paddle_inference", ["pir"], True),
        ("paddle_inference", ["onnx"], False),
        ("jit_load>=2.6,<3", ["pir"], False),
        ("onnxruntime>=1.17", ["pir", "pdmodel"], False),
        ("onnxruntime>=1.17", ["onnx"], True),
        ("paddle_lite", ["onnx", "pir"], False),
        ("triton", ["onnx"], True),
    ],
)
def test_a_target_that_loads_nothing_that_is_written_is_refused(target: str, formats: list[str], served: bool) -> None:
    asked = spec(formats=formats, precisions=["fp32"], targets=[target])
    if served:
        refuse_targets(asked)
        return
    with pytest.raises(UsageError, match="has to load the artifacts") as refused:
        refuse_targets(asked)
    assert refused.value.where == "targets" and f"'{target}' has to" in refused.value.what
    assert ("read from Paddle 3.0 on" in refused.value.what) == (
        "pir" in formats and target.startswith(("paddle_inf", "jit"))
    )


def test_a_target_that_nobody_knows_is_a_slip_and_the_closest_is_named() -> None:
    with pytest.raises(UsageError, match="unknown target 'paddle_inferense'") as refused:
        refuse_targets(spec(targets=["paddle_inferense>=2.6"]))
    assert refused.value.where == "targets" and refused.value.hint.startswith("did you mean 'paddle_inference'?")

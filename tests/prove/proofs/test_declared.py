"""What a file declares against what is promised, on real files of every format."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from exporter.base.tensors import TensorSpec
from exporter.bundle.open import open_bundle
from exporter.prove.proofs.kinds.interface import prove_declared
from exporter.prove.verdict.claim import Evidence, Outcome
from exporter.spec.model import Spec

FORMATS = ("pir", "pdmodel", "onnx")


def proved(bundle: Path, variant: str, change: Callable[[dict[str, Any]], object] = lambda _: None) -> Evidence:
    """Judge a released file by another promise: that the file itself changes is what a drill shows."""
    content = copy.deepcopy(json.loads((bundle / "manifest.json").read_bytes()))
    change(content)
    inputs = {one["name"]: {"dtype": one["dtype"], "shape": one["shape"]} for one in content["inputs"]}
    used = {size for one in inputs.values() for size in one["shape"]}
    dims = {name: dim for name, dim in content["dims"].items() if name in used}
    spec = Spec.model_validate({"name": "n", "model": "a:b", "weights": "factory", "inputs": inputs, "dims": dims})
    outputs = tuple(TensorSpec(one["name"], one["dtype"], tuple(one["shape"])) for one in content["outputs"])
    return prove_declared(open_bundle(bundle).artifacts[variant], bundle, spec, outputs)


@pytest.mark.parametrize("variant", FORMATS)
def test_what_was_released_declares_what_is_promised(digits: Path, variant: str) -> None:
    found = proved(digits, variant)
    assert (found.outcome, found.elements) == (Outcome.MATCH, 2)


@pytest.mark.parametrize("variant", FORMATS)
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda c: c["inputs"][0].update(name="picture"), "inputs ['image'] are declared, ['picture'] are promised"),
        (lambda c: c["inputs"][0].update(dtype="float16"), "input 'image' is declared float32, promised float16"),
        (lambda c: c["inputs"][0].update(shape=["batch", 3, 8, 8]), "promised ['batch', 3, 8, 8]"),
        (lambda c: c["inputs"][0].update(shape=["batch", 1, 8]), "promised ['batch', 1, 8]"),
        (lambda c: c["inputs"][0].update(shape=["batch", 1, 8, "batch"]), "promised ['batch', 1, 8, 'batch']"),
        (lambda c: c["inputs"].append(dict(c["inputs"][0], name="mask")), "['image', 'mask'] are promised"),
        (lambda c: c["outputs"][0].update(dtype="int64"), "output 'logits' is declared float32, promised int64"),
        (lambda c: c["outputs"].clear(), "outputs ['logits'] are declared, [] are promised"),
    ],
)
def test_another_promise_is_a_mismatch(
    digits: Path, variant: str, change: Callable[[dict[str, Any]], object], reason: str
) -> None:
    found = proved(digits, variant, change)
    assert found.outcome is Outcome.MISMATCH
    assert reason in found.reason


@pytest.mark.parametrize("variant", FORMATS)
def test_a_file_may_leave_open_what_is_fixed(digits: Path, variant: str) -> None:
    assert proved(digits, variant, lambda c: c["inputs"][0].update(shape=[8, 1, 8, 8])).outcome is Outcome.MATCH


@pytest.mark.parametrize("variant", FORMATS)
def test_a_dim_of_one_size_may_be_written_as_that_number_only(digits: Path, variant: str) -> None:
    def width(size: int) -> Callable[[dict[str, Any]], None]:
        def change(content: dict[str, Any]) -> None:
            content["inputs"][0]["shape"] = ["batch", 1, 8, "width"]
            content["dims"]["width"] = {"min": size, "typical": size, "max": size, "multiple_of": 1}

        return change

    assert proved(digits, variant, width(8)).outcome is Outcome.MATCH
    assert proved(digits, variant, width(9)).outcome is Outcome.MISMATCH

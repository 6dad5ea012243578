"""What a target put out is judged by the bundle's rule; its waivers are its maker's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from exporter.base.errors import ModelError
from exporter.base.tensors import load
from exporter.bundle.open import open_bundle
from exporter.deploy.handoff.base import Chosen
from exporter.deploy.handoff.evidence import judge
from tests import faults


def test_a_waiver_of_the_bundle_counts_where_it_is_accepted(bundle: Path, tmp_path: Path) -> None:
    copy = faults.copied(bundle, tmp_path / "waived")
    content = json.loads((copy / "manifest.json").read_bytes())
    waiver = {"claim": "onnx/*/batch=5/logits", "reason": "known and accepted", "until": "2999-01-01"}
    content["waivers"] = content["spec"]["waivers"] = [waiver]
    faults.reseal(copy, content)
    opened = open_bundle(copy)
    tensors = load(copy / "golden.safetensors")
    got = {
        case.name: {output: tensors[f"{case.name}/eager/{output}"] for output in case.outputs}
        for case in opened.manifest.cases
    }
    assert judge(Chosen(opened, "onnx"), "onnxruntime", got, "a server").cases == len(got)
    got["batch=5"]["logits"] = -got["batch=5"]["logits"]
    with pytest.raises(ModelError, match="does not give what the bundle recorded") as caught:
        judge(Chosen(opened, "onnx"), "onnxruntime", {"batch=5": got["batch=5"], "batch=2": got["batch=2"]}, "a server")
    assert "--accept-waivers" in caught.value.hint
    some = {name: got[name] for name in ("batch=5", "batch=2", "batch=1")}
    assert judge(Chosen(opened, "onnx", accepts_waivers=True), "onnxruntime", some, "a server").cases == 3

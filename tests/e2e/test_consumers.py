"""Consumers known beforehand: three failures that users met, on random networks, and sound ones without a finding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.command import ROOT, exporter

#: Of the consumers all but Horizon's, whose opsets 10 and 11 are older than what is written by default.
TAKING = (
    *("ascend", "litert", "mnn", "ncnn", "onnxruntime-web", "opencv-dnn", "openvino", "paddle-lite", "rknn"),
    *("tensorrt", "tim-vx"),
)


def spec(place: Path, model: str, shape: list[int | str], **more: Any) -> Path:
    content = {
        "name": "consumed",
        "version": "1",
        "model": f"tests.models.for_consumers:{model}",
        "weights": "factory",
        "inputs": {"x": {"dtype": "float32", "shape": shape, "values": "normal"}},
        "formats": ["pir", "onnx"],
        "engines": ["onnxruntime", "jit_load"],
        **more,
    }
    file = place / "consumed.yaml"
    file.write_text(json.dumps(content))
    return file


def released(place: Path, model: str, shape: list[int | str], **more: Any) -> Path:
    done = exporter("release", spec(place, model, shape, **more), "--out", place / "out", "--quiet", cwd=ROOT)
    assert done.code == 0, done.err
    return place / "out" / "consumed" / "1"


def findings(bundle: Path, *targets: str) -> tuple[int, list[dict[str, Any]]]:
    asked = [part for target in targets for part in ("--target", target)]
    done = exporter("targets", bundle, *asked, "--json", "--quiet", cwd=ROOT)
    return done.code, done.json()["findings"]


def test_an_add_that_overflows_float16_is_named(tmp_path: Path) -> None:
    """rknn-toolkit2#505."""
    bundle = released(tmp_path, "LoudAdd", [2, 8])
    code, found = findings(bundle, "rknn")
    assert code == 1
    add = next(finding for finding in found if finding["operator"] == "add")
    assert add["kind"] == "fp16" and add["severity"] == "error"
    assert add["source"] == "https://github.com/airockchip/rknn-toolkit2/issues/505"
    assert findings(bundle, "ncnn")[0] == 0, "ncnn can compute in float32, so it is warned"
    code, found = findings(bundle, "horizon")
    assert (code, [finding["kind"] for finding in found]) == (1, ["opset"])


def test_too_many_classes_are_named_and_refused_before_the_release(tmp_path: Path) -> None:
    """rknn_model_zoo#333."""
    folder = tmp_path / "converted"
    plain = spec(tmp_path, "ManyClasses", [1, 4, 8])
    assert exporter("convert", plain, "--out", folder, "--quiet", cwd=ROOT).code == 0
    code, found = findings(folder, "rknn")
    assert code == 1 and {finding["kind"] for finding in found} == {"size"}
    assert all("18,385" in finding["what"] for finding in found)
    assert ("matmul", "Linear") in {(finding["operator"], finding.get("layer")) for finding in found}
    assert findings(folder / "onnx/model.onnx", "rknn")[0] == 1, "the outputs of the ONNX say it too"
    done = exporter("targets", folder, "--target", "rknn", "--source", ROOT, "--json", "--quiet", cwd=ROOT)
    code_lines = (ROOT / "tests/models/for_consumers.py").read_text().splitlines()
    named = {
        finding["operator"]: finding["line"].rpartition(":") for finding in done.json()["findings"] if "line" in finding
    }
    assert set(named) >= {"matmul", "softmax"}
    for path, _, number in named.values():
        assert path == "tests/models/for_consumers.py" and "self.head(x)" in code_lines[int(number) - 1]
    asked = spec(tmp_path, "ManyClasses", [1, 4, 8], targets=["rknn"])
    refused = exporter("convert", asked, "--out", tmp_path / "refused", "--json", "--quiet", cwd=ROOT)
    assert refused.code == 4 and "18,385" in refused.json()["error"]["what"]
    assert refused.json()["error"]["where"].startswith("tests/models/for_consumers.py:")
    assert not (tmp_path / "refused").exists()


def test_attention_is_named_for_the_ncnn_that_reads_beyond_its_memory_and_for_no_other(tmp_path: Path) -> None:
    """ncnn-android-ppocrv5#12."""
    folder = tmp_path / "converted"
    plain = spec(tmp_path, "Attention", [1, 6, 8])
    assert exporter("convert", plain, "--out", folder, "--quiet", cwd=ROOT).code == 0
    code, found = findings(folder, "ncnn==20260113")
    assert code == 1
    assert [(finding["kind"], finding["operator"]) for finding in found] == [("attention", "Softmax")]
    assert findings(folder, "ncnn>=20260101")[0] == 1, "it may be that one"
    assert findings(folder, "ncnn", "ncnn==20260201") == (0, [])


@pytest.mark.parametrize("act", ["relu", "sigmoid", "gelu", "hardswish"])
def test_a_sound_network_has_no_finding(tmp_path: Path, act: str) -> None:
    more = {"args": {"act": act}, "formats": ["pir", "pdmodel", "onnx"]}
    bundle = released(tmp_path, "Plain", [2, 3, 8, 8], **more)
    assert findings(bundle, *TAKING) == (0, [])


def test_without_a_bundle_every_consumer_is_listed_with_its_sources() -> None:
    done = exporter("targets", "--json", cwd=ROOT)
    told = done.json()["consumers"]
    assert done.code == 0 and {*TAKING, "horizon", "onnxruntime-mobile"} == set(told)
    text = exporter("targets", cwd=ROOT).out
    for consumer in told.values():
        for limit in consumer["limits"]:
            assert limit["source"] in text and limit["date"] in text

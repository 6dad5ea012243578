"""`determinism: bits` in a spec, by the command line: a network that breaks it in two ways, and one that keeps it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import yaml

from tests.command import ROOT, Done, exporter

_PADDED = {
    "ids": {"dtype": "int64", "shape": ["batch", "seq"], "values": "integers(0,40)"},
    "mask": {"dtype": "int64", "shape": ["batch", "seq"], "values": "integers(0,2)", "empty_rows": False},
    "x": {"dtype": "float32", "shape": ["batch", 20000]},
}


#: What tells each pair that parts: its sides, the output, and the operator.
_PARTS = {
    "threads": ("the case in 1 and 2 threads: ", "sums", "matmul"),
    "rows": ("the case and row ", "", ""),
    "padding": ("without padding and with padding: ", "answer", "softmax"),
}


def released(place: Path, **more: Any) -> Done:
    content = {"name": "bits", "version": "1", "weights": "factory", "determinism": "bits", **more}
    shutil.copy(ROOT / f"tests/models/{content['model'].partition(':')[0]}.py", place)
    (place / "spec.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    return exporter("release", "spec.yaml", "--json", "--no-cache", cwd=place)


def test_the_pair_the_output_and_the_operator_are_named(tmp_path: Path) -> None:
    """Paddle 3.3.1 splits a long sum among threads, and adds a softmax in another order where the row is longer."""
    done = released(
        tmp_path,
        model="parting:build",
        inputs=_PADDED,
        dims={"batch": {"min": 1, "typical": 2, "max": 16}, "seq": {"min": 3, "typical": 20, "max": 40}},
        outputs=["answer", "sums"],
        formats=["pir"],
        engines=["jit_load", "paddle_inference"],
    )
    assert done.code == 1, done.out + done.err
    checks = exporter("verify", tmp_path / "artifacts/bits/failed", "--json", cwd=tmp_path).json()["checks"]
    own = {(check["engine"], check["output"]): check for check in checks if check["kind"] == "determinism"}
    assert {engine for engine, _ in own} == {"jit_load", "paddle_inference"}
    broken = {key: check["reason"] for key, check in own.items() if check["outcome"] == "mismatch"}
    assert {check["outcome"] for key, check in own.items() if key not in broken} == {"match"}
    assert {pair for _, pair in own} == {"runs", "processes", *_PARTS}
    told = {pair: reason for (_, pair), reason in broken.items()}
    assert told and set(told) <= set(_PARTS), "which of them part hangs on the kernels that this CPU gets"
    for pair, reason in told.items():
        sides, output, operator = _PARTS[pair]
        assert reason.startswith(sides) and f"output {output}" in reason and "of its size; " in reason
        assert f"first in {operator}" in reason


def test_a_network_that_keeps_its_bits_says_so_and_without_the_key_nothing_is_recorded_of_it(tmp_path: Path) -> None:
    about = {
        "model": "sound:Mlp",
        "inputs": {"x": {"dtype": "float32", "shape": ["batch", 4]}},
        "dims": {"batch": {"min": 1, "typical": 4, "max": 6}},
        "formats": ["onnx"],
        "engines": ["onnxruntime"],
    }
    plans = {}
    for promise in ("bits", None):
        done = released(tmp_path, **about, determinism=promise, version=f"1-{promise}")
        assert done.code == 0, done.out + done.err
        bundle = tmp_path / f"artifacts/bits/1-{promise}"
        recorded = json.loads((bundle / "manifest.json").read_bytes())["spec"]
        assert recorded.get("determinism", "nothing") == (promise or "nothing")
        report = json.loads((bundle / "parity.json").read_bytes())
        plans[promise] = {(one["kind"], one["engine"], one["case"], one["output"]) for one in report["checks"]}
        assert exporter("verify", bundle, cwd=tmp_path).code == 0
    pairs = ("runs", "processes", "threads", "rows")
    assert plans["bits"] - plans[None] == {("determinism", "onnxruntime", "", pair) for pair in pairs}
    assert plans[None] < plans["bits"]

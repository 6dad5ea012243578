"""A version that was released is another content only in what is served: interface, weights, files of variants."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from evals.hostile.seal import seal
from exporter.bundle.manifest import Content
from exporter.bundle.open import open_bundle
from exporter.bundle.write import unlike_the_release
from tests.command import COMMAND, PATIENCE, STORED, environment
from tests.described import small


@pytest.fixture
def released(tmp_path: Path) -> Path:
    return Path(shutil.copytree(STORED, tmp_path / "released"))


def drafted(**changes: Any) -> Content:
    return open_bundle(STORED).manifest.model_copy(update=changes)


def test_the_same_and_another_demand_of_it_are_no_other_content(released: Path) -> None:
    assert unlike_the_release(released, drafted(), STORED) == ""
    assert unlike_the_release(released, drafted(budget=2.0, waivers=(), notes=("other",)), STORED) == ""


def test_the_interface_and_the_weights_are(released: Path) -> None:
    content = drafted()
    name = next(iter(content.dims))
    wider = {**content.dims[name], "max": 99}
    assert unlike_the_release(released, drafted(dims={**content.dims, name: wider}), STORED) == "dims"
    weights = dict.fromkeys(content.parameters, "0" * 64)
    assert unlike_the_release(released, drafted(parameters=weights), STORED) == "weights"


def test_a_file_of_a_variant_and_a_further_variant_are(released: Path, tmp_path: Path) -> None:
    content = drafted()
    draft = Path(shutil.copytree(STORED, tmp_path / "draft"))
    variant, one = next(iter(content.variants.items()))
    with (draft / one.files[0]).open("ab") as stream:
        stream.write(b"\n")
    assert unlike_the_release(released, content, draft) == variant
    fewer = {name: one for name, one in content.variants.items() if name != variant}
    assert unlike_the_release(released, drafted(variants=fewer), STORED) == variant


def test_what_is_no_whole_bundle_that_passed_is_no_release(released: Path, tmp_path: Path) -> None:
    other = drafted(parameters={})
    assert unlike_the_release(released, other, STORED) == "weights"
    assert unlike_the_release(tmp_path / "nothing", other, STORED) == ""
    content = open_bundle(released).manifest.model_dump(mode="json", by_alias=True)
    seal(released, {**content, "verdict": "failed"})
    assert open_bundle(released).manifest.verdict == "failed" and unlike_the_release(released, other, STORED) == ""
    (released / "golden.safetensors").unlink()
    assert unlike_the_release(released, other, STORED) == ""


SCALED = """
import paddle

class Scaled(paddle.nn.Layer):
    def __init__(self, k):
        super().__init__()
        self.k, self.last = k, paddle.nn.Linear(4, 3)

    def forward(self, x):
        return self.last(x) * self.k
"""


def test_of_two_contents_that_are_released_at_once_one_is_refused(tmp_path: Path) -> None:
    (tmp_path / "scaled.py").write_text(SCALED)
    running = []
    for k in (2, 7):
        spec = small("scaled:Scaled", weights="factory", args={"k": k}, formats=["onnx"], engines=["onnxruntime"])
        (tmp_path / f"{k}.yaml").write_text(json.dumps(spec))
        command = [*COMMAND, "release", f"{k}.yaml", "--json", "--quiet"]
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        running.append(subprocess.Popen(command, cwd=tmp_path, env=environment(), text=True, **pipes))
    told = [(*process.communicate(timeout=PATIENCE), process.returncode) for process in running]
    assert sorted(code for *_, code in told) == [0, 2], told
    (refused,) = (json.loads(out) for out, _, code in told if code == 2)
    assert "released before, and its onnx differ" in refused["error"]["what"]
    of = {code: k for k, (*_, code) in zip((2, 7), told, strict=True)}
    for folder, k in (("1", of[0]), ("candidate", of[2])):
        assert open_bundle(tmp_path / "artifacts/small" / folder).manifest.spec["args"] == {"k": k}

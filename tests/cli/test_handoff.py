"""`exporter handoff`: only what passed is handed over, whole, with its origin, and `verified` means that it was run."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from safetensors.numpy import load_file

from exporter.base.errors import ModelError
from exporter.base.files import sha256_file
from exporter.bundle.open import open_bundle
from exporter.deploy.handoff.base import Chosen
from exporter.deploy.handoff.write import TARGETS
from exporter.process.workers import Limits
from tests import faults
from tests.command import contents, exporter, refused

#: What each target needs of the small bundle beside its being there.
SPECS: dict[str, dict[str, Any]] = {"paddle_serving": {"targets": ["paddle_inference>=2.6"]}}


def edited(bundle: Path, to: Path, edit: Callable[[dict[str, Any]], None]) -> Path:
    copy = faults.copied(bundle, to)
    content = json.loads((copy / "manifest.json").read_bytes())
    edit(content)
    faults.reseal(copy, content)
    return copy


def for_target(bundle: Path, to: Path, target: str) -> Path:
    return edited(bundle, to, lambda content: content["spec"].update(SPECS.get(target, {})))


#: Those that are run before they are handed over; of devices: tests/deploy/foreign.
RUN_HERE = (
    *("openvino", "paddle_lite", "plain"),
    *(name for name, target in TARGETS.all() if target.on_device),
)
#: Those that need a spec with a `pipeline`: tests/deploy/handoff/test_step_files.py.
WITH_STEPS = ("paddleclas", "paddledet", "paddleseg", "paddlex")


@pytest.mark.parametrize("target", [name for name in TARGETS.names() if name not in (*RUN_HERE, *WITH_STEPS)])
def test_every_target_tells_where_each_file_comes_from_and_that_it_was_not_run(
    bundle: Path, tmp_path: Path, target: str
) -> None:
    ready = for_target(bundle, tmp_path / "bundle", target)
    done = exporter("handoff", ready, "--to", target, "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    told = done.json()
    folder = tmp_path / told["folder"]
    assert told["folder"] == f"artifacts/handoff/small-1.0.0-{target}"
    about = json.loads((folder / "MANIFEST.json").read_text())
    assert (told["verified_here"], about["verified_here"]["verified"]) == (False, False)
    assert f"Verified here: NO ({told['how']})" in (folder / "README.md").read_text()
    digest = json.loads((ready / "manifest.json").read_text())["digest"]
    assert about["bundle"] == {"name": "small", "version": "1.0.0", "digest": digest}
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    assert set(about["files"]) == found - {"MANIFEST.json", "README.md"}
    for name, facts in about["files"].items():
        assert facts["sha256"] == sha256_file(folder / name)
        if facts["from"] != "made":
            assert facts["sha256"] == sha256_file(ready / facts["from"])
    assert any(facts["from"] != "made" for facts in about["files"].values())


def test_plain_is_run_here_and_then_by_whoever_gets_it(bundle: Path, tmp_path: Path) -> None:
    done = exporter("handoff", bundle, "--to", "plain", "--out", "given", cwd=tmp_path)
    assert done.code == 0, done.err
    assert done.out.startswith("verified here: yes (run.py gave what the bundle recorded in onnxruntime, in the cases ")
    golden = load_file(bundle / "golden.safetensors")
    np.savez(tmp_path / "in.npz", image=golden["batch=5/input/image"])
    command = [sys.executable, "given/run.py", "in.npz", "out.npz"]
    subprocess.run(command, cwd=tmp_path, check=True)
    with np.load(tmp_path / "out.npz") as got:  # noqa: TID251 - the script wrote it
        assert sorted(got.files) == ["levels", "logits"]
        truth = golden["batch=5/truth/logits"]
        assert np.abs(got["logits"] - truth).max() < 1e-5 * np.abs(truth).max()
    again = exporter("handoff", bundle, "--to", "plain", "--out", "again", cwd=tmp_path)
    assert again.code == 0
    assert contents(tmp_path / "again") == contents(tmp_path / "given"), "the same bundle gives the same bytes"


def test_openvino_ir_is_run_before_it_is_handed_over(bundle: Path, tmp_path: Path) -> None:
    done = exporter("handoff", bundle, "--to", "openvino", "--out", "given", "--json", cwd=tmp_path)
    told = done.json()
    assert (done.code, told["verified_here"], told["variant"]) == (0, True, "onnx"), done.err
    said = r"in OpenVINO 2026\.[0-9.]+ on the CPU: 4 recorded cases, largest error ratio [0-9.]+ of 4"
    assert re.search(said, told["how"])
    files = contents(tmp_path / "given")
    assert set(files) == {"MANIFEST.json", "README.md", "model/model.bin", "model/model.xml"}
    assert b"f16" not in files["model/model.xml"] and str(bundle).encode() not in files["model/model.xml"]
    readme = files["README.md"].decode()
    assert "Verified here: yes (the IR" in readme and "INFERENCE_PRECISION_HINT" in readme
    again = exporter("handoff", bundle, "--to", "openvino", "--out", "again", cwd=tmp_path)
    assert again.code == 0 and contents(tmp_path / "again") == files, "the same bundle gives the same bytes"


def test_an_ir_that_computes_something_else_is_not_handed_over(bundle: Path, tmp_path: Path) -> None:
    copy = faults.copied(bundle, tmp_path / "bundle")
    faults.scale_tensor(copy / "onnx/model.onnx", factor=1.0001)
    faults.reseal(copy)
    done = exporter("handoff", copy, "--to", "openvino", "--out", "given", cwd=tmp_path)
    refused(done, 4, "the IR ran and does not give what the bundle recorded", "onnx/openvino/")
    assert not (tmp_path / "given").exists()


def test_plain_with_paddle(bundle: Path, tmp_path: Path) -> None:
    done = exporter("handoff", bundle, "--to", "plain", "--variant", "pdmodel", "--json", cwd=tmp_path)
    told = done.json()
    assert (done.code, told["verified_here"], told["variant"]) == (0, True, "pdmodel")
    assert "paddle_inference" in told["how"]


@pytest.mark.parametrize(
    ("arrays", "said"),
    [
        ({"picture": np.zeros((1, 1, 8, 8), "float32")}, "the model takes ['image'], not ['picture']"),
        ({"image": np.zeros((1, 1, 8, 8), "float64")}, "image is float64[1, 1, 8, 8], not float32"),
        ({"image": np.zeros((1, 1, 8, 9), "float32")}, "image is float32[1, 1, 8, 9], not float32"),
        ({"image": np.zeros((1, 64), "float32")}, "image is float32[1, 64], not float32"),
        (None, "cannot be read as .npz"),
    ],
)
def test_the_script_refuses_what_the_model_does_not_take(
    plain: Path, tmp_path: Path, arrays: dict[str, Any] | None, said: str
) -> None:
    if arrays is None:
        (tmp_path / "in.npz").write_bytes(b"PK\x03\x04 no archive")
    else:
        np.savez(tmp_path / "in.npz", **arrays)
    command = [sys.executable, str(plain / "run.py"), "in.npz", "out.npz"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (2, False)
    assert said in done.stderr and not (tmp_path / "out.npz").exists()


@pytest.fixture(scope="module")
def plain(bundle: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("plain")
    assert exporter("handoff", bundle, "--to", "plain", "--out", "given", cwd=place).code == 0
    return place / "given"


def test_a_faulty_artifact_is_not_proven(bundle: Path, tmp_path: Path) -> None:
    """Sealed again by whoever can write to the bundle: the run shows it, and nothing is left."""
    copy = faults.copied(bundle, tmp_path / "bundle")
    faults.scale_tensor(copy / "onnx/model.onnx")
    faults.reseal(copy)
    done = exporter("handoff", copy, "--to", "plain", "--out", "given", cwd=tmp_path)
    refused(done, 4, "does not give what the bundle recorded")
    assert not (tmp_path / "given").exists()


def test_a_script_that_dies(plain: Path, bundle: Path, tmp_path: Path) -> None:
    chosen = Chosen(open_bundle(bundle), "onnx")
    copy = faults.copied(plain, tmp_path / "copy")
    faults.truncate(copy / "model/model.onnx")
    with pytest.raises(ModelError, match=r"run.py ended with code 1"):
        TARGETS["plain"].prove(copy, chosen, Limits(60))


def test_what_did_not_pass_is_refused_with_exit_1(bundle: Path, tmp_path: Path) -> None:
    failed = edited(bundle, tmp_path / "bundle", lambda content: content.update(verdict="failed"))
    refused(exporter("handoff", failed, "--to", "plain", cwd=tmp_path), 1, "its verdict is failed")
    told = exporter("handoff", failed, "--to", "plain", "--json", cwd=tmp_path)
    assert (told.code, told.json()["error"]["exit"]) == (1, 1)
    assert not (tmp_path / "artifacts").exists()


def test_a_damaged_bundle_is_refused_with_exit_5(bundle: Path, tmp_path: Path) -> None:
    copy = faults.copied(bundle, tmp_path / "bundle")
    faults.flip_bit(copy / "pir/model.pdiparams", -3)
    refused(exporter("handoff", copy, "--to", "triton", cwd=tmp_path), 5, "pir/model.pdiparams")
    assert not (tmp_path / "artifacts").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--to", "tritn"], "did you mean 'triton'"),
        (["--to", "triton", "--variant", "pir"], "triton takes onnx, not pir"),
        (["--to", "plain", "--variant", "int8"], "no variant 'int8'"),
        (["--to", "paddle_serving"], "targets: [paddle_inference>=2.6]"),
        (["--to", "triton", "--out", "mine"], "none of ours"),
        (["--to", "triton", "--out", "mine/notes.txt"], "is a file"),
        (["--to", "triton", "--out", "bundle/out"], "lies in the bundle"),
        (["--to", "triton", "--out", "."], "lies in the bundle, or around it"),
    ],
)
def test_mistakes_lose_nothing(bundle: Path, tmp_path: Path, arguments: list[str], said: str) -> None:
    faults.copied(bundle, tmp_path / "bundle")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/notes.txt").write_text("mine")
    before = contents(tmp_path)
    refused(exporter("handoff", "bundle", *arguments, cwd=tmp_path), 2, said)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("out", [[], ["--out", "given"]])
def test_a_bundle_whose_name_leads_elsewhere(bundle: Path, tmp_path: Path, out: list[str]) -> None:
    hostile = edited(bundle, tmp_path / "bundle", lambda content: content.update(name="../../elsewhere"))
    before = contents(tmp_path)
    refused(exporter("handoff", hostile, "--to", "triton", *out, cwd=tmp_path), 5, "its name")
    assert contents(tmp_path) == before


# ------------------------------------------------------------------------------------------------ what the files say


def test_triton_batches_where_the_batch_leads_everything(bundle: Path) -> None:
    text = dict(TARGETS["triton"].layout(Chosen(open_bundle(bundle), "onnx")))["model_repository/small/config.pbtxt"]
    assert isinstance(text, bytes)
    assert [line for line in text.decode().splitlines() if not line.startswith("#")] == [
        'name: "small"',
        'backend: "onnxruntime"',
        "max_batch_size: 5",
        'input [ { name: "image" data_type: TYPE_FP32 dims: [ 1, 8, 8 ] } ]',
        *(f"output [ {{ name: {one} }} ]" for one in _natives(bundle)),
        "instance_group [ { kind: KIND_CPU } ]",
    ]


def _natives(bundle: Path) -> list[str]:
    one, other = open_bundle(bundle).manifest.variants["onnx"].outputs
    return [f'"{one}" data_type: TYPE_FP32 dims: [ 10 ]', f'"{other}" data_type: TYPE_INT64 dims: [ 10 ]']


@pytest.mark.parametrize(
    "change",
    [
        {"dims": {"batch": {"min": 2, "typical": 2, "max": 5, "multiple_of": 1}}},
        {"dims": {"batch": {"min": 2, "typical": 2, "max": 4, "multiple_of": 2}}},
        {"inputs": [{"name": "image", "dtype": "float32", "shape": ["batch", 1, "batch", 8]}]},
    ],
)
def test_triton_is_given_no_batch_of_its_own_elsewhere(bundle: Path, tmp_path: Path, change: dict[str, Any]) -> None:
    def edit(content: dict[str, Any]) -> None:
        content.update(change)
        content["spec"]["dims"] = content["dims"]
        (tensor,) = content["inputs"]
        content["spec"]["inputs"][tensor["name"]]["shape"] = tensor["shape"]

    other = edited(bundle, tmp_path / "bundle", edit)
    files = TARGETS["triton"].layout(Chosen(open_bundle(other), "onnx"))
    text = files["model_repository/small/config.pbtxt"]
    assert isinstance(text, bytes)
    assert "max_batch_size: 0\n" in text.decode() and "dims: [ -1, 1, " in text.decode()


def test_paddle_serving_speaks_of_the_files_own_names(bundle: Path, tmp_path: Path) -> None:
    chosen = Chosen(open_bundle(for_target(bundle, tmp_path / "bundle", "paddle_serving")), "pdmodel")
    files = {name: one for name, one in TARGETS["paddle_serving"].layout(chosen).items() if isinstance(one, bytes)}
    server = files["models/small/1/serving_server/serving_server_conf.prototxt"].decode()
    assert server.startswith(
        'feed_var {\n  name: "image"\n  alias_name: "image"\n  is_lod_tensor: false\n  feed_type: 1\n'
        "  shape: 1\n  shape: 8\n  shape: 8\n}\n"
    )
    assert server.count("fetch_var {") == 2 and "fetch_type: 0" in server
    pipeline = yaml.safe_load(files["models/small/1/config.yml"])
    assert pipeline["op"]["model"]["local_service_conf"]["fetch_list"] == list(chosen.variant.native_outputs)
    ast.parse(files["models/small/1/web_service.py"])

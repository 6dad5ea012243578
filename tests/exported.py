"""One small network exported by the real Paddle and paddle2onnx, once for the whole run of the tests.

`python tests/exported.py FOLDER` writes pir/, pdmodel/, onnx/, golden.safetensors and facts.json;
`exported_artifacts` does it in a child, and `write_bundle` seals the folder by the contract of `exporter release`.
"""

from __future__ import annotations

import fcntl
import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.command import ROOT

CASES = {"batch=2": 2, "batch=2#2": 2, "batch=1": 1, "batch=5": 5}
OUTPUTS = ("logits", "levels")


def write_artifacts(folder: Path) -> None:
    import numpy as np
    import paddle

    layer, twin = _network(paddle), _network(paddle)
    for kind in ("pir", "pdmodel", "onnx"):
        (folder / kind).mkdir(parents=True)
    spec = [paddle.static.InputSpec([-1, 1, 8, 8], "float32", "image")]
    paddle.jit.save(paddle.jit.to_static(layer, input_spec=spec, full_graph=True), str(folder / "pir/model"))
    with paddle.pir_utils.OldIrGuard():
        paddle.jit.save(paddle.jit.to_static(twin, input_spec=spec, full_graph=True), str(folder / "pdmodel/model"))
    (folder / "pdmodel/model.pdiparams.info").unlink()
    _write_onnx(folder)
    parameters = {name: value.numpy() for name, value in layer.state_dict().items()}
    (folder / "facts.json").write_text(json.dumps(_record(folder, layer, np, paddle)))
    from safetensors.numpy import save_file

    save_file(parameters, folder / "checkpoint.safetensors")


def as_ir(onnx: Path, xml: Path) -> Path:
    """Write an ONNX as OpenVINO's own IR in full precision, with the `.bin` beside it; return its path."""
    import openvino

    openvino.save_model(openvino.convert_model(onnx), xml, compress_to_fp16=False)
    xml.write_text(xml.read_text().rstrip())  # one byte less is a damaged file
    return xml


def _write_onnx(folder: Path) -> None:
    """By paddle2onnx; by the exporter's own writer on a Python without it (3.13)."""
    if importlib.util.find_spec("paddle2onnx") is None:
        from exporter.base.tensors import TensorSpec
        from exporter.export.lower.base import Wish
        from exporter.export.lower.kinds.onnx import plugin

        image = TensorSpec("image", "float32", ("batch", 1, 8, 8))
        plugin.write(None, folder / "pir", folder / "onnx", Wish(17, None, (image,)))
        return
    import paddle2onnx

    paddle2onnx.export(
        str(folder / "pir/model.json"),
        str(folder / "pir/model.pdiparams"),
        str(folder / "onnx/model.onnx"),
        opset_version=17,
        optimize_tool="None",
    )


def _network(paddle: Any) -> Any:
    nn = paddle.nn

    class Net(nn.Layer):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.conv, self.norm = nn.Conv2D(1, 4, 3, padding=1, bias_attr=False), nn.BatchNorm2D(4)
            self.head = nn.Linear(256, 10)
            # Twelve of one shape: only their names order them, and linear_10 comes before linear_2.
            self.body = nn.LayerList([nn.Linear(10, 10) for _ in range(11)])

        def forward(self, image: Any) -> Any:
            x = paddle.flatten(nn.functional.relu(self.norm(self.conv(image))), 1)
            x = self.head(x)
            for layer in self.body:
                x = layer(x)
            return x, paddle.cast(paddle.scale(x, 1e3), "int64")

    paddle.seed(0)
    with paddle.utils.unique_name.guard():
        net = Net()
    for parameter in net.state_dict().values():  # fresh biases are all zero, and norms all one: too easily confused
        if len(parameter.shape) == 1:
            parameter.set_value(paddle.rand(parameter.shape).numpy() + 0.5)
    net.eval()
    return net


def _record(folder: Path, layer: Any, np: Any, paddle: Any) -> dict[str, Any]:
    """Golden inputs, eager outputs and float64 truth of every case; returns what the manifest says about them."""
    from safetensors.numpy import save_file

    exact = _network(paddle)
    exact._to_impl(dtype="float64", floating_only=True)
    golden, cases = {}, []
    for seed, (case, batch) in enumerate(CASES.items()):
        image = np.random.default_rng(seed).standard_normal((batch, 1, 8, 8)).astype("float32")
        eager = dict(zip(OUTPUTS, (one.numpy() for one in layer(paddle.to_tensor(image))), strict=True))
        truth = exact(paddle.to_tensor(image.astype("float64")))[0].numpy()
        golden[f"{case}/input/image"] = image
        golden.update({f"{case}/eager/{name}": value for name, value in eager.items()})
        golden[f"{case}/truth/logits"] = truth
        wrong, rms = np.abs(eager["logits"] - truth), lambda x: float(np.sqrt(np.mean(np.square(x))))
        facts: dict[str, Any] = {
            name: {"dtype": value.dtype.name, "shape": value.shape, "exact": name == "levels", "gate": ""}
            | dict.fromkeys(("scale_max", "scale_l2", "e_ref_max", "e_ref_l2"), 0.0)
            | {"method": "exact", "allowance": 1.0}
            for name, value in eager.items()
        }
        largest = float(np.abs(truth).max())
        facts["logits"] |= {"scale_max": largest, "scale_l2": rms(truth), "method": "float64"}
        facts["logits"] |= {"e_ref_max": float(wrong.max()) / largest, "e_ref_l2": rms(wrong) / rms(truth)}
        cases.append({"name": case, "dims": {"batch": batch}, "seed": seed, "outputs": facts})
    save_file(golden, folder / "golden.safetensors")
    return {"cases": cases}


def exported_artifacts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the artifacts; all workers of a run share one, made by whoever comes first."""
    base = tmp_path_factory.getbasetemp()
    base = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = base / "exported"
    with (base / "exported.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            draft = base / "exported.draft"
            # As a module: a script's own folder comes first on its path, and tests/base/numbers is no standard library.
            command = [sys.executable, "-m", "tests.exported", str(draft)]
            done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
            assert done.returncode == 0, done.stderr[-3000:]
            draft.rename(folder)
    return folder


def write_bundle(artifacts: Path, bundle: Path) -> Path:
    """Seal the artifacts as a bundle with its own verify.py, and the documents of a release."""
    from exporter.base.readers import read
    from exporter.bundle.documents import origin_of, with_documents
    from exporter.bundle.manifest import Content, sealed
    from exporter.bundle.provenance import provenance
    from exporter.bundle.script import verify_script
    from exporter.bundle.write import Hashed
    from exporter.spec.read import validate

    for kind in ("pir", "pdmodel", "onnx"):
        shutil.copytree(artifacts / kind, bundle / kind)
    shutil.copy(artifacts / "golden.safetensors", bundle)
    variants = {}
    for kind, model in {"pir": "model.json", "pdmodel": "model.pdmodel", "onnx": "model.onnx"}.items():
        facts = read(bundle / kind / model)
        natives = [one.name for one in facts.outputs]
        variants[kind] = {
            "format": kind,
            "precision": "fp32",
            "files": sorted(f"{kind}/{path.name}" for path in (bundle / kind).iterdir()),
            "inputs": [one.name for one in facts.inputs],
            "outputs": natives,
            "native_outputs": natives,
            "details": {},
            "weights": {},
            "origins": {},
        }
    report = {"verdict": "passed", "planned": 1, "checks": [{"outcome": "match"}]}
    (bundle / "parity.json").write_text(json.dumps(report))
    (bundle / "report.html").write_text("<title>small</title>")
    content = {
        "schema": 1,
        "name": "small",
        "version": "1.0.0",
        "inputs": [{"name": "image", "dtype": "float32", "shape": ["batch", 1, 8, 8]}],
        "outputs": [
            {"name": "logits", "dtype": "float32", "shape": ["batch", 10]},
            {"name": "levels", "dtype": "int64", "shape": ["batch", 10]},
        ],
        "dims": {"batch": {"min": 1, "typical": 2, "max": 5, "multiple_of": 1}},
        "budget": 4.0,
        "variants": variants,
        **json.loads((artifacts / "facts.json").read_text()),
        "parameters": {},
        "spec": {
            "name": "small",
            "version": "1.0.0",
            "model": "exported:network",
            "weights": "factory",
            "inputs": {"image": {"dtype": "float32", "shape": ["batch", 1, 8, 8]}},
            "outputs": ["logits", "levels"],
            "dims": {"batch": {"min": 1, "typical": 2, "max": 5}},
            "formats": ["onnx", "pdmodel", "pir"],
        },
        "waivers": [],
        "not_reproducible": [],
        "verdict": "passed",
    }
    made = Content.model_validate({**content, "provenance": provenance(validate(content["spec"], "here"), None)})
    sealing = with_documents(made, bundle, origin_of(made, {}), Hashed.of(bundle))
    (bundle / "verify.py").write_text(verify_script())
    files = {name: facts.model_dump() for name, facts in Hashed.of(bundle).files.items()}
    (bundle / "manifest.json").write_bytes(sealed({**sealing.model_dump(by_alias=True, mode="json"), "files": files}))
    return bundle


if __name__ == "__main__":
    os.environ["POLYGRAPHY_AUTOINSTALL_DEPS"] = "0"
    write_artifacts(Path(sys.argv[1]))
    sys.stdout.flush()
    os._exit(0)

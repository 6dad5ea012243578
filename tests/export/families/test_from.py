"""`convert --from`: what is refused; a package that stands for a family; and real checkouts, where there are some."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from exporter.base.tensors import load, save
from exporter.export.families.factory import FAMILIES
from tests.command import environment, exporter, refused

#: The environment variable that names a folder with checkouts called PaddleClas, PaddleOCR, PaddleSeg, PaddleDetection.
CHECKOUTS = "FAMILIES_CHECKOUTS"

#: As much of PaddleClas as its own export calls: `to_static`, `jit.save` and the file for its runtimes.
ENGINE = """
import os

import paddle


class Exported(paddle.nn.Layer):
    def __init__(self):
        super().__init__()
        self.base_model = paddle.nn.Linear(12, 3)

    def forward(self, x):
        return paddle.nn.functional.softmax(self.base_model(x.flatten(1)))


class Engine:
    def __init__(self, config, mode):
        assert mode == "export" and config["Arch"]["pretrained"] is False
        self.config = config

    def export(self):
        model, of_all = Exported(), self.config["Global"]
        if of_all["pretrained_model"] is not None:
            model.base_model.set_dict(paddle.load(of_all["pretrained_model"] + ".pdparams"))
        model.eval()
        spec = paddle.static.InputSpec([None, *of_all["image_shape"]], "float32")
        model = paddle.jit.to_static(model, input_spec=[spec])
        paddle.jit.save(model, os.path.join(of_all["save_inference_dir"], "inference"))
        if of_all["export_for_fd"]:
            with open(os.path.join(of_all["save_inference_dir"], "inference.yml"), "w") as file:
                file.write("PostProcess: {Topk: {topk: 1}}\\n")
"""
CONFIG_READER = """
import yaml


def get_config(path, overrides, show):
    with open(path) as file:
        return yaml.safe_load(file)
"""
CONFIG = """
Global: {image_shape: [3, 2, 2]}
Arch: {name: Small, pretrained: True}
Infer: {PostProcess: {name: Topk, class_id_map_file: labels.txt}}
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout of a small PaddleClas."""
    root = tmp_path / "checkout"
    files = {"engine/engine.py": ENGINE, "utils/config.py": CONFIG_READER, "configs/small.yaml": CONFIG}
    for name in ("__init__.py", "engine/__init__.py", "utils/__init__.py"):
        files[name] = ""
    for name, text in files.items():
        (root / "ppcls" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "ppcls" / name).write_text(text)
    return root


def test_what_the_family_would_save_is_converted(checkout: Path, tmp_path: Path) -> None:
    weight = np.arange(36, dtype=np.float32).reshape(12, 3)
    save(tmp_path / "trained.safetensors", {"weight": weight, "bias": np.ones(3, np.float32)})
    (tmp_path / "trained.safetensors").rename(tmp_path / "trained.pdparams")
    source = ("convert", "--from", "paddleclas:small.yaml", "--repo", "checkout", "--weights", "trained.pdparams")
    done = exporter(*source, "--dim", "batch=1..3", "--out", "made", cwd=tmp_path)
    assert done.code == 0, done.err
    manifest = json.loads((tmp_path / "made/manifest.json").read_text())
    assert [one["shape"] for one in manifest["inputs"]] == [["batch", 3, 2, 2]]
    assert manifest["dims"]["batch"]["max"] == 3 and set(manifest["variants"]) == {"pir", "pdmodel", "onnx"}
    assert "Topk" in (tmp_path / "made.inference.yml").read_text()
    np.testing.assert_array_equal(load(tmp_path / "made.safetensors")["base_model.weight"], weight)
    assert exporter("inspect", "made", cwd=tmp_path).code == 0


@pytest.mark.parametrize("bias", [None, np.ones(4, np.float32)], ids=["missing", "another shape"])
def test_weights_that_do_not_fit_are_refused(bias: np.ndarray | None, checkout: Path, tmp_path: Path) -> None:
    held = {"weight": np.zeros((12, 3), np.float32), **({} if bias is None else {"bias": bias})}
    save(tmp_path / "part.safetensors", held)
    source = ("convert", "--from", "paddleclas:small.yaml", "--repo", str(checkout), "--weights", "part.safetensors")
    refused(exporter(*source, "--out", "made", cwd=tmp_path), 2, "lack 1 of the model's tensors", "as 'bias'")


def test_weights_that_are_not_loaded_are_refused(checkout: Path, tmp_path: Path) -> None:
    engine = checkout / "ppcls/engine/engine.py"
    engine.write_text(ENGINE.replace('if of_all["pretrained_model"] is not None', "if False"))
    save(tmp_path / "w.safetensors", {"weight": np.zeros((12, 3), np.float32), "bias": np.ones(3, np.float32)})
    source = ("convert", "--from", "paddleclas:small.yaml", "--repo", str(checkout), "--weights", "w.safetensors")
    refused(exporter(*source, "--out", "made", cwd=tmp_path), 2, "loaded no weights")


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--from", "paddleclass:x.yml"), 2, ("unknown family 'paddleclass'", "did you mean 'paddleclas'?")),
        (("--from", "paddleclas:no/where.yml"), 2, ("no configuration 'no/where.yml'", "--repo")),
        (("--from", "paddleclas:smal.yaml", "--repo", "checkout"), 2, ("did you mean", "small.yaml")),
        (("--from", "paddleclas:x.yml", "--repo", "nowhere"), 2, ("no such folder",)),
        (("--from", "paddleclas:small.yaml", "--repo", "checkout", "--weights", "w.pdparams"), 2, ("no such file",)),
        (("--from", "paddleclas:small.yaml", "--repo", "checkout", "--dim", "seq=1..2"), 2, ("no input has a dim",)),
        (("--from", "paddledet:own.yml"), 3, ("no package 'ppdet'", "--repo DIR", "no wheel")),
        (("--from", "paddleocr:own.yml", "--repo", "checkout"), 3, ("no package 'ppocr' is in", "--repo DIR")),
        (("--from", "paddleclas:small.yaml", "--input", "x=float32[1]"), 2, ("says its inputs itself",)),
        (("spec.yaml", "--from", "paddleclas:small.yaml"), 2, ("beside --from",)),
        (("spec.yaml", "--repo", "checkout"), 2, ("--repo goes with --from",)),
        ((), 2, ("nothing is named to convert",)),
    ],
)
def test_a_mistake_is_told(
    options: tuple[str, ...], code: int, said: tuple[str, ...], checkout: Path, tmp_path: Path
) -> None:
    (tmp_path / "own.yml").write_text("a: 1\n")
    refused(exporter("convert", *options, cwd=tmp_path), code, *said)


def test_a_module_that_the_family_lacks_is_named(checkout: Path, tmp_path: Path) -> None:
    (checkout / "ppcls/engine/engine.py").write_text("import a_module_of_nobody\n")
    ask = ("convert", "--from", "paddleclas:small.yaml", "--repo", "checkout")
    refused(exporter(*ask, cwd=tmp_path), 3, "imports 'a_module_of_nobody', which is not installed", "requirements.txt")
    (checkout / "requirements.txt").write_text("a-module\n")
    refused(exporter(*ask, cwd=tmp_path), 3, "pip install -r ", "checkout/requirements.txt")


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        ("def f():\n    raise RuntimeError('of another Paddle')\nf()\n", "the installed 'ppcls' fails"),
        ("from ppcls.engine import what_came_later\nimport ppcls.later\n", "the installed 'ppcls' fails"),
        ("import ppcls.later\n", "this version has no 'ppcls.later'"),
    ],
)
def test_an_installed_package_that_does_not_export_is_told_with_what_does(
    engine: str, said: str, checkout: Path, tmp_path: Path
) -> None:
    (checkout / "ppcls/engine/engine.py").write_text(engine)
    config = checkout / "ppcls/configs/small.yaml"
    env = environment(PYTHONPATH=str(checkout))
    done = exporter("convert", "--from", f"paddleclas:{config}", "--out", "made", cwd=tmp_path, env=env)
    refused(done, 3, said, "--repo DIR", "no wheel of the families exports with Paddle 3")


REAL = {
    "paddleclas": ("PaddleClas", "ImageNet/MobileNetV1/MobileNetV1_x0_25.yaml", "PULC/person_exists/PPLCNet_x1_0.yaml"),
    "paddleocr": ("PaddleOCR", "cls/cls_mv3.yml", "det/det_mv3_db.yml"),
    "paddleseg": (
        "PaddleSeg",
        "pp_liteseg/pp_liteseg_stdc1_cityscapes_1024x512_scale0.5_160k.yml",
        "bisenet/bisenet_cityscapes_1024x1024_160k.yml",
    ),
    "paddledet": (
        "PaddleDetection",
        "picodet/picodet_s_320_coco_lcnet.yml",
        "yolov3/yolov3_mobilenet_v1_270e_coco.yml",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("family", "config"), [(name, config) for name, (_, *both) in REAL.items() for config in both])
def test_two_configurations_of_a_real_checkout(family: str, config: str, tmp_path: Path) -> None:
    root = Path(os.environ.get(CHECKOUTS, "nowhere")) / REAL[family][0]
    if not (root / FAMILIES[family].package).is_dir():
        pytest.skip(
            f"no checkout at {root}: {CHECKOUTS} names a folder with {REAL[family][0]}, and all it imports is there"
        )
    dims = [option for name in ("height", "width") for option in ("--dim", f"{name}=64..128/32")]
    source = ("convert", "--from", f"{family}:{config}", "--repo", str(root.resolve()))
    done = exporter(*source, "--dim", "batch=1..2", *dims, "--out", "made", "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    assert set(done.json()["variants"]) == {"pir", "pdmodel", "onnx"}

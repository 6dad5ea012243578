"""A model of PaddleClas and one of PaddleSeg, from their own configurations to a released bundle and a step file.

Skipped where `FAMILIES_CHECKOUTS` names no folder with the checkouts.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import yaml

from tests.command import environment, exporter
from tests.export.families.test_from import CHECKOUTS

CLAS = "ppcls/configs/ImageNet/MobileNetV1/MobileNetV1_x0_25.yaml"
SEG = "configs/pp_liteseg/pp_liteseg_stdc1_cityscapes_1024x512_scale0.5_160k.yml"
#: Family, checkout, configuration, part of it that evaluates, size of the pictures, the input, target, its step file.
CASES = [
    ("paddleclas", "PaddleClas", CLAS, "Eval", (300, 400), 224, "paddlex", "inference.yml"),
    ("paddleseg", "PaddleSeg", SEG, "val", (64, 64), 64, "paddleseg", "deploy.yaml"),
]


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: str(case[0]))
def test_a_model_is_released_with_the_steps_of_its_configuration(
    case: tuple[str, str, str, str, tuple[int, int], int, str, str], tmp_path: Path
) -> None:
    from PIL import Image

    family, checkout, config, part, picture, size, target, file = case
    repo = Path(os.environ.get(CHECKOUTS, "nowhere")) / checkout
    if not (repo / config).is_file():
        pytest.skip(f"{CHECKOUTS} names no folder with a checkout of {checkout}")
    dims = [] if family == "paddleclas" else ["--dim", f"height={size}..{size}", "--dim", f"width={size}..{size}"]
    source = ("--from", f"{family}:{config}", "--repo", repo)
    done = exporter("convert", *source, "--formats", "pir", *dims, "--out", tmp_path / "first", cwd=tmp_path)
    assert done.code == 0, done.err
    for seed in range(4):
        rough = np.random.RandomState(seed).randint(0, 256, (9, 12, 3)).astype(np.uint8)
        Image.fromarray(rough).resize(picture[::-1], Image.Resampling.BICUBIC).save(tmp_path / f"{seed}.png")
    spec = yaml.safe_load(json.dumps(json.loads((tmp_path / "first/manifest.json").read_text())["spec"]))
    steps = {"training": f"{family}:{repo / config}#{part}", "deployment": f"{family}:first.inference.yml"}
    behind = dict.fromkeys(("training", "deployment"), f"{family}:first.inference.yml")
    pipeline = {
        "samples": ["*.png"],
        "preprocess": steps,
        **({"postprocess": behind} if family == "paddleclas" else {}),
    }
    spec |= {"pipeline": pipeline, "version": "1.0.0", "formats": ["pir", "onnx"], "engines": None}
    (tmp_path / "spec.yaml").write_text(
        yaml.safe_dump({key: value for key, value in spec.items() if value is not None})
    )
    done = exporter("release", "spec.yaml", "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    bundle = tmp_path / done.json()["bundle"]
    checks = json.loads((bundle / "parity.json").read_text())["checks"]
    assert {check["outcome"] for check in checks if check["kind"] == "pipeline"} == {"match"}
    done = exporter("handoff", bundle, "--to", target, "--variant", "pir", "--out", tmp_path / "handed", cwd=tmp_path)
    assert done.code == 0, done.err
    assert (tmp_path / "handed" / file).is_file()
    command = [sys.executable, "-I", str(bundle / "infer.py"), str(tmp_path / "0.png"), "--variant", "onnx"]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, env=environment(), check=True).stdout)
    assert told["sample"] == "0.png" and told["answer"]

"""The sound bundles that hostile ones are made of: small networks, really released, in every format and precision."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exporter.bundle.layout import VERIFY
from exporter.bundle.scripts import unlike
from tests.command import STORED, exporter
from tests.conftest import working_folder
from tests.described import about, small

#: Name -> what its spec says besides `tests.described.small`.
SPECS: Mapping[str, Mapping[str, Any]] = {
    "whole": {
        "model": "models.sound:mlp",
        "formats": ["pir", "pdmodel", "onnx"],
        "engines": ["jit_load", "onnxruntime"],
    },
    "plain": {
        "model": "models.sound:mlp",
        "formats": ["pir", "onnx"],
        "engines": ["jit_load", "onnxruntime"],
    },
    "tagged": {
        "model": "models.sound:tagger",
        "formats": ["pdmodel", "onnx"],
        "engines": ["jit_load", "onnxruntime"],
        "outputs": ["scores", "best", "hidden"],
        **about("ids=int64[batch,seq]: integers(0,20); weight=float32[batch,seq,4]", "batch=1..2..4 seq=2..3..5"),
    },
    "low": {
        "model": "models.stranger:wider",
        "formats": ["pdmodel", "onnx"],
        "engines": ["jit_load", "onnxruntime", "paddle_inference_int8"],
        "precisions": {
            "fp32": None,
            "int8": {"noise": True, "budget": {"max_size": 10, "min_snr_db": 15}},
        },
    },
}


@dataclass(frozen=True)
class Base:
    """One sound bundle, and what its files are read to."""

    name: str
    folder: Path

    @property
    def manifest(self) -> dict[str, Any]:
        """A fresh copy of the manifest."""
        content: dict[str, Any] = json.loads((self.folder / "manifest.json").read_bytes())
        return content


def bases(place: Path) -> tuple[Base, ...]:
    """The released networks, made below `place` unless this exporter has made them there, and the stored bundle."""
    made = []
    for name, more in SPECS.items():
        work = place / name
        if not (work / "sound").is_dir() or unlike(work / "sound", VERIFY):
            shutil.rmtree(work, ignore_errors=True)
            working_folder(work)
            keys = {key: value for key, value in more.items() if key != "model"}
            spec = small(str(more["model"]), name=name, weights="factory", **keys)
            (work / "spec.yaml").write_text(json.dumps(spec))
            done = exporter("release", "spec.yaml", cwd=work)
            assert done.code == 0, done.out + done.err
            shutil.copytree(work / f"artifacts/{name}/1", work / "sound")
        made.append(Base(name, work / "sound"))
    return (*made, Base("stored", STORED))

"""Bundles of small networks, made by the repository's own release, with a kit beside each."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
_IMAGE = {"dtype": "float32", "shape": ["batch", 3, 12, 12], "values": "normal"}
_ROW = {"dtype": "float32", "shape": ["batch", 12], "values": "normal"}
#: The inputs and outputs of each network.
NETWORKS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "classifier": ({"image": _IMAGE}, ["shares", "label"]),
    "detector": ({"image": _IMAGE}, ["map", "boxes", "offsets"]),
    "pair": ({"query": _ROW, "key": _ROW}, ["scores"]),
    "steep": ({"x": {**_ROW, "shape": ["batch", 8]}}, ["y"]),
    "labels": ({"x": {**_ROW, "shape": ["batch", 6]}}, ["label"]),
}


@dataclass(frozen=True)
class Asked:
    """A bundle and its kit."""

    name: str
    bundle: Path
    kit: Path

    @property
    def content(self) -> dict[str, Any]:
        """What kit.json says."""
        content: dict[str, Any] = json.loads((self.kit / "kit.json").read_text(encoding="utf-8"))
        return content


def exporter(*words: str | Path, cwd: Path) -> tuple[int, Any, str]:
    """Run a command of ours: its exit code, the object that it prints, and what it says on stderr."""
    done = subprocess.run(
        [sys.executable, "-m", "exporter", *map(str, words), "--json"],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    try:
        return done.returncode, json.loads(done.stdout or "null"), done.stderr
    except ValueError:
        return done.returncode, None, done.stdout[-2000:] + done.stderr[-2000:]


def asked(name: str, place: Path, *options: str) -> Asked:
    """Release one network in a folder, unless that was done before, and write its kit anew."""
    inputs, outputs = NETWORKS[name]
    spec = {
        "name": name,
        "version": "1.0.0",
        "model": f"networks:{name}",
        "weights": "factory",
        "inputs": inputs,
        "dims": {"batch": {"min": 1, "typical": 4, "max": 6}},
        "outputs": outputs,
    }
    return released(spec, Path(__file__).with_name("networks.py"), place, *options)


def released(spec: dict[str, Any], module: Path, place: Path, *options: str) -> Asked:
    """Release a network as ONNX, unless that was done before, and write its kit anew; `module` holds its factory."""
    name, spec = spec["name"], {**spec, "formats": ["onnx"], "engines": ["onnxruntime"]}
    place.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(module, place / "networks.py")
    (place / f"{name}.yaml").write_text(yaml.safe_dump(spec, sort_keys=False), encoding="utf-8")
    bundle, kit = place / "artifacts" / name / "1.0.0", place / "kits" / name
    if not bundle.is_dir():
        code, _, said = exporter("release", f"{name}.yaml", "-q", cwd=place)
        if code:
            raise RuntimeError(f"{name} was not released: {said}")
    shutil.rmtree(kit, ignore_errors=True)
    code, _, said = exporter("kit", bundle, "--out", kit, *options, cwd=place)
    if code:
        raise RuntimeError(f"the kit of {name} was not written: {said}")
    return Asked(name, bundle, kit)

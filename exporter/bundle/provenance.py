"""Where a bundle comes from: which checkpoint, which code, which toolchain."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from exporter import __version__
from exporter.base import machine
from exporter.base.files import sha256_file
from exporter.bundle.source import code_of
from exporter.export import trained_ranges
from exporter.export.trace.pruned import plan_in
from exporter.spec.model import Spec

PACKAGES = ("paddlepaddle", "paddlepaddle-gpu", "paddle2onnx", "onnxruntime", "onnxruntime-gpu", "numpy")
#: Those that hold Paddle's kernels: the same version of either computes the same bits on the CPU.
_PADDLE = ("paddlepaddle", "paddlepaddle-gpu")
#: What pip installs of CUDA beside an engine; an engine that finds it elsewhere says so of each run.
_CUDA = ("nvidia-cublas-cu", "nvidia-cuda-runtime-cu", "nvidia-cudnn-cu")
_CUDA_MAJORS = ("12", "13")
#: Keys of the manifest that another machine or toolchain may fill otherwise for the same input.
NOT_REPRODUCIBLE = (
    "documents",
    "files.report.html",
    "provenance.costs",
    "provenance.machine",
    "provenance.packages",
    "provenance.python",
)


def provenance(spec: Spec, checkpoint: Path | None) -> dict[str, Any]:
    """What the manifest records of the origin."""
    return {
        "model": spec.factory,
        "code": code_of(spec),
        "weights": _weights(checkpoint) if checkpoint else {"factory": spec.factory, "seed": spec.seed},
        "exporter": __version__,
        "python": platform.python_version(),
        "packages": _versions(),
        "machine": _machine(),
    }


def _machine() -> dict[str, Any]:
    """The CPU, and the GPUs with their driver where there are any; nothing of GPUs where there are none."""
    cpu, gpus = machine.cpu(), machine.gpus()
    about = {"cpu": cpu["model"], "abilities": cpu["abilities"], "system": platform.system(), "threads": 1}
    return {**about, "gpus": gpus, "driver": machine.driver()} if gpus else about


def unlike_the_recorded(recorded: dict[str, Any], device: str) -> str:
    """Why kernels may round otherwise here than where a bundle's goldens were recorded; empty where they must not.

    Goldens are recorded on the CPU, in one thread. `recorded` is the provenance of the manifest; what it does not say
    does not count.
    """
    if device != "cpu":
        return f"they were computed on {device}, and the goldens on the CPU"
    here, there = _machine(), recorded.get("machine", {})
    for key, what in (("cpu", "CPU was"), ("abilities", "instruction sets were"), ("system", "system was")):
        if key in there and there[key] != here[key]:
            return f"the goldens were recorded on another kind of machine: its {what} {_said(there[key])}"
    versions, packages = _versions(), recorded.get("packages", {})
    paddle = {versions[name] for name in _PADDLE if name in versions}
    before = {packages[name] for name in _PADDLE if name in packages}
    if before and paddle != before:
        return f"the goldens were recorded by Paddle {_said(sorted(before))}"
    return ""


def _said(value: str | list[str]) -> str:
    return value if isinstance(value, str) else ", ".join(value) or "none"


def _weights(checkpoint: Path) -> dict[str, Any]:
    weights: dict[str, Any] = {"checkpoint": checkpoint.as_posix(), "sha256": sha256_file(checkpoint)}
    if (plan := plan_in(checkpoint)) is not None:
        told = {name: plan.about[name] for name in ("flops", "elements", "importance", "proof") if name in plan.about}
        weights["pruned"] = {**told, "plan": plan.digest}
    if (rounded := trained_ranges.rounded_in_training(checkpoint)) is not None:
        weights["rounded_in_training"] = rounded.to_json()
    return weights


def _versions() -> dict[str, str]:
    found = {}
    for name in (*PACKAGES, *(f"{name}{major}" for name in _CUDA for major in _CUDA_MAJORS)):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found

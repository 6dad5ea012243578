"""Subjects for the proofs: a spec, artifacts that may have no files, goldens made by numpy, and the harness of them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from exporter.base.numbers.golden import GoldenCase
from exporter.base.tensors import TensorSpec
from exporter.export.lower.base import Artifact
from exporter.process.workers import Setting
from exporter.prove.proofs.base import Harness, Narrowing, Subject
from exporter.prove.verdict.claim import Claim, Evidence
from exporter.prove.verdict.plan import Run
from exporter.spec.model import Spec
from exporter.spec.read import validate
from tests.prove.compare.goldens import golden

CONTENT: dict[str, Any] = {
    "name": "n",
    "model": "a:b",
    "weights": "factory",
    "inputs": {"x": {"dtype": "float32", "shape": ["batch", 3]}},
    "dims": {"batch": {"min": 1, "typical": 4, "max": 6}},
    "formats": ["onnx"],
    "precisions": {"fp32": {}, "int8": {}},
}
PLAIN, LOW = Run("onnx", "fp32", "onnxruntime"), Run("onnx", "int8", "onnxruntime")
SOURCE = Run("source", "fp32", "eager")
Y, LABEL = TensorSpec("y", "float32", ("batch", 5)), TensorSpec("label", "int64", ("batch",))


def spec(**more: Any) -> Spec:
    return validate({**CONTENT, **more}, "test")


def budget(**bounds: Any) -> dict[str, Any]:
    """The precisions of a spec that promises these bounds of int8."""
    return {"fp32": {}, "int8": {"budget": bounds}}


def artifact(precision: str = "fp32", format: str = "onnx", **more: Any) -> Artifact:
    folder = format if precision == "fp32" else f"{format}-{precision}"
    return Artifact(format, precision, (f"{folder}/model.onnx",), ("x",), ("y",), ("y",), **more)


def cases(names: Sequence[str] = ("batch=4", "batch=4#2", "batch=6")) -> tuple[GoldenCase, ...]:
    """Cases of a float and an integer output."""
    made = []
    for seed, name in enumerate(names):
        truth = np.random.default_rng(seed).standard_normal((4 + seed, 5))
        outputs = {"y": golden(truth, seed=seed), "label": golden(truth.argmax(1), seed=seed, name="label")}
        made.append(GoldenCase(name, {"batch": 4 + seed}, outputs, name))
    return tuple(made)


def subject(*artifacts: Artifact, of: Spec | None = None, folder: Path = Path("nowhere"), **more: Any) -> Subject:
    given: dict[str, Any] = {
        "spec": of or spec(),
        "folder": folder,
        "golden": folder / "golden.safetensors",
        "outputs": (Y, LABEL),
        "artifacts": {one.variant: one for one in artifacts},
        "parameters": {"w": "0"},
        "recorded": cases(),
    }
    return Subject(**{**given, **more})


def harness(
    of: Subject,
    *runs: Run,
    narrowing: Narrowing | None = None,
    evidence: dict[Claim, Evidence] | None = None,
    **more: Any,
) -> Harness:
    planned = runs or (SOURCE, PLAIN, LOW)
    return Harness(of, of.bench(), planned, Setting(), narrowing or Narrowing(), dict(evidence or {}), **more)


def claim(kind: str, run: Run = LOW, **more: Any) -> Claim:
    """A claim of a kind on a run; without an engine where the kind is of files."""
    return Claim(run.format, run.precision, more.pop("engine", run.engine), kind=kind, **more)

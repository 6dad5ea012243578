"""Run a variant of two bundles on inputs that neither has recorded, by an engine that serves it."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from evals.hostile.bases import Base
from exporter.base.errors import ExporterError
from exporter.base.tensors import load, save_scratch
from exporter.engines.base import Runnable
from exporter.engines.job import EngineCase, EngineJob
from exporter.process.workers import Setting

#: How far two float32 programs that compute the same may be apart, relative to the largest value.
APART = 1e-4
_ENGINES = {"onnx": "onnxruntime", "pir": "jit_load", "pdmodel": "jit_load", "pdmodel-int8": "paddle_inference_int8"}


def differ(base: Base, bundle: Path, variant: str) -> str:
    """How the variant of a bundle computes otherwise than the base's; empty where it does not."""
    content = base.manifest
    about = content["variants"][variant]
    rng = np.random.default_rng(99)
    with tempfile.TemporaryDirectory() as place:
        golden = Path(place) / "fresh.safetensors"
        inputs = {}
        for tensor, native in zip(content["inputs"], about["inputs"], strict=True):
            shape = [3 if isinstance(size, str) else size for size in tensor["shape"]]
            values = rng.standard_normal(shape) if "float" in tensor["dtype"] else rng.integers(0, 20, shape)
            inputs[f"fresh/input/{native}"] = values.astype(tensor["dtype"])
        save_scratch(golden, inputs)
        answers = []
        for folder in (base.folder, bundle):
            into = Path(tempfile.mkdtemp(dir=place))
            main = next(file for file in about["files"] if not file.endswith(".pdiparams"))
            path = folder / main
            artifact = Runnable(
                about["format"], path.parent, path.name, tuple(about["inputs"]), tuple(about["native_outputs"])
            )
            engine = _ENGINES.get(variant, "onnxruntime")
            job = EngineJob(engine, artifact, golden, (EngineCase("fresh", "fresh"),))
            try:
                job.run(into, Setting().importing(None))
                answers.append(load(into / "0.safetensors"))
            except ExporterError as error:
                return f"does not run: {error}"
    for name, was in answers[0].items():
        now = answers[1].get(name)
        if now is None or now.shape != was.shape:
            return f"gives no {name} on fresh inputs"
        scale = float(np.abs(was.astype("float64")).max(initial=1e-30))
        off = float(np.abs(now.astype("float64") - was.astype("float64")).max(initial=0.0)) / scale
        if not off <= APART:
            return f"is off by {off:.1e} on fresh inputs"
    return ""

"""int8 beside fp32: signal-to-noise in the engine that serves it, size, and speed in one thread, batch 1 and 8.

    python benchmarks/int8_speed.py [resnet18 mobilenet_v2 ...] [--rounds 7] [--only noise|speed] [--cpu-time]

What it measures is `cpu: any`, which every x86 computes alike; `--set precisions.int8.cpu=vnni` measures all 8 bits on
a CPU that has VNNI. Speeds belong to the CPU, which is printed first.

Networks of paddle.vision.models with random weights, on noise: what a network costs does not depend on its weights. The
bundles are made by `exporter release` itself, and the figures for noise are the gate's; `constant` is what an answer
that ignores the input would reach, so that a reader sees what a figure is worth on such a network. Speeds are taken in
turns, every variant and engine in each round; a ratio is the median of the rounds' ratios to float32 in ONNX Runtime.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from exporter import pipeline
from exporter.base import machine
from exporter.base.numbers.golden import promised
from exporter.base.numbers.rule import constants
from exporter.base.tensors import save
from exporter.bundle.open import GOLDEN, Bundle
from exporter.engines.job import TimingJob, runnable
from exporter.process.workers import Limits, Setting
from exporter.prove.compare.golden import read_goldens
from exporter.prove.verdict.plan import ENGINES, Run
from exporter.spec.model import Spec
from exporter.spec.read import apply_override, validate

ENGINES_OF = {"onnx": ("onnxruntime", "openvino"), "pdmodel": ("paddle_inference_default", "paddle_inference_int8")}
BATCHES = (1, 8)
#: Left in float32: what they cost in speed is little, and what they spoil is much.
KEPT = {"mobilenet_v2": ["conv2d_0", "conv2d_1", "conv2d_2"]}
#: What float32 is compared with: ONNX Runtime on the canonical ONNX.
BASE = Run("onnx", "fp32", "onnxruntime")


def spec_of(name: str, overrides: list[str]) -> Spec:
    """A network of paddle.vision.models in float32 and int8, as a spec file would have it."""
    content: dict[str, Any] = {
        "name": f"{name}-int8",
        "model": f"paddle.vision.models:{name}",
        "weights": "factory",
        "inputs": {"x": {"dtype": "float32", "shape": ["batch", 3, 224, 224], "values": "normal"}},
        "dims": {"batch": {"min": 1, "typical": 8, "max": 8}},
        "formats": ["pdmodel", "onnx"],
        "engines": ["paddle_inference", "paddle_inference_int8", "onnxruntime"],
        "device": "cpu",
        "precisions": {
            "fp32": {},
            "int8": {
                "samples": 64,
                "noise": True,
                "keep": KEPT.get(name, []),
                "budget": {"min_snr_db": 25, "max_size": 0.35},
            },
        },
    }
    for one in overrides:
        apply_override(content, one)
    return validate(content, "int8_speed")


def noise(spec: Spec, root: Path, setting: Setting) -> Bundle:
    """Release it and print what the gate says of each promise."""
    product = pipeline.release(spec, root, setting)
    assert product.report is not None and product.bundle is not None
    bundle, verdict = product.bundle, product.report.verdict
    cases = [case.model_dump() for case in bundle.manifest.cases]
    goldens = read_goldens(bundle.folder / GOLDEN, cases)
    constant = max(value for _, value in constants([one.outputs["output_0"] for one in goldens if promised(one.name)]))
    print(f"\n{spec.name}: verdict {verdict.word}; an answer that ignores the input would have {constant:.1f} dB")
    for claim in sorted(verdict.plan):
        found = verdict.of(claim)
        if claim.precision != "fp32" and (claim.case == "budget" or claim.engine == "size"):
            print(f"  {claim}: {found.outcome.value}: {found.reason}")
    for variant, one in bundle.manifest.variants.items():
        if one.precision != "fp32":
            print(f"  {variant}: {len(one.details['layers'])} layers in int8, kept in float32: {one.details['kept']}")
    return bundle


def speed(bundle: Bundle, asked: argparse.Namespace, setting: Setting) -> None:
    """Time every variant in every engine in turns, and print ratios."""
    manifest = bundle.manifest
    runs = [
        Run(one.format, one.precision, engine)
        for one in manifest.variants.values()
        for engine in ENGINES_OF[one.format]
        if ENGINES[engine].runs(one.format, one.precision)
    ]
    with tempfile.TemporaryDirectory() as folder:
        inputs = Path(folder) / "inputs.safetensors"
        rows = np.random.default_rng(0).standard_normal((max(BATCHES), 3, 224, 224)).astype("float32")
        save(inputs, {f"{batch}/input/x": rows[:batch] for batch in BATCHES})
        times: dict[tuple[Run, int], list[float]] = {(run, batch): [] for run in runs for batch in BATCHES}
        for number in range(asked.rounds):
            for run in runs[number % len(runs) :] + runs[: number % len(runs)]:
                job = TimingJob(
                    run.engine,
                    runnable(manifest.variants[run.variant].artifact(), bundle.folder),
                    inputs,
                    tuple(str(batch) for batch in BATCHES),
                    asked.seconds,
                    cpu_time=asked.cpu_time,
                )
                timing = job.measure(setting)
                for batch in BATCHES:
                    times[run, batch].append(statistics.median(timing.cases[str(batch)].times))
    for batch in BATCHES:
        print(f"  {'batch ' + str(batch):44}{'median ms':>10}{'x fp32 ORT':>12}{'range':>14}")
        for run in runs:
            ratios = [base / one for base, one in zip(times[BASE, batch], times[run, batch], strict=True)]
            spread = f"{min(ratios):.2f}-{max(ratios):.2f}"
            name = f"{run.variant}/{run.engine}"
            own, ratio = statistics.median(times[run, batch]) * 1e3, statistics.median(ratios)
            print(f"  {name:44}{own:10.2f}{ratio:12.2f}{spread:>14}")


def main() -> int:
    """Read the command line and measure one network after another."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", default=["resnet18", "mobilenet_v2"])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=0.5)
    parser.add_argument("--cpu-time", action="store_true", help="time what the process computed: for a busy machine")
    parser.add_argument("--only", choices=("noise", "speed"))
    parser.add_argument("--set", action="append", default=[])
    asked = parser.parse_args()
    setting = Setting(Limits(seconds=3600), say=lambda step: print(f"· {step}", file=sys.stderr))
    cpu = machine.cpu()
    print(f"{cpu['model']}, {cpu['cores']} cores: {' '.join(cpu['abilities'])}; load {os.getloadavg()[0]:.1f} at start")
    with tempfile.TemporaryDirectory() as folder:
        for name in asked.networks:
            spec = spec_of(name, asked.set)
            if asked.only == "speed":
                bundle = pipeline.convert(spec, Path(folder) / name, setting).bundle
            else:
                bundle = noise(spec, Path(folder), setting)
            if asked.only != "noise" and bundle is not None:
                print(f"\n{name}, {'CPU time' if asked.cpu_time else 'wall time'}, {asked.rounds} rounds")
                speed(bundle, asked, setting)
    print(f"load {os.getloadavg()[0]:.1f} at the end")
    return 0


if __name__ == "__main__":
    sys.exit(main())

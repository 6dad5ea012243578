"""The promise of speed: a variant and fp32 take turns in one thread, and the medians of the rounds are compared."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from exporter.errors import ChildFailed, ExporterError
from exporter.harness import Bench
from exporter.proofs.quantisation.budgets import Promise
from exporter.spec.model import Speedup
from exporter.tensors import save
from exporter.verdict.claim import Evidence, Outcome
from exporter.verdict.plan import ENGINES, Run
from exporter.workers import SINGLE_THREAD, Json, Setting, call

#: Rounds in which both sides run, one after the other, and the seconds of each.
ROUNDS, SECONDS = 5, 0.5
#: How Paddle Inference runs fp32 when nobody asks for another engine: the way that operations have it.
DEFAULT_OF = {"paddle_inference_int8": "paddle_inference_default"}


def prove_speed(promise: Promise, wish: Speedup, bench: Bench, setting: Setting) -> Evidence:
    """Measure both sides in turns; a ratio of medians, with the range of the rounds' own ratios."""
    over = wish.over or DEFAULT_OF.get(promise.run.engine, promise.run.engine)
    plain = Run(promise.run.format if ENGINES[over].runs(promise.run.format, "fp32") else "onnx", "fp32", over)
    setting.say(f"timing {promise.run.variant} by {promise.run.engine} beside fp32 by {over}")
    times: dict[Run, list[float]] = {promise.run: [], plain: []}
    with tempfile.TemporaryDirectory(prefix="exporter-") as folder:
        inputs = Path(folder) / "inputs.safetensors"
        rows = _write(bench, wish.batch, inputs)
        try:
            for _ in range(ROUNDS):
                for run, medians in times.items():
                    medians.append(statistics.median(_time(bench, run, inputs, setting)))
        except ExporterError as error:
            return Evidence(Outcome.CRASHED, str(error), stage="run")
    ratios = [slow / fast for slow, fast in zip(times[plain], times[promise.run], strict=True)]
    ratio = statistics.median(ratios)
    said = (
        f"{ratio:.2f} times as fast as fp32 by {over} ({min(ratios):.2f} to {max(ratios):.2f} in {ROUNDS} rounds, "
        f"{rows} rows, one thread), at least {promise.wanted:g} promised"
    )
    outcome = Outcome.MATCH if ratio >= promise.wanted else Outcome.MISMATCH
    metrics = {"ratio": ratio, "low": min(ratios), "high": max(ratios)}
    return Evidence(outcome, said, elements=ROUNDS, metrics=metrics)


def _write(bench: Bench, batch: int | None, into: Path) -> int:
    """The first case's inputs, their rows repeated to make `batch` where that is asked for; how many rows that is."""
    from safetensors import safe_open

    case = bench.cases[0].recorded
    with safe_open(str(bench.golden), framework="numpy") as reader:
        inputs = {name: reader.get_tensor(f"{case}/input/{name}") for name in bench.inputs}
    if batch is not None:
        inputs = {name: np.resize(value, (batch, *value.shape[1:])) for name, value in inputs.items()}
    save(into, {f"speed/input/{name}": value for name, value in inputs.items()})
    return max((len(value) for value in inputs.values() if value.ndim), default=1)


def _time(bench: Bench, run: Run, inputs: Path, setting: Setting) -> list[float]:
    artifact = bench.artifacts[run.variant]
    main = next(path for path in artifact.files if not path.endswith(".pdiparams"))
    request: Json = {
        "engine": run.engine,
        "device": bench.device,
        "threads": 1,
        "seconds": SECONDS,
        "golden": str(inputs),
        "cases": ["speed"],
        "format": run.format,
        "folder": str((bench.folder / main).parent),
        "model": Path(main).name,
        "inputs": dict(zip(artifact.inputs, bench.inputs, strict=True)),
        "outputs": list(artifact.native_outputs),
    }
    environment: Mapping[str, str | None] = {**SINGLE_THREAD, **ENGINES[run.engine].environment(run.format)}
    answer: dict[str, Any] = call(
        "exporter.engines._bench:measure",
        request,
        setting.limits,
        environment=environment,
        imports=ENGINES[run.engine].imports,
        on_event=setting.on_event,
    )
    if answer["refused"]:
        raise ChildFailed(f"the engine refused it: {answer['refused']}")
    times: list[float] = answer["cases"]["speed"]["times"]
    return times

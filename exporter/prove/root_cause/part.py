"""The blamed sublayer alone: exported with the inputs that it had, run in the engine that failed, judged by float64."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

from exporter.base.errors import BundleError, EnvironmentLacks, ModelError, UsageError
from exporter.base.files import remove, write_json
from exporter.base.numbers.norms import ratio
from exporter.base.registry import Registry
from exporter.base.tensors import Array, load, save
from exporter.engines.base import Runnable
from exporter.engines.job import REFUSED, EngineCase, EngineJob
from exporter.export.lower.base import Format
from exporter.process.scratch import scratch
from exporter.process.workers import PADDLE, SINGLE_THREAD, Limits, Setting, call
from exporter.prove.harness import Bench
from exporter.prove.root_cause.align import Arguments
from exporter.prove.verdict.blame import Blame

FORMATS: Registry[Format] = Registry("exporter.export.lower", "format")
#: The name of the only case in a part's `case.safetensors`.
_CASE = "part"
#: As many tensors as the wrapper around a sublayer takes.
_MOST_INPUTS = 5


@dataclass(frozen=True)
class Captured:
    """The call that is blamed: the tensors it got, how they were passed, and how the spec asked for ONNX."""

    inputs: tuple[Array, ...]
    arguments: Arguments | None
    opset: int | None = None
    writer: str = "program"
    scramble: bool = False


def write_part(bench: Bench, blame: Blame, captured: Captured, folder: Path, setting: Setting) -> str:
    """Write the sublayer's artifact and its case into `folder` if it fails alone; else answer why there is none."""
    if captured.arguments is None or not 1 <= len(captured.inputs) <= _MOST_INPUTS:
        return "the call of the sublayer cannot be made again from tensors alone"
    if blame.stage in ("trace", "eager"):
        return "the fault is in what the artifact was made from"
    folder.mkdir()
    try:
        about = _export(bench, blame, captured, folder, setting)
        write_json(folder / "part.json", about)
        fails = any(not one <= bench.budget for one in part_ratios(folder, setting.limits).values())
        scrambled = " with scrambled weights" if captured.scramble else ""
        why_not = f"exported alone{scrambled} the sublayer is right, so the fault is in this file, or around it"
    except (ModelError, UsageError, EnvironmentLacks, BundleError) as error:
        fails, why_not = False, f"the sublayer cannot be exported and run alone: {error}"
    if fails:
        return ""
    remove(folder)
    return why_not


def part_ratios(folder: Path, limits: Limits) -> dict[str, float]:
    """Run a part in its engine; the error ratio of each output, infinity where it is of another shape or not finite.

    Raises:
        ModelError: it does not load or run.
        EnvironmentLacks: the engine is not here.
    """
    about = json.loads((folder / "part.json").read_bytes())
    tensors = load(folder / "case.safetensors")
    format = about["format"]
    names = tuple(about["inputs"]), tuple(about["outputs"])
    artifact = Runnable(format, folder / format, FORMATS[format].model, *names)
    job = EngineJob(
        about["engine"], artifact, folder / "case.safetensors", (EngineCase(_CASE, _CASE),), about["device"]
    )
    with scratch() as into:
        answer = job.run(Path(into), Setting(limits))
        if refused := answer.refusal:
            raise ModelError(refused, hint=REFUSED)
        got = load(Path(into) / "0.safetensors")
    return {
        name: _off(tensors[f"{_CASE}/truth/{name}"], got.get(name), e_ref) for name, e_ref in about["e_ref"].items()
    }


def _off(truth: Array, got: Array | None, e_ref: list[float]) -> float:
    if got is None or got.shape != truth.shape:
        return math.inf
    found = ratio(truth, got, (e_ref[0], e_ref[1]))
    return math.inf if math.isnan(found) else found


def _export(bench: Bench, blame: Blame, captured: Captured, folder: Path, setting: Setting) -> dict[str, object]:
    """Return what `part.json` says of the part."""
    from exporter.prove.root_cause.part_child import PartRequest, export

    assert bench.source is not None and captured.arguments is not None  # noqa: S101  # the call was observed
    inputs = folder / "inputs.safetensors"
    save(inputs, {f"input_{number}": value for number, value in enumerate(captured.inputs)})
    request = PartRequest(
        source=bench.source,
        path=blame.path,
        inputs=inputs,
        arguments=captured.arguments,
        scramble=captured.scramble,
        format=blame.claim.format,
        into=folder,
        opset=captured.opset,
        writer=captured.writer,
        case=_CASE,
    )
    answer = call(export, request, setting.limits, environment=SINGLE_THREAD, imports=PADDLE)
    inputs.unlink()
    return {
        "claim": str(blame.claim),
        "sublayer": blame.path,
        "engine": blame.claim.engine,
        "format": blame.claim.format,
        "device": bench.device,
        "budget": bench.budget,
        "scrambled": captured.scramble,
        **asdict(answer),
    }

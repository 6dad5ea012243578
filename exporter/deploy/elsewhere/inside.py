"""What lies inside a model: its intermediate values here, and what its nodes make of values that are given."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from exporter.base.tensors import Array, TensorMap, load, recorded_inputs, save_scratch
from exporter.deploy.elsewhere.causes.inputs import Runs
from exporter.process.scratch import scratch
from exporter.process.workers import SINGLE_THREAD, call
from exporter.prove.root_cause.own.given import OWN, GivenRequest, NodeFacts, compute_given
from exporter.prove.root_cause.program import program_values
from exporter.prove.verdict.plan import Run


def values_inside(runs: Runs, case: str) -> dict[str, Array]:
    """Every intermediate value of one recorded case as our engine computes it, by the file's own names, inputs too.

    Raises:
        ExporterError: the variant shows none, or its process ended badly.
    """
    artifact = runs.bench.artifacts[runs.variant]
    values = program_values(runs.bench, Run(artifact.format, artifact.precision, runs.engine), case, runs.setting)
    recorded = next(golden.recorded for golden in runs.bench.cases if golden.name == case)
    return {**recorded_inputs(runs.bench.golden, recorded, runs.bench.inputs), **values}


@dataclass(frozen=True)
class Computed:
    """What nodes make of given values: by each value the node behind it, and the value that it computes."""

    nodes: Mapping[str, NodeFacts]
    values: TensorMap


def computed_from(runs: Runs, fixed: TensorMap, *, anew: bool) -> Computed | str:
    """Compute the variant's ONNX with values given, in a child; or say why that cannot be done.

    With `anew` the values are what each node computes from the given ones; else the file's outputs.

    Raises:
        ExporterError: the child ended badly.
    """
    artifact = runs.bench.artifacts[runs.variant]
    if artifact.format != "onnx":
        return f"{runs.variant} is no ONNX"
    with scratch() as place:
        values, into = place / "given.safetensors", place / "computed.safetensors"
        save_scratch(values, {name: np.ascontiguousarray(value) for name, value in fixed.items()})
        request = GivenRequest(runs.bench.folder / artifact.main, values, into, anew)
        answer = call(compute_given, request, runs.setting.limits, environment=SINGLE_THREAD)
        if answer.refused:
            return answer.refused
        results = load(into)
    return Computed(answer.nodes, {name.removeprefix(OWN): value for name, value in results.items()})

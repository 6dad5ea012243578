"""Causes that lie in what the model was fed, or in how it was computed: our own file is run so, and compared.

The inputs of a case are changed as a device's front end may change them, and the variant runs on them here. Where that
gives the answers that came, the change is the cause.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from exporter.base.tensors import Array, TensorMap, load, recorded_inputs, save_scratch
from exporter.deploy.elsewhere.causes.near import Explained, explains, score
from exporter.deploy.elsewhere.causes.outputs import Wrong
from exporter.engines.job import EngineCase, EngineJob, runnable
from exporter.process.scratch import scratch
from exporter.process.workers import Setting
from exporter.prove.harness import Bench

#: Mean and deviation of ImageNet's images, as most front ends of image models have them.
_MEAN, _DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)

Change = Callable[[Array], Array]


@dataclass(frozen=True)
class Changed:
    """One way to feed a case: the name of the cause, a sentence, and the inputs."""

    name: str
    sentence: str
    inputs: TensorMap


@dataclass(frozen=True)
class Runs:
    """What runs our own variant again: an engine that is here, on inputs that are given."""

    bench: Bench
    variant: str
    engine: str
    setting: Setting

    def outputs(self, fed: Sequence[TensorMap]) -> list[dict[str, Array]]:
        """The outputs of each set of inputs by the bundle's names; none of those that the engine refuses.

        Raises:
            ExporterError: the engine is not here, or its process ended badly.
        """
        artifact = self.bench.artifacts[self.variant]
        names = [f"{number}" for number in range(len(fed))]
        with scratch() as place:
            golden, into = place / "fed.safetensors", place / "outputs"
            into.mkdir()
            cases = zip(names, fed, strict=True)
            tensors = {f"{name}/input/{key}": case[key] for name, case in cases for key in case}
            save_scratch(golden, tensors)
            ready = runnable(artifact, self.bench.folder)
            due = tuple(EngineCase(name, name) for name in names)
            EngineJob(self.engine, ready, golden, due).run(into, self.setting)
            results = [_read(into / f"{number}.safetensors") for number in range(len(fed))]
        ours = dict(zip(artifact.outputs, self.bench.outputs, strict=True))
        return [{ours.get(name, name): value for name, value in result.items()} for result in results]


def _read(path: Path) -> dict[str, Array]:
    return load(path) if path.is_file() else {}


def causes_by_running(wrong: Wrong, runs: Runs) -> Iterator[Explained]:
    """Every cause in the inputs that explains one wrong answer."""
    got = wrong.got
    if not isinstance(got, np.ndarray) or got.shape != wrong.truth.shape:
        return
    inputs = recorded_inputs(runs.bench.golden, wrong.case.recorded, runs.bench.inputs)
    ways = list(_ways(inputs))
    before = score(wrong.truth, got)
    for way, outputs in zip(ways, runs.outputs([way.inputs for way in ways]), strict=True):
        if wrong.output in outputs and (fits := explains(outputs[wrong.output], got, before)) is not None:
            yield Explained(way.name, way.sentence, fits)


def _ways(inputs: TensorMap) -> Iterator[Changed]:
    """Feed the inputs as front ends do that have been told something else."""
    for name, value in inputs.items():
        sizes = {size for key, other in inputs.items() if key != name for size in other.shape[1:2]}
        if value.dtype.kind in "iu":  # lengths that an engine ignores: every row is as long as it can be
            for size in sorted(sizes):
                full = {**inputs, name: np.full_like(value, size)}
                yield Changed("lengths ignored", f"as if {name} were {size} in every row", full)
        for cause, sentence, change in _changes(value):
            yield Changed(cause, f"as if {name} were {sentence}", {**inputs, name: fitting(change(value), value)})
    for first, second in itertools.combinations(inputs, 2):
        if (inputs[first].shape, inputs[first].dtype) == (inputs[second].shape, inputs[second].dtype):
            swapped = {**inputs, first: inputs[second], second: inputs[first]}
            yield Changed("order of inputs", f"as if {first} and {second} were fed in each other's place", swapped)


def fitting(changed: Array, value: Array) -> Array:
    """A changed input in the dtype and shape of the input."""
    like: Array = np.ascontiguousarray(changed.astype(value.dtype).reshape(value.shape))
    return like


def _changes(value: Array) -> Iterator[tuple[str, str, Change]]:
    """List what a front end may make of one input, in the plain order: layout, colours, scale, nothing at all."""
    if value.ndim == 4:
        rows, channels, height, width = value.shape
        nhwc, nchw = (rows, height, width, channels), (rows, width, channels, height)
        yield "NHWC for NCHW", "read as NHWC", lambda x: x.reshape(nhwc).transpose(0, 3, 1, 2)
        yield "NHWC for NCHW", "written as NHWC", lambda x: x.transpose(0, 2, 3, 1)
        yield "NHWC for NCHW", "read as NCHW", lambda x: x.reshape(nchw).transpose(0, 2, 3, 1)
        if channels > 1:
            yield "order of channels", "with its channels reversed (BGR for RGB)", lambda x: x[:, ::-1]
        if height == width:
            yield "transposed", "with height and width exchanged", lambda x: x.transpose(0, 1, 3, 2)
    elif value.ndim > 1:
        axes = value.shape[:-2] + value.shape[:-3:-1]
        yield "transposed", "with its last axes exchanged", lambda x: x.reshape(axes).swapaxes(-1, -2)
        if value.shape[-1] == value.shape[-2]:
            yield "transposed", "transposed", lambda x: x.swapaxes(-1, -2)
    for axis in range(value.ndim):
        if value.shape[axis] > 2:
            for step in (1, -1):
                yield "off by one", f"moved by one place along axis {axis}", partial(np.roll, shift=step, axis=axis)
    if value.dtype.kind == "f":
        yield from _scales(value)
    yield "input not fed", "zero throughout", np.zeros_like


def _scales(value: Array) -> Iterator[tuple[str, str, Change]]:
    name = "mean or scale of inputs"
    yield name, "255 times as large", lambda x: x * 255
    yield name, "divided by 255", lambda x: x / 255
    yield name, "2x - 1", lambda x: 2 * x - 1
    yield name, "(x + 1) / 2", lambda x: (x + 1) / 2
    yield name, "(x - 127.5) / 127.5", lambda x: (x - 127.5) / 127.5
    yield name, "rounded to whole numbers", np.round
    if value.ndim == 4 and value.shape[1] == 3:
        mean, deviation = (np.array(numbers, "float64").reshape(1, 3, 1, 1) for numbers in (_MEAN, _DEVIATION))
        yield name, "with ImageNet's mean and deviation taken once more", lambda x: (x - mean) / deviation
        yield name, "with ImageNet's mean and deviation never taken", lambda x: x * deviation + mean
        yield name, "divided by ImageNet's deviation alone", lambda x: x / deviation
        yield name, "less ImageNet's mean alone", lambda x: x - mean

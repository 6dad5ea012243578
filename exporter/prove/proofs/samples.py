"""Record what the chains of a pipeline make of its samples, and feed samples to engines.

Training's chain runs where its code is; the values after each step go into the bundle, so that deployment's chain can
be held against them where that code is not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from exporter.base import tensors
from exporter.base.errors import UsageError
from exporter.base.numbers.golden import promised
from exporter.base.tensors import size_at
from exporter.engines.job import REFUSED, EngineCase
from exporter.process.scratch import scratch
from exporter.process.workers import Setting
from exporter.prove.goldens.cases import batch_dim
from exporter.prove.proofs.base import Subject
from exporter.prove.verdict.plan import Run
from exporter.spec.inputs import Input
from exporter.spec.model import Spec
from exporter.spec.pipeline import Pipeline
from exporter.steps.base import VALUE, State
from exporter.steps.chain import Chain, Function, read_chain
from exporter.steps.material import Material
from exporter.steps.run import run_chain
from exporter.steps.samples import read_samples

if TYPE_CHECKING:
    from exporter.base.tensors import Array

#: The file of a bundle.
SAMPLES = "samples.safetensors"
EAGER = Run("source", "fp32", "eager")


def with_samples(subject: Subject, setting: Setting) -> Subject:
    """The subject, beside whose goldens now lies what training's chain makes of its samples, where a spec names some.

    Raises:
        UsageError: there are no samples, a step cannot run on one, or what comes out does not fit the inputs.
        ModelError, EnvironmentLacks: as :func:`exporter.steps.run.run_chain`.
    """
    pipeline = subject.spec.pipeline
    if pipeline is None:
        return subject
    material = Material.of(read_samples(pipeline.samples, setting.limits.code or Path()))
    run_chains(material, subject, pipeline, setting)
    for name in material.thinned(int(subject.spec.golden_mb * 1e6)):
        setting.say(f"of sample {name} only the last values are kept (golden_mb)")
    material.write(subject.golden.with_name(SAMPLES))
    return subject


def run_chains(material: Material, subject: Subject, pipeline: Pipeline, setting: Setting) -> None:
    """Add what training's steps make of the samples of `material`, and what functions of deployment's do."""
    made = _run(material, "before", pipeline.preprocess.training, "training", setting)
    _functions(material, "before", pipeline.preprocess.deployment, setting)
    behind = pipeline.postprocess if "postprocess" in pipeline.compared else None
    if behind is None:
        return
    for number, outputs in enumerate(answered(subject, EAGER, made, setting)):
        material.tensors.update({f"outputs/{number}/{name}": value for name, value in outputs.items()})
    material.outputs = tuple(output.name for output in subject.outputs)
    _run(material, "after", behind.training, "training", setting)
    _functions(material, "after", behind.deployment, setting)


def _run(material: Material, side: str, steps: Any, name: str, setting: Setting) -> list[State]:
    """Run training's steps on one side; the last state of each sample."""
    chain = read_chain(steps)
    starts = [material.start(side, number) for number in material.numbers]
    states = run_chain(chain, starts, name, setting)
    for number, own in enumerate(states):
        for step, state in enumerate(own[1:], 1):
            material.keep(side, "training", step, number, state)
    return [own[-1] for own in states]


def _functions(material: Material, side: str, steps: Any, setting: Setting) -> None:
    """Keep what the functions among deployment's steps give; what comes behind the last one need not run here."""
    chain = read_chain(steps)
    last = max((at for at, link in enumerate(chain) if isinstance(link, Function)), default=-1)
    starts = [material.start(side, number) for number in material.numbers]
    for number, own in enumerate(run_chain(chain[: last + 1], starts, "deployment", setting)):
        for step, state in enumerate(own[1:], 1):
            if isinstance(chain[step - 1], Function):
                material.keep(side, "deployment", step, number, state)


def has_functions(*chains: Chain) -> bool:
    """Whether some step needs the user's code."""
    return any(isinstance(link, Function) for chain in chains for link in chain)


def fed(spec: Spec) -> tuple[str, ...]:
    """The names in a state that feed the inputs, `VALUE` the one that the pipeline names."""
    return (VALUE, *_fed_first(spec)[1:])


def _fed_first(spec: Spec) -> list[str]:
    return spec.pipeline.fed_first(spec.inputs) if spec.pipeline else list(spec.inputs)


def inputs_of(spec: Spec, state: State, sample: str) -> dict[str, Array]:
    """The inputs of one call: the state's arrays with a batch axis, repeated as often as the smallest batch needs.

    Raises:
        UsageError: an input is not fed, or by another dtype or size than the spec promises.
    """
    first = _fed_first(spec)[0]
    where = f"pipeline: sample {sample}"
    result: dict[str, Array] = {}
    for name, one in spec.inputs.items():
        key = VALUE if name == first else name
        if key not in state:
            hint = "return a mapping with an array of that name from a function, or `tracks: true` of `resize`"
            raise UsageError(f"no step gives the input '{name}'", where=where, hint=hint)
        value = state[key]
        if value.dtype.name != one.dtype:
            what = f"the steps give '{name}' as {value.dtype.name}, and the spec has {one.dtype}"
            raise UsageError(what, where=where, hint=f"add `cast: {{dtype: {one.dtype}}}` at the end")
        result[name] = _batch_of(spec, one, value)
        if fault := _misfit(spec, one, result[name]):
            what = f"the steps give '{name}' of shape {list(value.shape)}, and the spec has {list(one.shape)}"
            raise UsageError(what, where=where, hint=fault)
    return result


def _batch_of(spec: Spec, one: Input, value: Array) -> Array:
    """The value with a batch axis where it has none."""
    import numpy as np

    if value.ndim != len(one.shape) - 1:
        return value
    size = one.shape[0]
    return np.repeat(value[None], size_at(size, _ends(spec)[0]), axis=0)


def _ends(spec: Spec) -> tuple[dict[str, int], dict[str, int]]:
    """All dims at their smallest, and at their largest."""
    return {name: dim.min for name, dim in spec.dims.items()}, {name: dim.max for name, dim in spec.dims.items()}


def _misfit(spec: Spec, one: Input, value: Array) -> str:
    """What to do about a shape that the spec does not promise; empty where it does."""
    if value.ndim != len(one.shape):
        return "add a `layout` or a `reshape` step"
    for axis, size in enumerate(one.shape):
        low, high = (size_at(size, sizes) for sizes in _ends(spec))
        if not low <= value.shape[axis] <= high:
            return f"let axis {axis} be {low} to {high}, by a `resize`, `crop` or `pad`"
    return ""


def answered(subject: Subject, run: Run, states: Sequence[State], setting: Setting) -> list[dict[str, Array]]:
    """What a run puts out for each sample, by the outputs' names; without the batch axis where they have one.

    Raises:
        UsageError: the inputs do not fit, or the engine refuses them.
        ExporterError: as :meth:`exporter.engines.job.EngineJob.run`.
    """
    spec = subject.spec
    inputs = [inputs_of(spec, state, str(number + 1)) for number, state in enumerate(states)]
    with scratch() as place:
        given = place / "inputs.safetensors"
        tensors.save_scratch(
            given, {f"{at}/input/{name}": value for at, one in enumerate(inputs) for name, value in one.items()}
        )
        bench = subject.bench()
        cases = tuple(EngineCase(str(at), str(at)) for at in range(len(states)))
        answer = replace(bench.job(run), golden=given, cases=cases).run(place, bench.bounded(run, setting))
        if answer.refusal:
            raise UsageError(f"{run.engine}: {answer.refusal}", where="pipeline.samples", hint=REFUSED)
        made = [tensors.load(place / f"{at}.safetensors") for at in range(len(states))]
    natives = bench.artifacts[run.variant].outputs if run.format != "source" else bench.outputs
    if lost := sorted(set(natives).difference(*made[:1])):
        raise UsageError(f"{run.engine}: it puts out no '{lost[0]}'", where="pipeline.samples", hint=REFUSED)
    names = dict(zip(bench.outputs, natives, strict=True))
    rows = [next(iter(one.values())).shape[0] if batch_dim(spec) or _fixed_batch(spec) else 0 for one in inputs]
    batched = {
        name for name in names if all(_batched(one[names[name]], count) for one, count in zip(made, rows, strict=True))
    }
    return [{name: one[own][0] if name in batched else one[own] for name, own in names.items()} for one in made]


def _fixed_batch(spec: Spec) -> bool:
    return all(one.shape and one.shape[0] == 1 for one in spec.inputs.values())


def _batched(value: Array, rows: int) -> bool:
    return value.ndim > 0 and rows > 0 and value.shape[0] == rows


def moves(subject: Subject) -> Mapping[str, tuple[float, float]]:
    """How far each output may be from eager's: a share of its largest value in a sample, and the least that is allowed.

    Both are the budget in the units of the cases that the spec promises. A probe says nothing of a sample: the outputs
    of `:large` are up to 16 times a sample's, and a case that was gated has no unit. An output without any other case
    may not move.
    """
    result: dict[str, tuple[float, float]] = {}
    for case in subject.recorded:
        for name, golden in case.outputs.items():
            if promised(case.name) and not golden.gate:
                share, least = result.get(name, (0.0, 0.0))
                allowed = subject.spec.budget * golden.unit[0]
                result[name] = max(share, allowed), max(least, allowed * golden.scale[0])
    return result

"""In a child: recorded samples through the steps and the plain layer, and through the layer with the steps in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from exporter.base.errors import UsageError
from exporter.base.references import factory_text
from exporter.base.tensors import load, save_scratch
from exporter.export.fold.layer import fed, fold, run_steps
from exporter.export.fold.split import Parts, parts
from exporter.export.trace.layer import load_layer
from exporter.export.trace.structure import leaves, output_names
from exporter.process.job import job
from exporter.process.workers import doing
from exporter.spec.model import Spec
from exporter.steps.base import CLASSES, VALUE
from exporter.steps.chain import Chain, steps_of

if TYPE_CHECKING:
    import paddle

    from exporter.base.tensors import Array, TensorMap


@dataclass(frozen=True)
class BothRequest:
    """A spec with steps around its model, the checkpoint, the file of the goldens, and which of its cases to run.

    `into` is the file for what comes of them.
    """

    spec: Spec
    checkpoint: Path | None
    golden: Path
    cases: tuple[str, ...]
    into: Path


@job
def run_both(request: BothRequest) -> None:
    """Write `<case>/ready|answer/steps|graph/<name>` of each case in `cases`, whose inputs lie in the file `golden`.

    `ready` is what the steps before the model give, `answer` what those after it do.

    Raises:
        UsageError: a step cannot take what it gets; or an output of the model does not count rows.
    """
    import paddle

    spec = request.spec
    if spec.pipeline is None:
        raise ValueError("a spec without a pipeline folds nothing in")
    found = parts(spec.pipeline)
    inputs = spec.pipeline.fed_first(spec.inputs)
    layer = load_layer(factory_text(spec.model, spec.args), request.checkpoint, spec.seed)
    golden = load(request.golden)
    cases = {case: [golden[f"{case}/input/{name}"] for name in inputs] for case in request.cases}
    steps: dict[str, tuple[TensorMap, TensorMap]] = {}
    graph: dict[str, tuple[TensorMap, TensorMap]] = {}
    with paddle.no_grad():
        for case, raw in cases.items():
            doing(f"running the steps of case {case}")
            steps[case] = _by_steps(layer, found, inputs, raw)
        folded = fold(layer, found.before, found.after, inputs)
        for case, raw in cases.items():
            doing(f"running the graph of case {case}")
            graph[case] = _by_graph(folded, found, raw, list(steps[case][1]))
    made = _named("steps", steps) | _named("graph", graph)
    save_scratch(request.into, made)


def _named(way: str, cases: Mapping[str, tuple[TensorMap, TensorMap]]) -> dict[str, Array]:
    return {
        f"{case}/{kind}/{way}/{name}": value
        for case, both in cases.items()
        for kind, values in zip(("ready", "answer"), both, strict=True)
        for name, value in values.items()
    }


def _by_steps(
    layer: paddle.nn.Layer, found: Parts, inputs: Sequence[str], raw: Sequence[Array]
) -> tuple[TensorMap, TensorMap]:
    """Each sample by itself through the steps before the model, all together through it, then each by itself."""
    import paddle

    ready = _stacked([_last(found.before, {VALUE: sample}) for sample in raw[0]])
    state = {name: paddle.to_tensor(value) for name, value in ready.items()}
    state |= {name: paddle.to_tensor(value) for name, value in zip(inputs[1:], raw[1:], strict=True)}
    returned = layer(*fed(layer.forward, state, inputs[0]))
    outputs = [tensor.numpy() for _, tensor in leaves(returned)]
    if not found.after:
        return ready, {VALUE: outputs[0]}
    rows = len(raw[0])
    if any(output.ndim == 0 or len(output) != rows for output in outputs):
        raise UsageError(
            f"the model gives {[list(output.shape) for output in outputs]} for {rows} samples, so no step can take one",
            where="pipeline.postprocess.deployment",
            hint="leave out these steps, or let the model give one row for each sample",
        )
    names = output_names(returned, None)
    rowwise = [dict(zip(names, row, strict=True)) for row in zip(*outputs, strict=True)]
    return ready, _stacked([_last(found.after, {**row, VALUE: row[names[0]]}) for row in rowwise])


def _by_graph(
    folded: paddle.nn.Layer, found: Parts, raw: Sequence[Array], answers: Sequence[str]
) -> tuple[TensorMap, TensorMap]:
    """The same by the layer with the steps in it, which returns the answers first, in the order of these names."""
    import paddle

    ready = run_steps(found.before, {VALUE: paddle.to_tensor(raw[0])})
    returned = [tensor.numpy() for _, tensor in leaves(folded(*map(paddle.to_tensor, raw)))]
    return {name: tensor.numpy() for name, tensor in ready.items()}, dict(zip(answers, returned, strict=False))


def _last(chain: Chain, state: Mapping[str, Any]) -> dict[str, Array]:
    """What is handed on behind a chain, and what else its steps made; what stood in the state before is left out.

    So is the number of classes, which a step tells the next one: the graph has no output for it.
    """
    *_, last = ({**state}, *steps_of(chain, state))
    own = {name: value for name, value in last.items() if value is not state.get(name) and name != CLASSES}
    return {VALUE: last[VALUE], **own}


def _stacked(states: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    return {name: np.stack([state[name] for state in states]) for name in states[0]}

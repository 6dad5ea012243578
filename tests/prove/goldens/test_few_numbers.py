"""The allowance for few numbers hides no fault: small real ones fail in networks of one, two or three outputs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np
import pytest

from evals.clean._child import Goldens, recorded
from evals.clean.networks import NETWORKS
from exporter.base.numbers.norms import FLOOR, error
from exporter.base.numbers.pooled import Pooled, draws
from exporter.engines.paddle import call_layer, named_arrays
from exporter.export.trace.layer import load_layer
from exporter.export.trace.traced import bind_inputs
from exporter.prove.compare.outputs import compare_case
from exporter.prove.goldens.copies import wide as wide_copy
from exporter.prove.goldens.float64 import lifted
from exporter.spec.model import Spec

#: One number for each row; two classes; three numbers; one for the whole batch.
FEW = (
    "mlp_relu",
    "encoder_score",
    "squeeze",
    "gru_attention",
    "bigru_attention",
    "norm_layer",
    "norm_batch",
    "loss_trained",
)
BUDGET = 4.0


@cache
def subject(network: str) -> tuple[Any, Goldens, tuple[str, ...]]:
    """The layer, its goldens, and the order of its inputs."""
    model, described = NETWORKS[network]
    spec = Spec.model_validate({"name": network, "model": model, "weights": "factory", "device": "cpu", **described})
    layer = load_layer(model, None, 0)
    outputs = ("scores", "weights") if network.endswith("attention") else ("scores",)
    order = tuple(one.name for one in bind_inputs(layer, spec.input_specs()))
    return layer, recorded(layer, spec, outputs), order


def caught(network: str, faulty: Any) -> bool:
    """Whether a claim on the faulty layer is a mismatch, by the outputs alone."""
    _, goldens, order = subject(network)
    by_output = {name: [case.outputs[name] for case in goldens.cases] for name in goldens.cases[0].outputs}
    together = Pooled(draws(goldens.cases))
    found = []
    for case in goldens.cases:
        inputs = goldens.inputs[case.recorded]
        got = named_arrays(call_layer(faulty, order, inputs), tuple(case.outputs))
        together.add(case.name, got)
        found += [evidence.outcome.value for evidence in compare_case(case, got, BUDGET, by_output).values()]
    found += [judged.outcome for judged in together.judge(BUDGET).values()]
    return "mismatch" in found


def effect(network: str, faulty: Any) -> float:
    """How far the fault moves the outputs without any rounding, in e_ref; a bias before a softmax does nothing."""
    _, goldens, order = subject(network)
    wide, worst = wide_copy(faulty), 0.0
    for case in goldens.cases:
        inputs = {
            name: value.astype("float64") if value.dtype.kind == "f" else value
            for name, value in goldens.inputs[case.recorded].items()
        }
        with lifted():
            got = named_arrays(call_layer(wide, order, inputs), tuple(case.outputs))
        for name, expected in case.outputs.items():
            apart = error(expected.truth, got[name])
            worst = max(worst, *(part / max(ref, FLOOR) for part, ref in zip(apart, expected.e_ref, strict=True)))
    return worst


def faults(layer: Any) -> Iterator[tuple[str, Callable[[Any], None]]]:
    """Each weight moved by a thousandth, each bias dropped, each epsilon ten times as large, all weights in half."""

    def scale(name: str) -> Callable[[Any], None]:
        return lambda faulty: _set(faulty, name, lambda value: value * np.float32(1.001))

    for name, tensor in layer.state_dict().items():
        if len(tensor.shape) > 1:
            yield f"{name} x 1.001", scale(name)
        elif "bias" in name and "norm" not in name:
            yield f"{name} dropped", lambda faulty, name=name: _set(faulty, name, np.zeros_like)
    for name, sublayer in layer.named_sublayers():
        if hasattr(sublayer, "_epsilon"):
            yield f"epsilon of {name}", lambda faulty, name=name: _epsilon(faulty, name)
    yield "half precision", _halve


def _set(layer: Any, name: str, change: Callable[[Any], Any]) -> None:
    tensor = layer.state_dict()[name]
    tensor.set_value(change(tensor.numpy()))


def _epsilon(layer: Any, name: str) -> None:
    dict(layer.named_sublayers())[name]._epsilon *= 10


def _halve(layer: Any) -> None:
    for name in layer.state_dict():
        _set(layer, name, lambda value: value.astype("float16").astype(value.dtype))


@pytest.mark.parametrize("network", FEW)
def test_every_small_fault_is_caught(network: str) -> None:
    layer, goldens, _ = subject(network)
    assert max(output.allowance for case in goldens.cases for output in case.outputs.values()) > 1.2
    assert not caught(network, layer), "the layer itself is sound"
    missed, harmful = [], 0
    for name, plant in faults(layer):
        faulty = copy.deepcopy(layer)
        plant(faulty)
        if (does := effect(network, faulty)) <= 1:
            continue
        harmful += 1
        if not caught(network, faulty):
            missed.append(f"{name}: {does:.2g} e_ref")
    assert harmful >= 4
    assert not missed

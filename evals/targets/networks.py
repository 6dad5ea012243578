"""Forty small networks that need no checkout, each as the spec that converts it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from evals.drill.score import NETWORKS as DRILL
from evals.drill.score import spec_of as drill_spec
from evals.elsewhere.bundles import NETWORKS as ELSEWHERE
from evals.zoo.exported import Wish
from evals.zoo.exported import spec_of as zoo_spec
from evals.zoo.models import networks
from exporter.process.workers import Setting
from exporter.spec.model import Spec

#: Networks of Paddle's own vision models, the small ones.
VISION = (
    *("LeNet", "resnet18", "resnet34", "mobilenet_v1", "mobilenet_v2", "mobilenet_v3_small", "mobilenet_v3_large"),
    *("squeezenet1_0", "squeezenet1_1", "googlenet", "densenet121", "inception_v3", "resnet50"),
    *("shufflenet_v2_x0_25", "shufflenet_v2_x0_33", "shufflenet_v2_x0_5", "shufflenet_v2_x1_0", "shufflenet_v2_swish"),
)
_BATCH = {"batch": {"min": 1, "typical": 4, "max": 6}}
_INTEGERS = re.compile(r"integers\((-?\d+),\s*(-?\d+)\)")


def specs() -> dict[str, Spec]:
    """The spec of each network by its name, all in `.json` and ONNX."""
    found = {name: _of_drill(name) for name in DRILL}
    found |= {f"elsewhere {name}": _of_elsewhere(name) for name in ELSEWHERE}
    vision = networks("vision")
    zoo = [*networks("sequence").values(), *(vision[name] for name in VISION)]
    for network in zoo:
        found[network.name] = zoo_spec(network, Wish(formats=("pir", "onnx"), engines=("onnxruntime",)), Setting())
    return found


def _of_drill(name: str) -> Spec:
    spec = drill_spec(name)
    return spec.model_copy(update={"model": f"evals.drill.networks:{name}", "formats": ("pir", "onnx")})


def _of_elsewhere(name: str) -> Spec:
    inputs, outputs = ELSEWHERE[name]
    described = {"name": name, "version": "1", "model": f"evals.elsewhere.networks:{name}", "weights": "factory"}
    more = {"inputs": inputs, "dims": _BATCH, "outputs": outputs, "formats": ["pir", "onnx"]}
    return Spec.model_validate({**described, **more})


def values_for(spec: Spec) -> dict[str, Any]:
    """Inputs of the typical sizes, by what the spec says of their values."""
    generator = np.random.default_rng(47)
    sizes: Mapping[str, int] = {name: dim.typical for name, dim in spec.dims.items()}
    found = {}
    for tensor in spec.input_specs():
        shape = [size if isinstance(size, int) else sizes[str(size)] for size in tensor.shape]
        bounds = _INTEGERS.search(str(spec.inputs[tensor.name].values))
        if tensor.dtype.startswith(("int", "uint")):
            low, high = (int(bounds[1]), int(bounds[2])) if bounds else (0, 2)
            found[tensor.name] = generator.integers(low, high, shape).astype(tensor.dtype)
        elif tensor.dtype == "bool":
            found[tensor.name] = generator.random(shape) < 0.5
        else:
            found[tensor.name] = generator.standard_normal(shape).astype(tensor.dtype)
    return found

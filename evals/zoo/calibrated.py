"""The networks of the zoo with statistics as after training: `evals.zoo.calibrated:resnet18`.

Random networks have zero biases, unit scales and batch norms that normalise nothing; so their activations explode or
die, and errors of parameters that are zero would not show. Here each batch norm holds the statistics of one batch of
normal values, and every vector of parameters is moved.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

from evals.zoo import models
from evals.zoo.network import Network
from evals.zoo.settled import settle

ROWS = 16
#: The environment variable that names a folder for what was calibrated: each child of a run builds the network anew.
KEPT = "ZOO_CALIBRATED"


def __getattr__(name: str) -> Callable[[], Any]:
    if name.startswith("_"):
        raise AttributeError(name)
    network = models.found(name)
    return lambda: _calibrated(network)


def _calibrated(network: Network) -> Any:
    import paddle

    layer = network.build()
    layer.eval()
    kept = Path(os.environ[KEPT], f"{network.key}.safetensors") if KEPT in os.environ else None
    if kept and kept.exists():
        layer.set_state_dict({name: paddle.to_tensor(value) for name, value in load_file(kept).items()})
        return layer
    draw = np.random.default_rng(11)
    for parameter in layer.parameters():
        if len(parameter.shape) == 1 and "float" in str(parameter.dtype):
            value = parameter.numpy()
            moved = value * (1 + 0.1 * draw.standard_normal(value.shape)) + 0.05 * draw.standard_normal(value.shape)
            parameter.set_value(moved.astype(value.dtype))
    sizes = {name: dim["typical"] for name, dim in network.dims.items()} | {"batch": ROWS}
    settle(layer, [paddle.to_tensor(drawn(network, index, draw, sizes)) for index in range(len(network.inputs))])
    if kept:
        save_file({name: value.numpy() for name, value in layer.state_dict().items()}, kept)
    return layer


def drawn(network: Network, index: int, draw: np.random.Generator, sizes: Mapping[str, int]) -> Any:
    """Values of one input at these sizes of the named dims."""
    tensor = network.inputs[index]
    shape = [_number(size, sizes) for size in tensor.shape]
    if tensor.values == "normal":
        return draw.standard_normal(shape).astype(tensor.dtype)
    kind, _, bounds = tensor.values.rstrip(")").partition("(")
    if kind == "uniform":
        return draw.uniform(*map(float, bounds.split(",")), shape).astype(tensor.dtype)
    low, high = (_number(word, sizes) for word in bounds.split(","))
    return draw.integers(low, high, shape).astype(tensor.dtype)


def _number(said: int | str, sizes: Mapping[str, int]) -> int:
    """A number, a named dim, or a dim with a number added (`past+1`)."""
    return sum(int(sizes.get(part, part)) for part in str(said).split("+"))

"""The networks of the zoo with statistics as after training: `tests.zoo.calibrated:resnet18`.

Random networks have zero biases, unit scales and batch norms that normalise nothing; so their activations explode or
die, and errors of parameters that are zero would not show. Here each batch norm holds the statistics of one batch of
normal values, and every vector of parameters is moved.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.zoo import models
from tests.zoo.networks import Network
from tests.zoo.settled import settle

ROWS = 4


def __getattr__(name: str) -> Callable[[], Any]:
    if name.startswith("_"):
        raise AttributeError(name)
    network = models.found(name)
    return lambda: _calibrated(network)


def _calibrated(network: Network) -> Any:
    import paddle

    layer = network.build()
    layer.eval()
    draw = np.random.default_rng(11)
    for parameter in layer.parameters():
        if len(parameter.shape) == 1 and "float" in str(parameter.dtype):
            value = parameter.numpy()
            moved = value * (1 + 0.1 * draw.standard_normal(value.shape)) + 0.05 * draw.standard_normal(value.shape)
            parameter.set_value(moved.astype(value.dtype))
    settle(layer, [paddle.to_tensor(_drawn(network, index, draw)) for index in range(len(network.inputs))])
    return layer


def _drawn(network: Network, index: int, draw: np.random.Generator) -> Any:
    one = network.inputs[index]
    sizes = {name: dim["typical"] for name, dim in network.dims.items()} | {"batch": ROWS}
    shape = [sizes[size] if isinstance(size, str) else size for size in one.shape]
    if one.values == "normal":
        return draw.standard_normal(shape).astype(one.dtype)
    low, high = (int(sizes.get(word, word)) for word in one.values.removeprefix("integers(").rstrip(")").split(","))
    return draw.integers(low, high, shape).astype(one.dtype)

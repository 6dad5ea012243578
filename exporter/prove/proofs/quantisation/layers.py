"""What the writer of a quantised file recorded of each layer: how its weight was rounded, and to which codes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from exporter.base.tensors import Array
from exporter.export.lower.base import Artifact
from exporter.export.lower.stored import stored_tensors


def arrays(artifact: Artifact, folder: Path) -> dict[str, Array]:
    """Every stored tensor of a variant, by the file's name for it."""
    return stored_tensors(artifact.files, folder).arrays()


def exact_weight(exact: Mapping[str, Array], layer: Mapping[str, Any]) -> Array:
    """What was rounded: fp32's weight, multiplied by the batch norm that follows where the writer folded it."""
    weight = exact[layer["weight"]].astype("float64")
    if "transposed" in layer:  # a linear layer, written as a convolution of 1x1
        weight = (weight.T if layer["transposed"] else weight)[..., None, None]
    norm = layer.get("norm")
    if norm is None:
        return weight
    factor = exact[norm["gain"]] / np.sqrt(exact[norm["variance"]].astype("float64") + norm["epsilon"])
    folded: Array = weight * factor.reshape(-1, *[1] * (weight.ndim - 1))
    return folded


def multiplied(codes: Array, scales: Array, layer: Mapping[str, Any]) -> Array:
    """The weight that the codes stand for."""
    weight: Array = codes.astype("float64") * along(scales, codes, layer)
    return weight


def along(scales: Array, like: Array, layer: Mapping[str, Any]) -> Array:
    """The step of each channel, shaped so that it multiplies `like`."""
    steps = scales.astype("float64") / int(layer.get("divisor", 1))
    if steps.size == 1:
        return steps.reshape(())
    shape = [1] * like.ndim
    shape[int(layer["axis"])] = -1
    return steps.reshape(shape)

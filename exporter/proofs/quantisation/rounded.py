"""What low precision did to each layer, read from the files: the proof of its weights, and the noise that it adds.

The writer says in the manifest how each layer's input and weight were rounded. The weights are proven by content: every
code, multiplied out, lies within half a step of the fp32 variant's weight. The noise is measured by rounding what fp32
computes just so: no error of an earlier layer is in it, so that the layer which suffers most can be named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from exporter.errors import BundleError, EnvironmentLacks, ModelError, UsageError
from exporter.harness import Bench
from exporter.lower._stored import stored_weights
from exporter.lower.base import Artifact
from exporter.lower.precision._noise import decibel, energies
from exporter.lower.precision._saturation import cut_off
from exporter.proofs.quantisation.halved import prove_halved
from exporter.root_cause.program import program_values
from exporter.tensors import Array, TensorMap
from exporter.verdict.claim import Evidence, Outcome
from exporter.verdict.plan import Run
from exporter.workers import Setting

#: Half a step, and what float32 adds to it when the quotient is rounded.
HALF_STEP = 0.5 * (1 + 1e-4)


def prove_rounded(artifact: Artifact, plain: Artifact, folder: Path) -> Evidence:
    """At release: each quantised weight is the fp32 variant's, rounded to the nearest code."""
    if "layers" not in artifact.details:
        return prove_halved(artifact, plain, folder)
    stored, exact = _arrays(artifact, folder), _arrays(plain, folder)
    layers: Mapping[str, Any] = artifact.details["layers"]
    proven = 0
    for name, layer in layers.items():
        if layer["weight"] not in exact:  # folded on the way, so that fp32's file does not hold it as it was rounded
            continue
        weight, codes, scales = _weight(exact, layer), stored[layer["codes"]], stored[layer["scales"]]
        steps = np.abs(_multiplied(codes, scales, layer) - weight) / _along(scales, weight, layer)
        if codes.dtype.itemsize != 1 or not float(steps.max()) <= HALF_STEP:
            reason = f"the weight of {name} is not fp32's rounded: it is off by {float(steps.max()):.2f} steps"
            return Evidence(Outcome.MISMATCH, reason)
        proven += codes.size
    if not proven:
        return Evidence(Outcome.VACUOUS, "no stored tensor is a weight of fp32's, so this proves nothing")
    total = sum(one.size for one in stored.values())
    said = f"{proven:,} of {total:,} stored numbers are fp32's weights, rounded; the others are judged by the noise"
    return Evidence(Outcome.MATCH, said, elements=proven, provider="by content")


@dataclass(frozen=True)
class LayerNoise:
    """What int8 adds to one layer, as signal-to-noise ratios in dB: by rounding, and by products cut off at 16 bits.

    The second is what a CPU without VNNI adds; None where no product of the first case is cut off.
    """

    rounding: float
    overflow: float | None

    def here(self, *, in_16_bits: bool) -> float:
        """Both together on a CPU that adds in 16 bits, and rounding alone on others."""
        if self.overflow is None or not in_16_bits:
            return self.rounding
        return decibel(1.0, 10 ** (-self.rounding / 10) + 10 ** (-self.overflow / 10))


def layer_noise(bench: Bench, artifact: Artifact, setting: Setting, engine: str) -> dict[str, LayerNoise]:
    """For each quantised layer the noise of its rounded input and weight, and of its products.

    The input is what `engine` computes in the first case from the fp32 variant. A layer whose input it does not show is
    left out; empty where nothing can be shown.
    """
    layers: Mapping[str, Any] = artifact.details.get("layers", {})
    plain = bench.artifacts.get(artifact.format)
    if not layers or plain is None:
        return {}
    case = bench.cases[0]
    try:
        values: dict[str, Array] = dict(program_values(bench, Run(artifact.format, "fp32", engine), case.name, setting))
        stored, exact = _arrays(artifact, bench.folder), _arrays(plain, bench.folder)
    except (ModelError, UsageError, EnvironmentLacks, BundleError):
        return {}  # localisation says of the fp32 variant what is wrong with it
    values |= _inputs(bench, case.recorded)
    found = {}
    for name, layer in layers.items():
        if layer["input"] in values and layer["weight"] in exact:
            ratios = [
                energies(values[layer["input"]], _rounded(values[layer["input"]], layer)),
                energies(_weight(exact, layer), _multiplied(stored[layer["codes"]], stored[layer["scales"]], layer)),
            ]
            rounding = decibel(1.0, sum(noise / signal if signal else 0.0 for signal, noise in ratios))
            found[name] = LayerNoise(rounding, _overflow(values[layer["input"]], stored[layer["codes"]], layer))
    return found


def _overflow(value: Array, codes: Array, layer: Mapping[str, Any]) -> float | None:
    """What a CPU without VNNI cuts off of a layer's products, in dB; None where that is nothing."""
    low, _ = layer["range"]
    if codes.dtype != np.int8 or layer.get("halved"):
        return None
    taken = _codes(value, layer) - (low if low < 0 else 0)  # kernels for signed codes add 128 to them
    signal, noise = cut_off(taken, codes, int(layer["axis"]))
    return decibel(signal, noise) if noise else None


def _inputs(bench: Bench, case: str) -> TensorMap:
    from safetensors import safe_open

    with safe_open(str(bench.golden), framework="numpy") as reader:
        return {name: reader.get_tensor(f"{case}/input/{name}") for name in bench.inputs}


def _arrays(artifact: Artifact, folder: Path) -> dict[str, Array]:
    weights, content = stored_weights(artifact.files, folder)
    return {name: one.array(content) for name, one in weights.items()}


def _weight(exact: Mapping[str, Array], layer: Mapping[str, Any]) -> Array:
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


def _rounded(value: Array, layer: Mapping[str, Any]) -> Array:
    """As the quantizer rounds an activation: to a code, and back."""
    scale, zero = float(layer["scale"]), int(layer["zero_point"])
    if not scale > 0:  # calibrated with nothing but zeros
        return np.zeros_like(value)
    rounded: Array = (_codes(value, layer) - zero) * scale
    return rounded


def _codes(value: Array, layer: Mapping[str, Any]) -> Array:
    scale = float(layer["scale"])
    if not scale > 0:
        return np.zeros_like(value)
    codes: Array = np.clip(np.rint(value / scale) + int(layer["zero_point"]), *layer["range"])
    return codes


def _multiplied(codes: Array, scales: Array, layer: Mapping[str, Any]) -> Array:
    multiplied: Array = codes.astype("float64") * _along(scales, codes, layer)
    return multiplied


def _along(scales: Array, like: Array, layer: Mapping[str, Any]) -> Array:
    """The step of each channel, shaped so that it multiplies `like`."""
    steps = scales.astype("float64") / int(layer.get("divisor", 1))
    if steps.size == 1:
        return steps.reshape(())
    shape = [1] * like.ndim
    shape[int(layer["axis"])] = -1
    return steps.reshape(shape)

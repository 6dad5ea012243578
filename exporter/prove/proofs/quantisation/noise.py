"""What low precision adds to each layer, as noise: which layers suffer, and what a search of the writer has tried.

The writer says in the manifest how each layer's input and weight were rounded. The noise is measured by rounding what
fp32 computes just so: no error of an earlier layer is in it, so that the layer which suffers most can be named.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from exporter.base import machine
from exporter.base.errors import BundleError, EnvironmentLacks, ModelError, UsageError
from exporter.base.numbers.norms import decibel, energies
from exporter.base.tensors import Array, recorded_inputs
from exporter.export.lower.base import Artifact
from exporter.export.lower.precision.saturation import cut_off
from exporter.process.workers import Setting
from exporter.prove.harness import Bench
from exporter.prove.proofs.quantisation.layers import arrays, exact_weight, multiplied
from exporter.prove.root_cause.program import program_values
from exporter.prove.verdict.plan import ENGINES, Run

#: The cause that is named where a CPU without VNNI is it.
_CUT_OFF = ": this CPU has no VNNI and adds its products in pairs in 16 bits, which cuts them off"
#: How many layers a note names.
_SHOWN = 5
#: What the note about a search begins with, behind the variant.
FRONT = "the search's front"


class Suffering(NamedTuple):
    """A note on the noise of the worst layers; the sentence that names the worst, or none; and each layer's noise."""

    notes: list[str]
    worst: str
    layers: Mapping[str, LayerNoise]

    @property
    def cut_off(self) -> bool:
        """Whether the worst is it since this CPU cuts its products off."""
        return self.worst.endswith(_CUT_OFF)


def suffering(bench: Bench, artifact: Artifact, setting: Setting) -> Suffering:
    """What int8 adds to the layers of a variant.

    It is measured by an engine that runs the fp32 variant, strict Paddle kernels before others.
    """
    able = [name for name, engine in ENGINES.all() if engine.runs(artifact.format, "fp32")]
    first = min(able, key=lambda name: (not ENGINES[name].paddle_kernels, name != "paddle_inference", name))
    setting.say(f"measuring the noise of each layer of {artifact.variant}")
    noise = layer_noise(bench, artifact, setting, first)
    if not noise:
        return Suffering([], "", {})
    told, worst = _suffering(noise, in_16_bits=machine.adds_in_16_bits())
    notes = [f"{artifact.variant}: noise that rounding adds, by layer, the worst first: {told}"]
    return Suffering(notes, worst, noise)


def _suffering(noise: Mapping[str, LayerNoise], *, in_16_bits: bool) -> tuple[str, str]:
    """What rounding adds to the worst layers, and the layer that suffers most on this CPU, with the cause."""
    by_rounding = sorted(noise, key=lambda name: (noise[name].rounding, name))
    told = ", ".join(f"{name} {noise[name].rounding:.1f} dB" for name in by_rounding[:_SHOWN])
    worst = min(noise, key=lambda name: (noise[name].here(in_16_bits=in_16_bits), name))
    value = noise[worst].here(in_16_bits=in_16_bits)
    cause = ""
    if in_16_bits and noise[worst].overflow is not None:
        cause = _CUT_OFF
    return told, f"the layer that suffers most is {worst}, at {value:.1f} dB{cause}"


#: How many times what a run may take it may with every value put out.
_MORE = 4


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
    run = Run(artifact.format, "fp32", engine)
    try:
        values = dict(program_values(bench, run, case.name, bench.bounded(run, setting, times=_MORE)))
        stored, exact = arrays(artifact, bench.folder), arrays(plain, bench.folder)
    except (ModelError, UsageError, EnvironmentLacks, BundleError):
        return {}  # localisation says of the fp32 variant what is wrong with it
    values |= recorded_inputs(bench.golden, case.recorded, bench.inputs)
    noise = {}
    for name, layer in layers.items():
        taken = layer.get("input", "")
        if (taken in values or not taken) and layer["weight"] in exact:
            try:
                noise[name] = _noise(values[taken] if taken else None, stored, exact, layer)
            except (KeyError, ValueError, IndexError) as error:
                what, hint = f"layer {name} is not described as the files have it: {error}", "do not use this bundle"
                raise BundleError(what, where=artifact.variant, hint=hint) from error
    return noise


def _noise(
    value: Array | None, stored: Mapping[str, Array], exact: Mapping[str, Array], layer: Mapping[str, Any]
) -> LayerNoise:
    """What rounding adds to a layer; without a value it takes its input as it is, and its weight alone is rounded."""
    codes = stored[layer["codes"]]
    weight = multiplied(codes, stored[layer["scales"]], layer) if layer.get("scales") else codes
    ratios = [energies(exact_weight(exact, layer), weight)]
    ratios += [energies(value, _rounded(value, layer))] if value is not None else []
    rounding = decibel(1.0, sum(lost / signal if signal else 0.0 for signal, lost in ratios))
    return LayerNoise(rounding, _overflow(value, codes, layer) if value is not None else None)


def _overflow(value: Array, codes: Array, layer: Mapping[str, Any]) -> float | None:
    """What a CPU without VNNI cuts off of a layer's products, in dB; None where that is nothing."""
    low, _ = layer["range"]
    if codes.dtype != np.int8 or layer.get("halved"):
        return None
    taken = _codes(value, layer) - min(low, 0)  # kernels for signed codes add 128 to them
    signal, noise = cut_off(taken, codes, int(layer["axis"]))
    return decibel(signal, noise) if noise else None


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


def searched(artifact: Artifact) -> list[str]:
    """The Pareto front of a search, as the writer left it."""
    steps = []
    for step in artifact.details.get("front", []):
        speed = f", x{step['speedup']:g} of fp32's speed" if "speedup" in step else ""
        words = {"kept": "kept", "weights_int8": "with weights alone in 8 bits", "weights_fp16": "in 16"}
        grades = [f"{len(step[key])} layers {word}" for key, word in words.items() if step.get(key)]
        steps.append(f"{', '.join(grades) or 'no layer kept'}: {step['bytes']:,} bytes, {step['snr_db']:g} dB{speed}")
    return [f"{artifact.variant}: {FRONT}: {'; '.join(steps)}"] if steps else []

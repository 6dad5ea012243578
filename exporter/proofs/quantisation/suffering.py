"""What a reader wants to know of a variant of low precision: which layers suffer, and what the search has tried."""

from __future__ import annotations

from collections.abc import Mapping

from exporter import machine
from exporter.harness import Bench
from exporter.lower.base import Artifact
from exporter.proofs.quantisation.rounded import LayerNoise, layer_noise
from exporter.verdict.plan import ENGINES
from exporter.workers import Setting

#: How many layers a note names.
_SHOWN = 5


def suffering(bench: Bench, artifact: Artifact, setting: Setting) -> tuple[list[str], str]:
    """A note on the noise of the worst layers; and the sentence that names the layer that suffers most, or none."""
    noise = _noise(bench, artifact, setting)
    if not noise:
        return [], ""
    told, worst = _suffering(noise, in_16_bits=machine.adds_in_16_bits())
    return [f"{artifact.variant}: noise that rounding adds, by layer, the worst first: {told}"], worst


def _noise(bench: Bench, artifact: Artifact, setting: Setting) -> dict[str, LayerNoise]:
    """By an engine that runs the fp32 variant here, strict Paddle kernels before others."""
    able = [name for name, engine in ENGINES.all() if engine.runs(artifact.format, "fp32")]
    able.sort(key=lambda name: (not ENGINES[name].paddle_kernels, name != "paddle_inference", name))
    for name in able[:1]:
        setting.say(f"measuring the noise of each layer of {artifact.variant}")
        return layer_noise(bench, artifact, setting, name)
    return {}


def _suffering(noise: Mapping[str, LayerNoise], *, in_16_bits: bool) -> tuple[str, str]:
    """What rounding adds to the worst layers, and the layer that suffers most on this CPU, with the cause."""
    by_rounding = sorted(noise, key=lambda name: (noise[name].rounding, name))
    told = ", ".join(f"{name} {noise[name].rounding:.1f} dB" for name in by_rounding[:_SHOWN])
    worst = min(noise, key=lambda name: (noise[name].here(in_16_bits=in_16_bits), name))
    value = noise[worst].here(in_16_bits=in_16_bits)
    cause = ""
    if in_16_bits and noise[worst].overflow is not None:
        cause = ": this CPU has no VNNI and adds its products in pairs in 16 bits, which cuts them off"
    return told, f"the layer that suffers most is {worst}, at {value:.1f} dB{cause}"


def searched(artifact: Artifact) -> list[str]:
    """The Pareto front of a search, as the writer left it."""
    told = []
    for one in artifact.details.get("front", []):
        speed = f", x{one['speedup']:g} of fp32's speed" if "speedup" in one else ""
        kept = f"{len(one['kept'])} layers kept" if one["kept"] else "no layer kept"
        told.append(f"{kept}: {one['bytes']:,} bytes, {one['snr_db']:g} dB{speed}")
    return [f"{artifact.variant}: the search's front: {'; '.join(told)}"] if told else []

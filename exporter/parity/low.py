"""What a reader wants to know of a variant of low precision: which layers suffer, and what the search has tried."""

from __future__ import annotations

from exporter.lower.base import Artifact
from exporter.parity.plan import ENGINES
from exporter.parity.quantised import layer_noise
from exporter.parity.run import Bench
from exporter.workers import Setting

#: How many layers a note names.
_SHOWN = 5


def suffering(bench: Bench, artifact: Artifact, setting: Setting) -> tuple[list[str], str]:
    """A note on the noise of the worst layers; and the sentence that names the layer that suffers most, or none."""
    noise = _noise(bench, artifact, setting)
    if not noise:
        return [], ""
    told = ", ".join(f"{name} {value:.1f} dB" for name, value in list(noise.items())[:_SHOWN])
    worst, value = next(iter(noise.items()))
    said = f"{artifact.variant}: noise that rounding adds, by layer, the worst first: {told}"
    return [said], f"the layer that suffers most is {worst}, at {value:.1f} dB"


def _noise(bench: Bench, artifact: Artifact, setting: Setting) -> dict[str, float]:
    """By an engine that runs the fp32 variant here, strict Paddle kernels before others."""
    able = [name for name, engine in ENGINES.all() if engine.runs(artifact.format, "fp32")]
    able.sort(key=lambda name: (not ENGINES[name].paddle_kernels, name != "paddle_inference", name))
    for name in able[:1]:
        setting.say(f"measuring the noise of each layer of {artifact.variant}")
        return layer_noise(bench, artifact, setting, name)
    return {}


def searched(artifact: Artifact) -> list[str]:
    """The Pareto front of a search, as the writer left it."""
    told = []
    for one in artifact.details.get("front", []):
        speed = f", x{one['speedup']:g} of fp32's speed" if "speedup" in one else ""
        kept = f"{len(one['kept'])} layers kept" if one["kept"] else "no layer kept"
        told.append(f"{kept}: {one['bytes']:,} bytes, {one['snr_db']:g} dB{speed}")
    return [f"{artifact.variant}: the search's front: {'; '.join(told)}"] if told else []

"""Everything that low precision promises, planned with the other claims and proven after the engines ran."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from exporter import machine
from exporter.lower.base import Artifact
from exporter.parity import overflow
from exporter.parity.alike import on_the_like
from exporter.parity.budgets import Promise, promises, prove_cases, prove_size, size_claim
from exporter.parity.heldout import Task, prove_metric
from exporter.parity.plan import ENGINES, Run
from exporter.parity.quantised import LayerNoise, layer_noise
from exporter.parity.run import Bench
from exporter.parity.speed import prove_speed
from exporter.parity.verdict import Claim, Evidence, Outcome
from exporter.workers import Setting

#: How many layers a note names.
_SHOWN = 5


@dataclass(frozen=True)
class LowPrecision:
    """The variants of low precision among what is judged, and what each of their runs promises.

    `released_on` are the abilities of the CPU on which they were released.
    """

    bench: Bench
    task: Task
    variants: tuple[Artifact, ...]
    promises: tuple[Promise, ...]
    released_on: tuple[str, ...] = ()

    def claims(self) -> set[Claim]:
        """What is to be proven beyond the cases."""
        fits = {overflow.claim(one) for one in self.variants if one.precision in overflow.PRECISIONS}
        return {one.claim for one in self.promises} | {size_claim(one) for one in self.variants} | fits

    def prove(self, evidence: Mapping[Claim, Evidence], setting: Setting) -> tuple[dict[Claim, Evidence], list[str]]:
        """The evidence for each claim, from that of the cases and from runs of its own; and notes for the report."""
        found: dict[Claim, Evidence] = {}
        notes = []
        suffers: dict[str, str] = {}
        in_16_bits = machine.adds_in_16_bits()
        for one in self.variants:
            notes += _searched(one)
            found[size_claim(one)] = prove_size(one, self.bench.artifacts[one.format], self.bench.folder)
            if one.precision in overflow.PRECISIONS:
                pairs, said = overflow.prove_pairs(one, self.bench.folder, in_16_bits=in_16_bits)
                found[overflow.claim(one)] = pairs
                notes += said
            if noise := self._noise(one, setting):
                told, suffers[one.variant] = _suffering(noise, in_16_bits=in_16_bits)
                notes.append(f"{one.variant}: noise that rounding adds, by layer, the worst first: {told}")
        for promise in self.promises:
            if promise.kind in ("snr_db", "top1"):
                worst = suffers.get(promise.run.variant, "")
                found[promise.claim] = prove_cases(promise, self.bench, evidence, worst)
        with tempfile.TemporaryDirectory(prefix="exporter-") as place:
            rated = [one for one in self.promises if one.kind == "metric"]
            found |= prove_metric(self.task, self.bench, rated, Path(place), setting)
        for promise in self.promises:
            if promise.kind == "speedup":
                speed = prove_speed(promise, self.bench, setting)
                found[promise.claim] = on_the_like(speed, self.released_on)
        notes += [f"{claim}: {one.reason}" for claim, one in sorted(found.items()) if one.outcome is Outcome.MATCH]
        return found, notes

    def _noise(self, artifact: Artifact, setting: Setting) -> dict[str, LayerNoise]:
        """By an engine that runs the fp32 variant here, strict Paddle kernels before others."""
        able = [name for name, engine in ENGINES.all() if engine.runs(artifact.format, "fp32")]
        able.sort(key=lambda name: (not ENGINES[name].paddle_kernels, name != "paddle_inference", name))
        for name in able[:1]:
            setting.say(f"measuring the noise of each layer of {artifact.variant}")
            return layer_noise(self.bench, artifact, setting, name)
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


def _searched(artifact: Artifact) -> list[str]:
    """The Pareto front of a search, as the writer left it."""
    told = []
    for one in artifact.details.get("front", []):
        speed = f", x{one['speedup']:g} of fp32's speed" if "speedup" in one else ""
        kept = f"{len(one['kept'])} layers kept" if one["kept"] else "no layer kept"
        told.append(f"{kept}: {one['bytes']:,} bytes, {one['snr_db']:g} dB{speed}")
    return [f"{artifact.variant}: the search's front: {'; '.join(told)}"] if told else []


def low_precision(
    bench: Bench, runs: Sequence[Run], task: Task, *, with_source: bool, released_on: Sequence[str] = ()
) -> LowPrecision:
    """What the runs in low precision promise; the metric is planned only where the recipe can be run."""
    variants = dict.fromkeys(run.variant for run in runs if run.precision != "fp32")
    planned = promises(bench, runs, with_metric=with_source and task.ratable)
    artifacts = tuple(bench.artifacts[name] for name in variants)
    return LowPrecision(bench, task, artifacts, tuple(planned), tuple(released_on))

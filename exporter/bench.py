"""How fast is a bundle, in each engine? Children take turns in rounds, so that what disturbs one round disturbs all.

The numbers are of this machine, now; what carries over is how engines compare with each other.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from exporter import machine
from exporter.bundle.layout import GOLDEN
from exporter.bundle.manifest import CaseFacts, Manifest
from exporter.bundle.open import Bundle, open_bundle, recorded_spec
from exporter.engines._device import choose_device
from exporter.engines._job import TimingJob, runnable
from exporter.errors import ChildFailed, EnvironmentLacks, ExitCode, UsageError
from exporter.judge.facts import Latency, Timed
from exporter.verdict.plan import ENGINES, Run
from exporter.workers import Setting


@dataclass(frozen=True)
class Wish:
    """What to measure: `seconds` for each size in each of `rounds`. Engines and device are the spec's, if not named."""

    engines: tuple[str, ...] = ()
    device: str = ""
    threads: int = 1
    rounds: int = 3
    seconds: float = 0.3


@dataclass(frozen=True)
class Measured:
    """One engine on one variant at one size. Times are seconds of one call; `ratio` is to the fastest at that size.

    `spread` is the slowest round's median over the fastest round's: what is closer than that is not different.
    """

    variant: str
    engine: str
    size: str
    calls: int
    median: float
    p95: float
    rows_per_second: float | None
    ratio: float
    spread: float


@dataclass(frozen=True)
class Benchmark:
    """All measurements; `loads` tells of each run its version, provider, seconds to load and peak memory in bytes."""

    bundle: Bundle
    wish: Wish
    measured: tuple[Measured, ...]
    loads: Mapping[str, Mapping[str, Any]]
    failed: Mapping[str, str]
    exit: ExitCode

    def to_json(self) -> dict[str, Any]:
        """The object that `bench --json` prints."""
        about = self.bundle.manifest
        return {
            "bundle": {key: getattr(about, key) for key in ("name", "version", "digest", "verdict")},
            "machine": {"cpu": machine.cpu(), "memory": machine.memory()},
            "settings": asdict(self.wish),
            "measured": [asdict(one) for one in self.measured],
            "loads": dict(self.loads),
            "failed": dict(self.failed),
        }


@dataclass
class _Tally:
    """What the rounds of one run gave: for each size, a list of times a round."""

    times: dict[str, list[list[float]]] = field(default_factory=dict)
    about: dict[str, Any] = field(default_factory=dict)


def bench(folder: Path, wish: Wish, setting: Setting) -> Benchmark:
    """Measure every engine on every variant that it runs, at each size that the bundle records.

    Raises:
        UsageError: there is no such bundle or engine, or the bundle records no case.
        BundleError: it is damaged.
        EnvironmentLacks: the device is not here.
    """
    bundle = open_bundle(folder)
    manifest = bundle.manifest
    cases = _sizes(manifest, str(folder))
    runs = _runs(manifest, wish.engines)
    wish = Wish(
        tuple(dict.fromkeys(run.engine for run in runs)),
        _device(wish, manifest, runs, setting),
        wish.threads,
        wish.rounds,
        wish.seconds,
    )
    tallies, failed, codes = {run: _Tally() for run in runs}, dict[str, str](), [ExitCode.PASSED]
    for number in range(wish.rounds):
        # Another one is first in each round: whatever comes after a pause has a cooler, faster CPU.
        for run in _rotated(list(tallies), number):
            setting.say(f"round {number + 1} of {wish.rounds}: {run.variant} by {run.engine}")
            try:
                _one_round(tallies[run], bundle, run, cases, wish, setting)
            except EnvironmentLacks as error:
                failed[_name(run)] = f"{error.what}; {error.hint}"
                codes.append(ExitCode.ENVIRONMENT)
            except ChildFailed as error:
                failed[_name(run)] = f"{error.what} {error.where}".strip()
                codes.append(ExitCode.MODEL)
            if _name(run) in failed:
                del tallies[run]
    measured = tuple(_measured(tallies, cases, manifest))
    loads = {_name(run): tally.about for run, tally in tallies.items()}
    return Benchmark(bundle, wish, measured, loads, failed, max(codes))


def _device(wish: Wish, manifest: Manifest, runs: Sequence[Run], setting: Setting) -> str:
    """The device that is asked for, by the wish or else by the spec, on which the engines can run."""
    asked = wish.device or recorded_spec(manifest).device
    chosen = choose_device(asked, [run.engine for run in runs], setting.limits)
    for note in chosen.notes:
        setting.say(note)
    return chosen.name


def _sizes(manifest: Manifest, where: str) -> list[CaseFacts]:
    """One recorded case of each combination of sizes, the smallest first; those that only probe are left out."""
    plain = {tuple(case.dims.items()): case for case in reversed(manifest.cases) if ":" not in case.name}
    if not plain:
        raise UsageError("the bundle records no case to run", where=where, hint="release it first")
    return sorted(plain.values(), key=lambda case: sorted(case.dims.values()))


def _runs(manifest: Manifest, engines: Sequence[str]) -> list[Run]:
    """Each engine with each variant that it runs. One that was named must run some; of the spec's, those that can."""
    found = []
    for name in engines or recorded_spec(manifest).engines:
        engine, variants = ENGINES[name], manifest.variants.values()
        able = [Run(one.format, one.precision, name) for one in variants if engine.runs(one.format, one.precision)]
        if engines and not able:
            hint = f"it runs: {', '.join(engine.formats)}"
            raise UsageError(f"engine '{name}' runs no variant of this bundle", where="--engines", hint=hint)
        found += able
    if not found:
        raise UsageError("no engine of the spec runs a variant", where="engines", hint="name some with --engines")
    return found


def _rotated(runs: list[Run], by: int) -> list[Run]:
    place = by % len(runs) if runs else 0
    return runs[place:] + runs[:place]


def _one_round(
    tally: _Tally, bundle: Bundle, run: Run, cases: Sequence[CaseFacts], wish: Wish, setting: Setting
) -> None:
    variant = bundle.manifest.variants[run.variant]
    job = TimingJob(
        run.engine,
        replace(runnable(variant.artifact(), bundle.folder), threads=wish.threads),
        bundle.folder / GOLDEN,
        tuple(case.name for case in cases),
        wish.seconds,
        wish.device,
    )
    timing = job.measure(setting)
    names = dict(zip(variant.outputs, (one.name for one in bundle.manifest.outputs), strict=True))
    for case in cases:
        found = timing.cases[case.name]
        wanted = {native: list(case.outputs[name].shape) for native, name in names.items()}
        if found["shapes"] != wanted:  # what computes something else is not slower or faster, but wrong
            raise ChildFailed(f"its outputs have the shapes {found['shapes']}, not {wanted}", where=f"case {case.name}")
        tally.times.setdefault(case.name, []).append(found["times"])
    tally.about = {
        "version": timing.version,
        "provider": timing.provider,
        "load": min(timing.load, tally.about.get("load", timing.load)),
        "peak": max(timing.peak, tally.about.get("peak", 0)),
    }


def _measured(tallies: Mapping[Run, _Tally], cases: Sequence[CaseFacts], manifest: Manifest) -> Iterator[Measured]:
    """Every run at each size, the fastest first."""
    for case in cases:
        pooled = {run: [one for times in tally.times[case.name] for one in times] for run, tally in tallies.items()}
        medians = {run: statistics.median(times) for run, times in pooled.items()}
        rows = _rows(case, manifest)
        for run in sorted(medians, key=lambda one: medians[one]):
            rounds = [statistics.median(times) for times in tallies[run].times[case.name]]
            yield Measured(
                variant=run.variant,
                engine=run.engine,
                size=case.name,
                calls=len(pooled[run]),
                median=medians[run],
                p95=percentile(pooled[run], 0.95),
                rows_per_second=rows / medians[run] if rows else None,
                ratio=medians[run] / min(medians.values()),
                spread=max(rounds) / min(rounds),
            )


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that at least this share of all does not exceed."""
    ordered = sorted(values)
    place = -int(-share * len(ordered) // 1) - 1  # rounded up, counted from 0
    return ordered[max(0, min(place, len(ordered) - 1))]


def _rows(case: CaseFacts, manifest: Manifest) -> int | None:
    """How many rows a call takes: the named dim that leads the first input."""
    shape = manifest.inputs[0].shape
    return case.dims.get(shape[0]) if shape and isinstance(shape[0], str) else None


def _name(run: Run) -> str:
    return f"{run.variant}/{run.engine}"


def timed_by(found: Benchmark) -> Timed:
    """The measurements as a report shows them."""
    latencies = (
        Latency(one.variant, one.engine, one.size, one.median, one.p95, one.rows_per_second) for one in found.measured
    )
    return Timed(machine.cpu()["model"], found.wish.threads, tuple(latencies), dict(found.failed))


def as_text(found: Benchmark) -> str:
    """Tables of at most 80 columns, one for each size."""
    about, cpu, wish = found.bundle.manifest, machine.cpu(), found.wish
    lines = [
        f"{about.name} {about.version} ({about.verdict}) on {wish.device}, {wish.threads} threads,"
        f" {wish.rounds} rounds of {wish.seconds:g} s",
        f"{cpu['model']}, {cpu['cores']} cores: {' '.join(cpu['abilities'])}",
    ]
    if not about.released:
        lines.append(f"its verdict is {about.verdict}: what is fast here may be wrong")
    for size in dict.fromkeys(one.size for one in found.measured):
        lines += ["", f"{size:34}{'median ms':>10}{'p95 ms':>10}{'rows/s':>10}{'x fastest':>10}"]
        for one in found.measured:
            if one.size == size:
                rows = f"{one.rows_per_second:,.0f}" if one.rows_per_second else "-"
                name = f"{one.variant}/{one.engine}"
                lines.append(f"{name:34}{one.median * 1e3:10.3f}{one.p95 * 1e3:10.3f}{rows:>10}{one.ratio:10.1f}")
    if found.loads:
        lines += ["", f"{'to load':34}{'s':>10}{'peak MB':>10}"]
    for name, load in found.loads.items():
        lines.append(f"{name:34}{load['load']:10.2f}{load['peak'] / 2**20:10.0f}")
    noisy = max((one.spread for one in found.measured), default=1.0)
    lines += ["", f"medians of single rounds differ by up to x{noisy:.2f}"] if found.measured else []
    lines += [f"not measured: {name}: {why}" for name, why in found.failed.items()]
    return "\n".join(lines) + "\n"

"""Time a bundle in each engine. Children take turns in rounds, so that what disturbs one round disturbs all.

The numbers are of this machine, now; what carries over is how engines compare with each other, and with eager.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from exporter.base import machine
from exporter.base.errors import ChildFailed, EnvironmentLacks, ExitCode, ExporterError, UsageError
from exporter.bundle.manifest import Manifest
from exporter.bundle.open import Bundle, open_bundle, recorded_spec
from exporter.bundle.source import Source, source_in
from exporter.bundle.subject import unfit
from exporter.deploy.bench.inputs import Inputs, Size, inputs_of
from exporter.deploy.bench.standing import Load, Standing, standings, told_of_winner
from exporter.engines.base import Runnable
from exporter.engines.device import choose_device
from exporter.engines.job import TimingJob, runnable
from exporter.process.scratch import scratch
from exporter.process.workers import Setting
from exporter.prove.judge.facts import Latency, Timed
from exporter.prove.proofs.base import source_of
from exporter.prove.verdict.plan import ENGINES, Run


@dataclass(frozen=True)
class Wish:
    """What to measure: `seconds` for each size in each of `rounds`. Engines and device are the spec's, if not named."""

    engines: tuple[str, ...] = ()
    device: str = ""
    threads: int = 1
    rounds: int = 3
    seconds: float = 0.3


_SEE_VERIFY = "see exporter verify, which judges what it computes"
_NO_EAGER = "eager itself was not timed: --source DIR, the folder of the model's code, times it too"
#: The run that the others are held against, where the model's code is at hand.
EAGER = Run("source", "fp32", "eager")


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
    """All measurements; `loads` tells of each run its version, provider, seconds to load and peak memory in bytes.

    `failed` says of what could not be timed why, and `cures` what to try. `standings` has the runs by speed.
    """

    bundle: Bundle
    wish: Wish
    measured: tuple[Measured, ...]
    loads: Mapping[str, Load]
    failed: Mapping[str, str]
    cures: tuple[str, ...]
    exit: ExitCode
    standings: tuple[Standing, ...]
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, object]:
        """The object that `bench --json` prints."""
        about = self.bundle.manifest
        return {
            "bundle": {key: getattr(about, key) for key in ("name", "version", "digest", "verdict")},
            "machine": {"cpu": machine.cpu(), "memory": machine.memory()},
            "settings": asdict(self.wish),
            "measured": [asdict(one) for one in self.measured],
            "loads": {name: asdict(load) for name, load in self.loads.items()},
            "failed": dict(self.failed),
            "standings": [asdict(one) for one in self.standings],
            "winner": told_of_winner(self.standings),
            "notes": list(self.notes),
        }


def timed_by(found: Benchmark) -> Timed:
    """The measurements as a report shows them."""
    latencies = (
        Latency(one.variant, one.engine, one.size, one.median, one.p95, one.rows_per_second) for one in found.measured
    )
    return Timed(machine.cpu()["model"], found.wish.threads, tuple(latencies), dict(found.failed))


@dataclass
class _Tally:
    """What the rounds of one run gave: for each size, a list of times a round."""

    times: dict[str, list[list[float]]] = field(default_factory=dict)
    load: Load | None = None


def bench(folder: Path, wish: Wish, setting: Setting, code: Path | None = None) -> Benchmark:
    """Measure every engine on every variant that it runs, at each size that the bundle records.

    Where it records none, inputs are drawn from its interface. With the folder of the model's `code` eager is timed as
    well, in a child of its own; without it nothing is imported that the bundle names.

    Raises:
        UsageError: there is no such bundle, engine or folder.
        BundleError: it is damaged, or the code is not what it was made of.
        EnvironmentLacks: the device is not here.
    """
    bundle = open_bundle(folder)
    spec = recorded_spec(bundle.manifest)
    source = source_in(code, bundle.manifest.provenance, spec)
    folder, setting = bundle.folder.absolute(), setting.importing(source.folder)
    runs = _runs(bundle.manifest, wish.engines)
    engines = tuple(dict.fromkeys(run.engine for run in runs))
    wish = replace(wish, engines=engines, device=_device(wish, bundle.manifest, runs, setting))
    with scratch() as place:
        inputs = inputs_of(bundle, spec, place)
        turns = _Turns(Bundle(folder, bundle.manifest), inputs, source, wish, setting)
        turns.take([*runs, *([EAGER] if source.folder else [])])
    measured = tuple(_measured(turns.tallies, inputs.sizes, bundle.manifest))
    loads = {_name(run): tally.load for run, tally in turns.tallies.items() if tally.load}
    why = unfit(bundle) if bundle.manifest.verdict != "unverified" else ""
    notes = (*([f"the bundle did not pass: {why}"] if why else []), *([inputs.note] if inputs.note else []))
    notes = (*notes, *([] if source.folder else [_NO_EAGER]))
    standing = standings(bundle, measured, loads)
    return Benchmark(bundle, wish, measured, loads, turns.failed, tuple(turns.cures), turns.exit, standing, notes)


@dataclass
class _Turns:
    """The runs by turns: what each took, and why one was given up."""

    bundle: Bundle
    inputs: Inputs
    source: Source
    wish: Wish
    setting: Setting
    tallies: dict[Run, _Tally] = field(default_factory=dict)
    failed: dict[str, str] = field(default_factory=dict)
    cures: list[str] = field(default_factory=list)
    exit: ExitCode = ExitCode.PASSED
    #: The shapes of a size's outputs: recorded, else those of whichever run came first.
    shapes: dict[str, Mapping[str, list[int]]] = field(default_factory=dict)

    def take(self, runs: Sequence[Run]) -> None:
        """Time each run once in each round."""
        self.tallies = {run: _Tally() for run in runs}
        self.shapes = {size.name: size.shapes for size in self.inputs.sizes if size.shapes}
        for number in range(self.wish.rounds):
            # Another one is first in each round: whatever comes after a pause has a cooler, faster CPU.
            for run in _rotated(list(self.tallies), number):
                self.setting.say(f"round {number + 1} of {self.wish.rounds}: {run.variant} by {run.engine}")
                try:
                    self._one_round(run)
                except EnvironmentLacks as error:
                    self._give_up(run, f"{error.what}; {error.hint}", error)
                except ChildFailed as error:
                    self._give_up(run, f"{error.what} {error.where}".strip(), error)

    def _give_up(self, run: Run, why: str, error: ExporterError) -> None:
        del self.tallies[run]
        self.failed[_name(run)] = why
        self.cures.append(error.hint)
        self.exit = max(self.exit, error.exit_code)

    def _one_round(self, run: Run) -> None:
        job = TimingJob(
            run.engine,
            replace(self._runnable(run), threads=self.wish.threads),
            self.inputs.file,
            tuple(size.name for size in self.inputs.sizes),
            self.wish.seconds,
            self.wish.device,
        )
        timing, names = job.measure(self.setting), self._names(run)
        tally = self.tallies[run]
        for size in self.inputs.sizes:
            case = timing.cases[size.name]
            shapes = {names.get(native, native): list(shape) for native, shape in case.shapes.items()}
            wanted = self.shapes.setdefault(size.name, shapes)
            if shapes != wanted:  # what computes something else is not slower or faster, but wrong
                what = f"its outputs have the shapes {shapes}, not {wanted}"
                raise ChildFailed(what, where=f"case {size.name}", hint=_SEE_VERIFY)
            tally.times.setdefault(size.name, []).append(list(case.times))
        before = tally.load
        load, peak = (min(timing.load, before.load), before.peak) if before else (timing.load, 0)
        tally.load = Load(timing.version, timing.provider, load, max(timing.peak, peak))

    def _runnable(self, run: Run) -> Runnable:
        manifest = self.bundle.manifest
        if run != EAGER:
            return runnable(manifest.variants[run.variant].artifact(), self.bundle.folder)
        spec, outputs = recorded_spec(manifest), tuple(one.name for one in manifest.outputs)
        model = source_of(spec, self.source.checkpoint, outputs)
        return Runnable("source", None, "", tuple(spec.inputs), outputs, model)

    def _names(self, run: Run) -> dict[str, str]:
        """The spec's name of each output, by the artifact's."""
        if run == EAGER:
            return {}
        outputs = self.bundle.manifest.variants[run.variant].outputs
        return dict(zip(outputs, (one.name for one in self.bundle.manifest.outputs), strict=True))


def _device(wish: Wish, manifest: Manifest, runs: Sequence[Run], setting: Setting) -> str:
    """The device that is asked for, by the wish or else by the spec, on which the engines can run."""
    asked = wish.device or recorded_spec(manifest).device
    chosen = choose_device(asked, [run.engine for run in runs], setting.limits)
    for note in chosen.notes:
        setting.say(note)
    return chosen.name


def _runs(manifest: Manifest, engines: Sequence[str]) -> list[Run]:
    """Each engine with each variant that it runs. One that was named must run some; of the spec's, those that can."""
    found = []
    for name in engines or recorded_spec(manifest).engines:
        engine, variants = ENGINES[name], manifest.variants.values()
        able = [Run(one.format, one.precision, name) for one in variants if engine.runs(one.format, one.precision)]
        if engines and not able:
            hint = f"name another: it runs {', '.join(engine.formats)}"
            raise UsageError(f"engine '{name}' runs no variant of this bundle", where="--engines", hint=hint)
        found += able
    if not found:
        raise UsageError("no engine of the spec runs a variant", where="engines", hint="name some with --engines")
    return found


def _rotated(runs: list[Run], by: int) -> list[Run]:
    place = by % len(runs) if runs else 0
    return runs[place:] + runs[:place]


def _measured(tallies: Mapping[Run, _Tally], cases: Sequence[Size], manifest: Manifest) -> Iterator[Measured]:
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


def _rows(case: Size, manifest: Manifest) -> int | None:
    """How many rows a call takes: the named dim that leads the first input."""
    shape = manifest.inputs[0].shape
    return case.dims.get(shape[0]) if shape and isinstance(shape[0], str) else None


def _name(run: Run) -> str:
    return f"{run.variant}/{run.engine}"

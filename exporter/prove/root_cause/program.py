"""Run an artifact with every intermediate value put out, in the very engine that failed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from exporter.base.errors import ModelError, UsageError
from exporter.base.registry import Registry
from exporter.base.tensors import TensorMap, load
from exporter.engines.job import REFUSED, EngineCase, EngineJob
from exporter.process.scratch import scratch
from exporter.process.workers import Setting
from exporter.prove.harness import Bench
from exporter.prove.root_cause.taps.base import Tap
from exporter.prove.verdict.plan import Run

TAPS: Registry[Tap] = Registry("exporter.prove.root_cause.taps", "tap")


def tap_of(format: str) -> Tap:
    """What makes artifacts of a format put out their intermediate values.

    Raises:
        UsageError: the format, of another package, has none.
    """
    if format not in TAPS.names():
        hint = f"add a tap for it: an entry point '{format}' in the group {TAPS.package}"
        raise UsageError(f"format '{format}' has no tap, so that nobody sees its intermediate values", hint=hint)
    return TAPS[format]


def program_values(bench: Bench, run: Run, case: str, setting: Setting) -> TensorMap:
    """Every intermediate value that the run's artifact computes in one case, by the program's own names for them.

    Raises:
        UsageError: the format has no tap.
        BundleError: the artifact cannot be read.
        ModelError, EnvironmentLacks: it does not run like that.
    """
    job = bench.job(run)
    asked = next(one for one in bench.cases if one.name == case)
    # A case that is run again shows what the artifact kept from the first time.
    cases = [EngineCase(name, asked.recorded, asked.threads) for name in dict.fromkeys((asked.recorded, case))]
    return every_value(job, cases, setting)[-1]


def every_value(job: EngineJob, cases: Sequence[EngineCase], setting: Setting) -> list[TensorMap]:
    """Every intermediate value that the artifact of a job computes in each of some cases.

    Raises:
        UsageError, BundleError, ModelError, EnvironmentLacks: as :func:`program_values`.
    """
    with scratch() as folder:
        tapped, into = folder / "tapped", folder / "values"
        tapped.mkdir()
        into.mkdir()
        names = tap_of(job.artifact.format)(job.artifact.path.parent, tapped)
        artifact = replace(job.artifact, folder=tapped, outputs=names)
        answer = replace(job, artifact=artifact, cases=tuple(cases)).run(into, setting)
        if answer.refusal:
            raise ModelError(answer.refusal, hint=REFUSED)
        return [load(into / f"{number}.safetensors") for number in range(len(cases))]

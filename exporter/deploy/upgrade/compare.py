"""Hold what a bundle computes in a newer version of an engine against an older one: the gate of an upgrade."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from sys import executable

import numpy as np

from exporter.base.errors import EnvironmentLacks, ExporterError, UsageError
from exporter.base.numbers.golden import GoldenCase
from exporter.base.tensors import Array, TensorMap
from exporter.bundle.open import open_bundle, released_spec
from exporter.bundle.subject import subject_of
from exporter.deploy.elsewhere.judge import promises_of
from exporter.deploy.runtimes.environment import PACKAGES, Runtime, ensure
from exporter.deploy.upgrade.inside import origin
from exporter.deploy.upgrade.result import CHANGED, NOT_RUN, SAME, WITHIN, Moved, Step, Upgrade
from exporter.deploy.upgrade.values import Place, engine_of, outputs_in, values_in
from exporter.export.lower.base import Artifact
from exporter.process.workers import Setting
from exporter.prove.compare.apart import relative_error
from exporter.prove.goldens.truth import same_bits
from exporter.prove.harness import judge_results
from exporter.prove.proofs.base import Harness
from exporter.prove.root_cause.makers import makers
from exporter.prove.verdict.claim import OUTPUTS, Claim, Evidence, Outcome
from exporter.prove.verdict.plan import ENGINES, Run

#: What has a verdict of its own in every version: it is no number that an upgrade could move.
_FINE = (Outcome.MATCH, Outcome.WAIVED)


def upgrade(folder: Path, runtimes: Sequence[Runtime], cache: Path, setting: Setting) -> Upgrade:
    """Run every variant of a bundle in each version, and hold each against the first version named of its package.

    A package of which one version is named is held against the one that is installed here.

    Raises:
        UsageError: no variant of the bundle is for one of these engines.
        BundleError: the bundle is damaged.
    """
    setting.say("opening the bundle")
    bundle = open_bundle(folder)
    spec = released_spec(bundle)
    subject = subject_of(bundle, spec, "cpu")
    packages = dict.fromkeys(runtime.package for runtime in runtimes)
    runs = {package: _runs(package, subject.artifacts.values()) for package in packages}
    if idle := next((package for package, own in runs.items() if not own), ""):
        hint = f"leave {idle} out; exporter inspect {folder} lists the variants"
        raise UsageError(f"no variant of this bundle runs in {idle}", where="--runtime", hint=hint)
    steps: list[Step] = []
    for package, own in runs.items():
        harnesses = {run.variant: Harness(subject, subject.bench(), (run,), setting) for run in own}
        wanted = [runtime for runtime in runtimes if runtime.package == package]
        steps += _steps(_Versions(harnesses, cache, setting), wanted)
    about = bundle.manifest
    return Upgrade(f"{about.name} {about.version}", about.digest, tuple(steps))


def _runs(package: str, artifacts: Iterable[Artifact]) -> list[Run]:
    """The variants that run in a package, each in its engine."""
    runs = [Run(artifact.format, artifact.precision, engine_of(package, artifact.precision)) for artifact in artifacts]
    return [run for run in runs if ENGINES[run.engine].runs(run.format, run.precision)]


@dataclass
class _Versions:
    """The variants of a bundle in versions of their engine; `results` is what a version has computed of each."""

    harnesses: Mapping[str, Harness]
    cache: Path
    setting: Setting
    results: dict[tuple[str, str], list[dict[str, Array]] | str] = field(default_factory=dict)

    def outputs(self, place: Place, variant: str) -> list[dict[str, Array]] | str:
        """The outputs of every case, or why there are none."""
        key = str(place.runtime), variant
        if key not in self.results:
            self.setting.say(f"running {variant} in {place.runtime}")
            try:
                self.results[key] = outputs_in(place, self.harnesses[variant].bench, variant, self.setting)
            except ExporterError as error:
                self.results[key] = error.what
        return self.results[key]


def _steps(versions: _Versions, wanted: Sequence[Runtime]) -> Iterator[Step]:
    """One step for each version but the first that is there; a variant begins with the first that can run it."""
    base, *later = wanted if len(wanted) > 1 else (_here(wanted[0].package), *wanted)
    places: list[Place] = []
    for runtime in (base, *later):
        try:
            python = Path(executable) if len(wanted) == 1 and runtime is base else _python(versions, runtime)
        except EnvironmentLacks as error:
            yield Step(str(runtime), why_not=error.what)
            continue
        places.append(Place(runtime, python))
    if len(places) == 1:
        yield Step(str(places[0].runtime), why_not="no other version is there to hold it against")
    for at, place in enumerate(places[1:], start=1):
        moved = tuple(_moved(versions, places[:at], place, variant) for variant in versions.harnesses)
        yield Step(str(place.runtime), moved)


def _python(versions: _Versions, runtime: Runtime) -> Path:
    return ensure(runtime, versions.cache, versions.setting.say)


def _here(package: str) -> Runtime:
    """The version that is installed here.

    Raises:
        UsageError: none is.
    """
    try:
        return Runtime(package, version(PACKAGES[package].distribution))
    except PackageNotFoundError:
        raise UsageError(
            f"one version of {package} is named, and none is installed here to hold it against",
            where="--runtime",
            hint=f"name two, as in {package}==OLD,NEW",
        ) from None


def _moved(versions: _Versions, older: Sequence[Place], new: Place, variant: str) -> Moved:
    """Return what became of a variant since the first of the older versions that ran it."""
    old = next((place for place in older if not isinstance(versions.outputs(place, variant), str)), older[0])
    before, after = versions.outputs(old, variant), versions.outputs(new, variant)
    since = str(old.runtime)
    if isinstance(before, str) or isinstance(after, str):
        place, reason = (new, after) if isinstance(after, str) else (old, before)
        return Moved(variant, since, NOT_RUN, reason=f"not run in {place.runtime}: {reason}")
    harness = versions.harnesses[variant]
    worst = _furthest(harness.bench.cases, before, after)
    if worst is None:
        wrong = _wrong(_judged(harness, after))
        return Moved(variant, since, SAME, reason=f"neither version keeps the rule: {wrong}" if wrong else "")
    case, output, relative = worst
    evidence, earlier = _judged(harness, after), _judged(harness, before)
    wrong = _wrong(evidence)
    (run,) = harness.runs
    claim = Claim(run.format, run.precision, run.engine, case.name, output)
    return Moved(
        variant,
        since,
        CHANGED if wrong else WITHIN,
        case.name,
        output,
        relative,
        _ratio(earlier, claim),
        _ratio(evidence, claim),
        _where(versions, (old, new), variant, case),
        wrong,
    )


def _furthest(
    cases: Sequence[GoldenCase], before: Sequence[TensorMap], after: Sequence[TensorMap]
) -> tuple[GoldenCase, str, float] | None:
    """The case and output that moved furthest; None where every bit is the same."""
    moved = [
        (case, name, relative_error(old[name], new[name]) if name in new else math.inf)
        for case, old, new in zip(cases, before, after, strict=True)
        for name in old
        if name not in new or not same_bits(old[name], new[name])
    ]
    return max(moved, key=lambda entry: entry[2], default=None)


def _judged(harness: Harness, results: Sequence[TensorMap]) -> dict[Claim, Evidence]:
    """Judge the outputs by the rule of every engine, in low precision by its budgets too."""
    (run,), cases = harness.runs, zip(harness.bench.cases, results, strict=True)
    with np.errstate(all="ignore"):
        evidence = judge_results(harness.bench, run, ((case, got, ("", None)) for case, got in cases))
        return {**evidence, **dict(promises_of(harness, run, evidence))}


def _wrong(evidence: Mapping[Claim, Evidence]) -> str:
    """The first claim that does not hold, outputs first; empty where all hold."""
    broken = [claim for claim, proof in evidence.items() if proof.outcome not in _FINE]
    claim = min(broken, key=lambda claim: (claim.kind != OUTPUTS, claim), default=None)
    return "" if claim is None else f"{claim}: {evidence[claim].outcome.value}: {evidence[claim].reason}"


def _ratio(evidence: Mapping[Claim, Evidence], claim: Claim) -> float | None:
    return evidence[claim].metrics.get("error_ratio") if claim in evidence else None


def _where(versions: _Versions, places: tuple[Place, Place], variant: str, case: GoldenCase) -> str:
    """In which operator the two versions part first, in the case in which they are furthest apart; or why not known."""
    bench, setting = versions.harnesses[variant].bench, versions.setting
    artifact = bench.artifacts[variant]
    setting.say(f"looking inside {variant} in {places[0].runtime} and {places[1].runtime}")
    try:
        old, new = (values_in(place, bench, variant, case, setting) for place in places)
        return str(origin(old, new, makers(bench.folder / artifact.main), artifact.precision))
    except ExporterError as error:
        return f"its values inside cannot be compared: {error.what}"

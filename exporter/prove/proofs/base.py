"""The contract of a proof, and the harness that all proofs share: what is judged, by which runs, how far narrowed.

Claims are planned from the spec, at release and at verification alike. What the spec asks for and the bundle lacks is
planned as well, so that its claims are MISSING.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import ClassVar

from exporter.base.numbers.golden import GoldenCase, to_run
from exporter.base.tensors import TensorSpec
from exporter.engines.base import SourceModel
from exporter.export.lower.base import Artifact
from exporter.export.lower.convert import effective_budget, fixed_dims
from exporter.process.workers import Setting
from exporter.prove.goldens.decoding import Rollout
from exporter.prove.harness import Bench, run_engines
from exporter.prove.proofs.quantisation.injected import Sources, sources_of_noise
from exporter.prove.proofs.quantisation.noise import LayerNoise, Suffering, suffering
from exporter.prove.root_cause.witness import Witnesses
from exporter.prove.verdict.claim import Claim, Evidence
from exporter.prove.verdict.plan import Run
from exporter.spec.model import Budget, Spec


@dataclass(frozen=True)
class Narrowing:
    """What somebody left out of the plan on purpose: other engines, other cases, whole kinds of proofs."""

    engines: tuple[str, ...] = ()
    case: str = ""
    without: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [f"only the engines {', '.join(self.engines)}"] if self.engines else []
        parts += [f"only the case {self.case}"] if self.case else []
        parts += [f"without {', '.join(self.without)}"] if self.without else []
        return "; ".join(parts)


@dataclass(frozen=True)
class Subject:
    """What is judged: the spec, the folder of the artifacts, what was recorded, and what is at hand of the origin.

    `parameters` holds the digest of each of the layer's tensors, by the layer's own names. `checkpoint` and the model's
    code are at hand unless `no_source` says why not. `missing` names what the spec plans and the bundle does not
    record. `only` is the one recorded case that is run, where somebody narrowed it; the others then serve as controls.
    `passed` says that a release has judged it before. `released_on` are the abilities of the CPU that released it, and
    `costs` what each run took there. `untraced` are formats of files by other tools that store no tensor of the model
    as it was: what they compute is all that can be proven of their weights. `constants` are the outputs that no input
    is said to decide, and `sized` those that nothing but sizes is: every file has to show it.
    `unshown` are those of `missing` that were left out for a reason that nothing but the bundle's word stands for.
    `rollout` holds the steps of a decoder. `hashes` are the sha256 of the files of a sealed bundle, which its opening
    has checked.
    """

    spec: Spec
    folder: Path
    golden: Path
    outputs: tuple[TensorSpec, ...]
    artifacts: Mapping[str, Artifact]
    parameters: Mapping[str, str]
    recorded: tuple[GoldenCase, ...]
    missing: tuple[str, ...] = ()
    only: str = ""
    passed: bool = False
    checkpoint: Path | None = None
    no_source: str = ""
    device: str = "cpu"
    released_on: tuple[str, ...] = ()
    costs: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    untraced: tuple[str, ...] = ()
    constants: tuple[str, ...] = ()
    sized: tuple[str, ...] = ()
    unshown: Mapping[str, str] = field(default_factory=dict)
    rollout: Rollout | None = None
    hashes: Mapping[str, str] = field(default_factory=dict)

    def bench(self) -> Bench:
        """Where engines run it."""
        spec = self.spec
        narrowed = [case for case in self.recorded if case.name == self.only]
        return Bench(
            folder=self.folder,
            golden=self.golden,
            cases=to_run(narrowed or self.recorded),
            artifacts=self.artifacts,
            outputs=tuple(output.name for output in self.outputs),
            inputs=tuple(spec.inputs),
            source=source_of(spec, self.checkpoint, [one.name for one in self.outputs]),
            device=self.device,
            budget=spec.budget,
            controls=to_run(self.recorded) if narrowed else (),
            costs=self.costs,
        )


def source_of(spec: Spec, checkpoint: Path | None, outputs: Sequence[str]) -> SourceModel:
    """What engines are told that run the source itself."""
    sizes = fixed_dims(spec)
    return SourceModel(spec.factory, checkpoint, spec.seed, spec.input_specs(), tuple(outputs), sizes, spec.dims)


@dataclass(frozen=True)
class Harness:
    """What a proof works with.

    `runs` are the planned pairs of engine and variant, the missing variants' too. `evidence` is what the proofs before
    it gave.
    """

    subject: Subject
    bench: Bench
    runs: tuple[Run, ...]
    setting: Setting
    narrowing: Narrowing = Narrowing()
    evidence: dict[Claim, Evidence] = field(default_factory=dict)
    _results: dict[Run, Mapping[Claim, Evidence]] = field(default_factory=dict)
    _noise: dict[str, Suffering] = field(default_factory=dict)
    _sources: dict[str, Sources] = field(default_factory=dict)

    @property
    def spec(self) -> Spec:
        """What was promised."""
        return self.subject.spec

    @cached_property
    def variants(self) -> tuple[tuple[str, str], ...]:
        """The planned (format, precision), in the order of the runs."""
        return tuple(dict.fromkeys((run.format, run.precision) for run in self.runs if run.format != "source"))

    @cached_property
    def witnesses(self) -> Witnesses:
        """What the source itself computes, for all who compare sublayers with it."""
        return Witnesses(self.bench, self.setting)

    @property
    def cases(self) -> tuple[str, ...]:
        """The names of all cases that are to run: the recorded ones, and those that the bundle lacks."""
        return (*(case.name for case in self.bench.cases), *self.subject.missing)

    def artifact(self, claim: Claim) -> Artifact:
        """The variant that a claim is about."""
        return self.subject.artifacts[claim.variant]

    def promised(self, precision: str) -> Budget:
        """What the spec promises of a precision, with the precision's own defaults."""
        return effective_budget(precision, self.spec)

    def results(self, runs: Sequence[Run]) -> list[Mapping[Claim, Evidence]]:
        """The evidence that one child gives for each run: its outputs, their pooled errors, and how it ended."""
        waiting = [run for run in runs if run not in self._results]
        self._results.update(zip(waiting, run_engines(self.bench, waiting, self.setting), strict=True))
        return [self._results[run] for run in runs]

    @property
    def noise(self) -> dict[str, Mapping[str, LayerNoise]]:
        """The noise of each layer of the variants of which a proof has measured it."""
        return {variant: found.layers for variant, found in sorted(self._noise.items()) if found.layers}

    def suffering(self, artifact: Artifact) -> Suffering:
        """What the report says of the noise of a variant's layers; worked out once."""
        if artifact.variant not in self._noise:
            self._noise[artifact.variant] = suffering(self.bench, artifact, self.setting)
        return self._noise[artifact.variant]

    def source_of_noise(self, artifact: Artifact, output: str) -> str:
        """Name what costs an output of a variant most, in a sentence: where noise arises, or the worst layer.

        The latter where that cannot be measured, and where this CPU cuts products off, which no single rounding shows.
        """
        own = self.suffering(artifact)
        if own.cut_off:
            return own.worst
        if artifact.variant not in self._sources:
            self._sources[artifact.variant] = sources_of_noise(self.bench, artifact, self.setting)
        return self._sources[artifact.variant].worst(output) or own.worst

    def run_of(self, claim: Claim) -> Run:
        """The run that a claim is about."""
        return Run(claim.format, claim.precision, claim.engine)


class Proof(ABC):
    """A kind of claim: how it is planned and how it is proven. Its name is the name of its file.

    `after` are kinds whose evidence it needs from the harness. `reads` says that it only reads files, and runs nothing.
    A `promise` is told on every report where it is kept: how well it is.
    """

    kind: ClassVar[str]
    after: ClassVar[tuple[str, ...]] = ()
    reads: ClassVar[bool] = False
    promise: ClassVar[bool] = False

    @abstractmethod
    def plan(self, harness: Harness) -> frozenset[Claim]:
        """The claims of this kind, from the spec and from what was recorded; nothing runs for it."""

    @abstractmethod
    def prove(self, claims: Sequence[Claim], harness: Harness) -> Mapping[Claim, Evidence]:
        """The evidence for claims of this kind, sorted; none of a variant that the bundle lacks.

        What goes wrong on the way is evidence too.
        """

    def notes(self, harness: Harness) -> Sequence[str]:
        """What belongs on every report besides."""
        del harness
        return ()


class ByClaim(Proof):
    """A proof that answers each claim by itself."""

    def prove(self, claims: Sequence[Claim], harness: Harness) -> Mapping[Claim, Evidence]:
        return {claim: self.prove_claim(claim, harness) for claim in claims}

    @abstractmethod
    def prove_claim(self, claim: Claim, harness: Harness) -> Evidence:
        """The evidence for one claim."""


class ByRun(Proof):
    """A proof that the runs of engines answer; a claim on a case that nobody recorded has no evidence."""

    def prove(self, claims: Sequence[Claim], harness: Harness) -> Mapping[Claim, Evidence]:
        wanted = {harness.run_of(claim) for claim in claims}
        results = harness.results([run for run in harness.runs if run in wanted])
        own = set(claims)
        return {claim: evidence for result in results for claim, evidence in result.items() if claim in own}


def per_run(kind: str, runs: Sequence[Run]) -> frozenset[Claim]:
    """One claim of a kind for each run."""
    return frozenset(Claim(run.format, run.precision, run.engine, kind=kind) for run in runs)


def per_variant(kind: str, variants: Sequence[tuple[str, str]]) -> frozenset[Claim]:
    """One claim of a kind for each variant, which needs no engine."""
    return frozenset(Claim(format, precision, kind=kind) for format, precision in variants)

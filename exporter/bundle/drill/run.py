"""Drill a bundle: choose the faults, have every engine run them, measure what was not seen, ask `verify` for a sample.

The faulty artifacts are re-sealed: integrity sees nothing, since whoever can write to a bundle can hash it. What is
left is what an attacker cannot make up: the digests of the trained tensors, and the goldens.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar

import numpy as np

from exporter.base.errors import ChildFailed, EnvironmentLacks, ModelError, UsageError, did_you_mean
from exporter.base.files import sha256_file, write_bytes, write_json
from exporter.base.readers.kinds.safetensors import read_safetensors
from exporter.base.tensors import TensorSpec
from exporter.bundle.drill.child import choose, examine, measure, plant_into
from exporter.bundle.drill.fault import Fault
from exporter.bundle.drill.inside import keep_witness
from exporter.bundle.drill.material import PROGRAMS
from exporter.bundle.drill.requests import (
    SOUND,
    ChooseAnswer,
    ChooseRequest,
    ExamineAnswer,
    ExamineRequest,
    Finding,
    MeasureAnswer,
    MeasureRequest,
    OlderCheckpoint,
    PlantRequest,
    Subject,
)
from exporter.bundle.drill.result import INSIDE, Drilled, Planted
from exporter.bundle.layout import GOLDEN
from exporter.bundle.manifest import BOM, NAME, PROVENANCE, FileFacts, sealed
from exporter.bundle.open import Bundle, open_bundle, recorded_spec
from exporter.bundle.source import Source, source_in
from exporter.bundle.stated import state_again
from exporter.bundle.subject import refuse_contradiction, subject_of
from exporter.bundle.version import content_version
from exporter.engines.device import choose_device
from exporter.export.lower.stored import stored_digests
from exporter.process.job import Job, from_json, to_json
from exporter.process.scratch import scratch
from exporter.process.workers import PADDLE, SINGLE_THREAD, Setting, call
from exporter.prove.root_cause.witness import observe
from exporter.prove.verdict.plan import ENGINES, Run, plan_runs

#: Asks the whole of `verify` about a bundle: the folder, the engines; answers with the verdict's word.
Verify = Callable[[Path, tuple[str, ...]], str]
Q = TypeVar("Q")
A = TypeVar("A")


@dataclass(frozen=True)
class Wish:
    """What is asked of a drill: how many faults, from which seed, by what. `resealed` leaves the parameters unasked.

    `code` is the folder of the model's code; without it no sublayers are compared.
    """

    faults: int
    seed: int
    formats: tuple[str, ...] = ()
    engines: tuple[str, ...] = ()
    device: str = "cpu"
    resealed: bool = False
    through_verify: int = 0
    code: Path | None = None


def drill(folder: Path, wish: Wish, setting: Setting, verify: Verify) -> Drilled:
    """Plant faults in every format, evenly, and see what catches them.

    Raises:
        UsageError: the bundle has no such format, or does not pass itself, so that nothing would follow.
        BundleError: it is damaged, or states a verdict that its report contradicts.
        EnvironmentLacks: an engine is not here.
    """
    bundle = open_bundle(folder.absolute())
    refuse_contradiction(bundle)
    source = source_in(wish.code, bundle.manifest.provenance, recorded_spec(bundle.manifest))
    setting = setting.importing(source.folder)
    runs = _runs(bundle, wish)
    device = choose_device(wish.device, [run.engine for run in runs], setting.limits, every=True)
    wish = replace(wish, device=device.name)
    variants = list(dict.fromkeys(one.variant for one in runs))
    closed = {one.format for one in bundle.manifest.variants.values()} - {run.format for run in runs}
    planted, notes = list[Planted](), [f"{one} was left out" for one in sorted(closed) if one not in PROGRAMS.names()]
    with scratch() as place:
        witness, doubt = observed(bundle, source, place, setting)
        notes += [doubt] if doubt else []
        for at, variant in enumerate(variants):
            share = wish.faults // len(variants) + (at < wish.faults % len(variants))
            engines = [one.engine for one in runs if one.variant == variant]
            room = Room(bundle, variant, replace(wish, faults=share), setting, witness)
            found, said = room.drill(engines)
            planted += found
            notes += said
    planted = _ask_verify(bundle, planted, runs, wish, setting, verify)
    manifest = bundle.manifest
    return Drilled(manifest.name, manifest.version, manifest.budget, planted, notes, manifest.digest)


def observed(bundle: Bundle, source: Source, into: Path, setting: Setting) -> tuple[Path | None, str]:
    """Return the folder in which the source's sublayers were recorded in the first case; or None, and why."""
    if source.absent:
        return None, f"no sublayers were compared: {source.absent}"
    setting.say("observing the source's sublayers")
    subject = subject_of(bundle, recorded_spec(bundle.manifest), "cpu", source.checkpoint)
    try:
        witness = observe(subject.bench(), bundle.manifest.cases[0].name, into, setting)
    except (ModelError, UsageError, EnvironmentLacks) as error:
        return None, f"no sublayers were compared: the source could not be observed: {error}"
    keep_witness(witness, into)
    return into, ""


def _runs(bundle: Bundle, wish: Wish) -> list[Run]:
    manifest = bundle.manifest
    if not manifest.cases:
        raise UsageError("the bundle records no case", where=str(bundle.folder), hint="release it first")
    variants = {name: one for name, one in manifest.variants.items() if one.precision == "fp32"}
    if unknown := [one for one in wish.formats if one not in variants]:
        hint = did_you_mean(unknown[0], variants)
        raise UsageError(f"the bundle has no format '{unknown[0]}'", where=str(bundle.folder), hint=hint)
    chosen = [one for name, one in variants.items() if name in (wish.formats or variants)]
    editable = [one for one in chosen if one.format in PROGRAMS.names()]
    if (wish.formats and len(editable) < len(chosen)) or not editable:
        name = next(one.format for one in chosen if one not in editable)
        hint = f"add an entry point '{name}' in the group {PROGRAMS.package}: a program that can be edited"
        raise UsageError(f"no fault can be planted in format '{name}'", where=str(bundle.folder), hint=hint)
    pairs = [(one.format, one.precision) for one in editable]
    named = wish.engines or tuple(manifest.spec["engines"])
    able = wish.engines or tuple(one for one in named if any(ENGINES[one].runs(*pair) for pair in pairs))
    return [one for one in plan_runs(able, pairs) if one.format != "source"]


@dataclass(frozen=True)
class Room:
    """The drill of one variant; `witness` is where its source was observed, None where it was not."""

    bundle: Bundle
    variant: str
    wish: Wish
    setting: Setting
    witness: Path | None = None

    def drill(self, engines: Sequence[str]) -> tuple[list[Planted], list[str]]:
        self.setting.say(f"planting faults in {self.variant}")
        chosen = self._choose().chosen
        faults, proofs = [choice.fault for choice in chosen], [dict(choice.proofs) for choice in chosen]
        worst, notes = [0.0] * len(faults), list[str]()
        if len(faults) < self.wish.faults:
            notes.append(f"{self.variant} has room for {len(faults)} different faults, not {self.wish.faults}")
        for engine in engines:
            self.setting.say(f"running {len(faults)} faults in {self.variant} by {engine}")
            findings, answer = self.examine(engine, dict(enumerate(faults)))
            if not answer.holds:
                raise UsageError(
                    f"{self.variant} does not pass by {engine} itself ({answer.doubts[0]})",
                    where=str(self.bundle.folder),
                    hint="see exporter verify; where nothing passes, a fault shows nothing",
                )
            if answer.doubts:
                notes.append(f"{self.variant}/{engine}: {len(answer.doubts)} claims do not hold and were left out")
            if answer.alarm:
                notes.append(f"{self.variant}/{engine}: no sublayers were compared: {answer.alarm}")
            for number, finding in findings.items():
                for proof, reason in finding.proofs.items():
                    proofs[number].setdefault(proof, f"{engine}: {reason}")
                worst[number] = max(worst[number], finding.error_ratio)
        planted = [Planted(*one) for one in zip(faults, proofs, worst, strict=True)]
        return self._measured(planted), notes

    def _measured(self, planted: list[Planted]) -> list[Planted]:
        """Measure the true effect of whatever the outputs did not show."""
        unseen = {at: one.fault for at, one in enumerate(planted) if not set(one.proofs) - INSIDE and one.fault.numeric}
        if not unseen:
            return planted
        self.setting.say(f"measuring {len(unseen)} faults in {self.variant} in float64")
        findings, answer = self.measure(unseen)
        for at in unseen:
            finding = findings.get(at, Finding(why_not=answer.why_not))
            planted[at] = replace(planted[at], effect=finding.effect, why_not=finding.why_not)
        return planted

    def _choose(self) -> ChooseAnswer:
        manifest = self.bundle.manifest
        outputs = tuple(TensorSpec(output.name, output.dtype, output.shape) for output in manifest.outputs)
        about = (recorded_spec(manifest), outputs, bool(manifest.parameters) and not self.wish.resealed)
        return self._call(choose, ChooseRequest(self.subject, self.wish.faults, self.wish.seed, *about), SINGLE_THREAD)

    def examine(self, engine: str, faults: Mapping[int, Fault]) -> tuple[dict[int, Finding], ExamineAnswer]:
        """Run an engine on faults, and return what was seen of each, and what holds without any.

        Raises:
            ChildFailed: the child died before it had run the sound artifact.
        """

        def attempt(some: Mapping[int, Fault], place: Path) -> ExamineAnswer:
            request = ExamineRequest(self.subject, engine, self.wish.device, some, place)
            return self._call(examine, request, self._environment(engine))

        return _one_by_one(attempt, faults)

    def measure(self, faults: Mapping[int, Fault]) -> tuple[dict[int, Finding], MeasureAnswer]:
        """Return the true effect of faults, or why nothing could be measured.

        Raises:
            ChildFailed: the child died before it had run the sound artifact.
        """

        def attempt(some: Mapping[int, Fault], place: Path) -> MeasureAnswer:
            return self._call(measure, MeasureRequest(self.subject, some, place), self._environment("jit_load"))

        return _one_by_one(attempt, faults)

    def _environment(self, engine: str) -> Mapping[str, str | None]:
        return {**SINGLE_THREAD, **ENGINES[engine].environment(self.wish.device)}

    def _call(self, job: Job[Q, A], request: Q, environment: Mapping[str, str | None]) -> A:
        limits, follow = self.setting.limits, self.setting.on_event
        return call(job, request, limits, environment=environment, imports=PADDLE, on_event=follow)

    @cached_property
    def subject(self) -> Subject:
        """What the children work on."""
        manifest, layer = self.bundle.manifest, self._layer
        return Subject(
            variant=self.variant,
            artifact=manifest.variants[self.variant].artifact(),
            folder=self.bundle.folder,
            golden=self.bundle.folder / GOLDEN,
            cases=manifest.cases,
            budget=manifest.budget,
            layer=layer,
            older=_older(self.bundle, layer),
            batch=self._batch(),
            witness=self.witness,
        )

    def plant_into(self, fault: Fault, into: Path) -> None:
        """Write a bundle that holds this variant alone, with the fault in it, sealed again."""
        bundle = self.bundle.folder
        content = json.loads((bundle / NAME).read_bytes())
        self._call(plant_into, PlantRequest(self.subject, fault, into), SINGLE_THREAD)
        shutil.copyfile(bundle / GOLDEN, into / GOLDEN)
        variant = content["variants"][self.variant]
        if self.wish.resealed:
            variant["weights"] = stored_digests(variant["files"], into)
        # The spec asks for this variant alone, else all others would be missing. No report stands beside it.
        content["variants"] = {self.variant: variant}
        content["spec"] |= {"formats": [variant["format"]], "precisions": ["fp32"]}
        content["verdict"] = "unverified"
        files = {name: _facts(into / name) for name in (GOLDEN, *variant["files"])}
        if not content["spec"].get("version"):
            own = {name: files[name] for name in variant["files"]}
            told = (content["spec"], content["parameters"], own, content["provenance"])
            content["version"] = content_version(*told)
        state_again(bundle, into, content, files)
        files |= {name: _facts(into / name) for name in (PROVENANCE, BOM)}
        content["files"] = {name: facts.model_dump() for name, facts in files.items()}
        write_bytes(into / NAME, sealed(content))

    @property
    def _layer(self) -> dict[str, str]:
        """Stored tensor -> the layer's own name for it, found by content; the first where several hold the same."""
        own = {digest: name for name, digest in reversed(self.bundle.manifest.parameters.items())}
        weights = self.bundle.manifest.variants[self.variant].weights
        return {name: own[digest] for name, digest in weights.items() if digest in own}

    def _batch(self) -> int:
        """The typical size of the first dimension, where an input has one that varies."""
        manifest = self.bundle.manifest
        names = [one.shape[0] for one in manifest.inputs if one.shape]
        dims = [manifest.dims[name] for name in names if isinstance(name, str) and name in manifest.dims]
        return next((dim["typical"] for dim in dims if dim["min"] < dim["max"]), 0)


def _facts(path: Path) -> FileFacts:
    return FileFacts(sha256=sha256_file(path), size=path.stat().st_size)


def _file(place: Path, number: int) -> Path:
    return place / f"{number}.json"


def _read(place: Path) -> dict[int, Finding]:
    paths = place.glob("*.json")
    return {int(path.stem): from_json(Finding, json.loads(path.read_bytes())) for path in paths}


def _one_by_one(
    attempt: Callable[[Mapping[int, Fault], Path], A], faults: Mapping[int, Fault]
) -> tuple[dict[int, Finding], A]:
    """Have one child do them all; what kills it is done once more in a child of its own, then the rest.

    Return what was written of each fault, and the answer of the last child.
    """
    with scratch() as place:
        waiting = list(faults)
        while True:
            answer = _attempt(attempt, {number: faults[number] for number in waiting}, place)
            if not isinstance(answer, ChildFailed):
                return _read(place), answer
            waiting = [number for number in waiting if not _file(place, number).is_file()]
            if not waiting:
                raise answer
            suspect = waiting.pop(0)
            answer = _attempt(attempt, {suspect: faults[suspect]}, place)
            if isinstance(answer, ChildFailed) and not _file(place, suspect).is_file():
                why = f"{answer.what} {answer.where}".strip()
                write_json(_file(place, suspect), to_json(Finding, Finding({"crash": why}, why_not=why)))


def _attempt(
    attempt: Callable[[Mapping[int, Fault], Path], A], faults: Mapping[int, Fault], place: Path
) -> A | ChildFailed:
    """Return the child's answer; or how it died, if that was after the sound artifact had run."""
    sound = place / SOUND
    sound.unlink(missing_ok=True)
    try:
        return attempt(faults, place)
    except ChildFailed as error:
        if not sound.exists():
            raise
        return error


def _older(bundle: Bundle, layer: Mapping[str, str]) -> OlderCheckpoint | None:
    """Another checkpoint beside the recorded one, with the same tensors: a training leaves its last state there."""
    used = bundle.manifest.provenance.get("weights", {}).get("checkpoint")
    for path in sorted(Path(used).parent.glob("*.safetensors")) if used else ():
        keys = {one.name: one.shape for one in read_safetensors(path).weights if one.dtype == "float32"}
        tensors = {name: key for name, own in layer.items() for key in (own, f"layer.{own}") if key in keys}
        if path != Path(used) and len(tensors) == len(layer) > 0:
            return OlderCheckpoint(path, tensors)
    return None


def _ask_verify(
    bundle: Bundle, planted: list[Planted], runs: Sequence[Run], wish: Wish, setting: Setting, verify: Verify
) -> list[Planted]:
    """Send a seeded sample of the faults the whole way."""
    count = min(wish.through_verify, len(planted))
    for at in sorted(np.random.default_rng(wish.seed).choice(len(planted), count, replace=False).tolist()):
        fault = planted[at].fault
        setting.say(f"verify on {fault.variant} with {fault}")
        engines = tuple(one.engine for one in runs if one.variant == fault.variant)
        with scratch() as place:
            Room(bundle, fault.variant, wish, setting).plant_into(fault, place)
            planted[at] = replace(planted[at], verified=verify(place, engines))
    return planted

"""Drill a bundle: choose the faults, have every engine run them, measure what was not seen, ask `verify` for a sample.

The faulty artifacts are re-sealed: integrity sees nothing, since whoever can write to a bundle can hash it. What is
left is what an attacker cannot make up: the digests of the trained tensors, and the goldens.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from exporter.base.errors import ChildFailed, EnvironmentLacks, ModelError, UsageError, did_you_mean
from exporter.base.files import sha256_file, write_bytes, write_json
from exporter.base.readers.kinds.safetensors import read_safetensors
from exporter.bundle.drill.child import SOUND
from exporter.bundle.drill.fault import Fault
from exporter.bundle.drill.inside import keep_witness
from exporter.bundle.drill.material import PROGRAMS
from exporter.bundle.drill.result import INSIDE, Drilled, Planted
from exporter.bundle.layout import GOLDEN
from exporter.bundle.manifest import NAME, sealed
from exporter.bundle.open import Bundle, open_bundle, recorded_spec
from exporter.bundle.source import Source, source_in
from exporter.bundle.subject import refuse_contradiction, subject_of
from exporter.engines.device import choose_device
from exporter.export.lower.stored import stored_digests
from exporter.process.scratch import scratch
from exporter.process.workers import PADDLE, SINGLE_THREAD, Json, Setting, call
from exporter.prove.root_cause.witness import observe
from exporter.prove.verdict.plan import ENGINES, Run, plan_runs

#: Asks the whole of `verify` about a bundle: the folder, the engines; answers with the verdict's word.
Verify = Callable[[Path, tuple[str, ...]], str]
_CHILD = "exporter.bundle.drill.child"


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


def observed(bundle: Bundle, source: Source, into: Path, setting: Setting) -> tuple[str, str]:
    """The folder in which the source's sublayers were recorded in the first case; or empty, and why."""
    if source.absent:
        return "", f"no sublayers were compared: {source.absent}"
    setting.say("observing the source's sublayers")
    subject = subject_of(bundle, recorded_spec(bundle.manifest), "cpu", source.checkpoint)
    try:
        witness = observe(subject.bench(), bundle.manifest.cases[0].name, into, setting)
    except (ModelError, UsageError, EnvironmentLacks) as error:
        return "", f"no sublayers were compared: the source could not be observed: {error}"
    keep_witness(witness, into)
    return str(into), ""


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
    return [one for one in plan_runs(able, pairs, with_source=False) if one.format != "source"]


@dataclass(frozen=True)
class Room:
    """The drill of one variant; `witness` is where its source was observed, empty where it was not."""

    bundle: Bundle
    variant: str
    wish: Wish
    setting: Setting
    witness: str = ""

    def drill(self, engines: Sequence[str]) -> tuple[list[Planted], list[str]]:
        self.setting.say(f"planting faults in {self.variant}")
        chosen = self._call("choose", {"faults": self.wish.faults}, SINGLE_THREAD)["faults"]
        faults = [Fault.from_json(one["fault"]) for one in chosen]
        proofs: list[dict[str, str]] = [one["proofs"] for one in chosen]
        worst, notes = [0.0] * len(faults), list[str]()
        if len(faults) < self.wish.faults:
            notes.append(f"{self.variant} has room for {len(faults)} different faults, not {self.wish.faults}")
        for engine in engines:
            self.setting.say(f"running {len(faults)} faults in {self.variant} by {engine}")
            found, answer = self.each("examine", engine, dict(enumerate(faults)))
            if not answer["holds"]:
                raise UsageError(
                    f"{self.variant} does not pass by {engine} itself ({answer['doubts'][0]})",
                    where=str(self.bundle.folder),
                    hint="see exporter verify; where nothing passes, a fault shows nothing",
                )
            if answer["doubts"]:
                notes.append(f"{self.variant}/{engine}: {len(answer['doubts'])} claims do not hold and were left out")
            if answer["alarm"]:
                notes.append(f"{self.variant}/{engine}: no sublayers were compared: {answer['alarm']}")
            for number, one in found.items():
                for proof, reason in one["proofs"].items():
                    proofs[number].setdefault(proof, f"{engine}: {reason}")
                worst[number] = max(worst[number], one["error_ratio"])
        planted = [Planted(*one) for one in zip(faults, proofs, worst, strict=True)]
        return self._measured(planted), notes

    def _measured(self, planted: list[Planted]) -> list[Planted]:
        """Measure the true effect of whatever the outputs did not show."""
        unseen = {at: one.fault for at, one in enumerate(planted) if not set(one.proofs) - INSIDE and one.fault.numeric}
        if not unseen:
            return planted
        self.setting.say(f"measuring {len(unseen)} faults in {self.variant} in float64")
        found, answer = self.each("measure", "jit_load", unseen)
        for at in unseen:
            one = found.get(at, {"effect": None, "why_not": answer["why_not"]})
            planted[at] = replace(planted[at], effect=one["effect"], why_not=one["why_not"])
        return planted

    def each(self, function: str, engine: str, faults: Mapping[int, Fault]) -> tuple[dict[int, Json], Json]:
        """Have one child do them all; what kills it is done once more in a child of its own, then the rest."""
        with scratch() as folder:
            place, waiting = folder, list(faults)
            while True:
                answer = self._attempt(function, engine, {one: faults[one] for one in waiting}, place)
                if not isinstance(answer, ChildFailed):
                    return _read(place), answer
                waiting = [one for one in waiting if not _file(place, one).is_file()]
                if not waiting:
                    raise answer
                suspect = waiting.pop(0)
                answer = self._attempt(function, engine, {suspect: faults[suspect]}, place)
                if isinstance(answer, ChildFailed) and not _file(place, suspect).is_file():
                    why = f"{answer.what} {answer.where}".strip()
                    found = {"proofs": {"crash": why}, "error_ratio": 0.0, "effect": None, "why_not": why}
                    write_json(_file(place, suspect), found)

    def _attempt(self, function: str, engine: str, faults: Mapping[int, Fault], place: Path) -> Json | ChildFailed:
        """The child's answer; or how it died, if that was after the sound artifact had run."""
        sound = place / SOUND
        sound.unlink(missing_ok=True)
        more = {
            "engine": engine,
            "device": self.wish.device,
            "faults": [(number, one.to_json()) for number, one in faults.items()],
            "into": str(place),
        }
        environment: dict[str, str | None] = {**SINGLE_THREAD, **ENGINES[engine].environment(self.wish.device)}
        try:
            return self._call(function, more, environment)
        except ChildFailed as error:
            if not sound.exists():
                raise
            return error

    def _call(self, function: str, more: Json, environment: Mapping[str, str | None]) -> Json:
        manifest = self.bundle.manifest
        content = manifest.model_dump(mode="json")
        request = {
            "artifact": self._artifact,
            "folder": str(self.bundle.folder),
            "golden": str(self.bundle.folder / GOLDEN),
            "cases": [one.model_dump(mode="json") for one in manifest.cases],
            "budget": manifest.budget,
            "variant": self.variant,
            "seed": self.wish.seed,
            "layer": self._layer,
            "older": _older(self.bundle, self._layer),
            "batch": self._batch(),
            "promised": {"spec": recorded_spec(manifest).model_dump(mode="json"), "outputs": content["outputs"]},
            "witness": self.witness,
            "ask_parameters": bool(manifest.parameters) and not self.wish.resealed,
            **more,
        }
        limits, follow = self.setting.limits, self.setting.on_event
        return call(f"{_CHILD}:{function}", request, limits, environment=environment, imports=PADDLE, on_event=follow)

    def plant_into(self, fault: Fault, into: Path) -> None:
        """Write a bundle that holds this variant alone, with the fault in it, sealed again."""
        bundle = self.bundle.folder
        content = json.loads((bundle / NAME).read_bytes())
        self._call("plant_into", {"fault": fault.to_json(), "into": str(into)}, SINGLE_THREAD)
        shutil.copyfile(bundle / GOLDEN, into / GOLDEN)
        variant = content["variants"][self.variant]
        if self.wish.resealed:
            variant["weights"] = stored_digests(variant["files"], into)
        # The spec asks for this variant alone, else all others would be missing. Neither a report nor what tells its
        # origin stands beside it.
        content["variants"] = {self.variant: variant}
        content["spec"] |= {"formats": [variant["format"]], "precisions": ["fp32"]}
        content["verdict"] = "unverified"
        content.pop("documents", None)
        content["files"] = {
            name: {"sha256": sha256_file(into / name), "size": (into / name).stat().st_size}
            for name in (GOLDEN, *variant["files"])
        }
        write_bytes(into / NAME, sealed(content))

    @property
    def _artifact(self) -> Json:
        return self.bundle.manifest.variants[self.variant].model_dump(mode="json")

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
        dims = [manifest.dims[name] for name in names if isinstance(name, str)]
        return next((dim["typical"] for dim in dims if dim["min"] < dim["max"]), 0)


def _file(place: Path, number: int) -> Path:
    return place / f"{number}.json"


def _read(place: Path) -> dict[int, Json]:
    return {int(path.stem): json.loads(path.read_bytes()) for path in place.glob("*.json")}


def _older(bundle: Bundle, layer: Mapping[str, str]) -> Json | None:
    """Another checkpoint beside the recorded one, with the same tensors: a training leaves its last state there."""
    used = bundle.manifest.provenance.get("weights", {}).get("checkpoint")
    for path in sorted(Path(used).parent.glob("*.safetensors")) if used else ():
        keys = {one.name: one.shape for one in read_safetensors(path).weights if one.dtype == "float32"}
        tensors = {name: key for name, own in layer.items() for key in (own, f"layer.{own}") if key in keys}
        if path != Path(used) and len(tensors) == len(layer) > 0:
            return {"path": str(path), "tensors": tensors}
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

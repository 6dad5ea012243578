"""The proof by content: every artifact stores the trained tensors, each under its name, or rounded from them.

It sees what numbers at the outputs cannot resolve: one element moved by a percent, a tensor that no case reaches. Where
the checkpoint is at hand, what was trained is read from it; else the manifest says it. Pure reading: no engine takes
part, and no process that has imported the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from exporter.base.errors import BundleError, ExporterError
from exporter.base.numbers.norms import SMALLEST_SCALE
from exporter.base.tensors import Array, digest, load
from exporter.export.lower.base import Artifact
from exporter.export.lower.convert import folds
from exporter.export.lower.precision.half import rounded_to_half
from exporter.export.lower.stored import stored_digests, stored_tensors
from exporter.prove.proofs.base import Harness, Proof, Subject, per_variant
from exporter.prove.proofs.folds import Fold, judge_folds
from exporter.prove.proofs.promises import nothing_to_measure_by
from exporter.prove.proofs.quantisation.layers import along, arrays, exact_weight, multiplied
from exporter.prove.verdict.claim import Claim, Evidence, Outcome

#: Half a step, and what float32 adds to it when the quotient is rounded.
HALF_STEP = 0.5 * (1 + 1e-4)
#: The largest weight of a channel is 64 steps or more, and coarser steps would prove anything (zero is any weight,
#: rounded to a step that is twice as large).
FEWEST_STEPS = 31


class Weights(Proof):
    """One claim for each variant, unless the model has no tensors at all: then nothing stores any."""

    kind = "weights"
    reads = True

    def plan(self, harness: Harness) -> frozenset[Claim]:
        untraced = harness.subject.untraced
        traced = [pair for pair in harness.variants if pair[0] not in untraced]
        return per_variant(self.kind, traced) if _has_tensors(harness.subject) else frozenset()

    def prove(self, claims: Sequence[Claim], harness: Harness) -> Mapping[Claim, Evidence]:
        subject = harness.subject
        if wrong := _not_the_checkpoints(subject):
            return dict.fromkeys(claims, wrong)
        return {claim: _prove(claim, harness) for claim in claims}


def _prove(claim: Claim, harness: Harness) -> Evidence:
    subject, artifact = harness.subject, harness.artifact(claim)
    unchanged = prove_unchanged(artifact, subject.folder)
    if unchanged.outcome is not Outcome.MATCH:
        return unchanged
    if claim.precision == "fp32":
        return prove_trained(artifact, subject.folder, subject.parameters, _parts(artifact, subject))
    plain = subject.artifacts.get(claim.format)
    return prove_rounded(artifact, plain, subject.folder) if plain else nothing_to_measure_by(claim)


def _parts(artifact: Artifact, subject: Subject) -> dict[str, Array]:
    """The trained tensors that were folded into others, by digest, as far as a checkpoint or another variant has them.

    What a variant has of them is proven by its own claim.
    """
    needed = {content for digests in artifact.details.get("folded", {}).values() for content in digests}
    parts: dict[str, Array] = {}
    if needed and subject.checkpoint is not None and not subject.no_source:
        parts = {digest(value): value for value in load(subject.checkpoint).values()}
    for variant in subject.artifacts.values() if needed - set(parts) else ():
        if variant.precision == "fp32":
            stored = stored_tensors(variant.files, subject.folder)
            held = {variant.weights[name]: name for name in stored.weights if name in variant.weights}
            parts |= {wanted: stored.array(held[wanted]) for wanted in needed - set(parts) if wanted in held}
    return parts


def _has_tensors(subject: Subject) -> bool:
    """A spec that names weights promises tensors; else a file or the manifest shows them.

    What stands in the files of a program that reads no tensor of the layer are constants of the writer. Only a bundle
    that says so has one, and whose Paddle files store no tensor of the layer: what nothing is said of may have been
    taken out.
    """
    spec = subject.spec
    promised = spec.recipe is not None or spec.checkpoint is not None
    plain = [artifact for artifact in subject.artifacts.values() if artifact.precision == "fp32"]
    own = set(subject.parameters.values())
    stateless = bool(plain) and all(
        artifact.details.get("stateless") and own.isdisjoint(artifact.weights.values()) for artifact in plain
    )
    shown = bool(subject.parameters) or any(artifact.weights for artifact in subject.artifacts.values())
    return promised or (shown and not stateless)


def _not_the_checkpoints(subject: Subject) -> Evidence | None:
    """What is wrong with the recorded digests of the layer's tensors; None: nothing that can be seen here."""
    if not subject.parameters:
        return Evidence(Outcome.MISSING, "the bundle does not record which tensors the layer has", stage="plan")
    if subject.no_source or subject.checkpoint is None:
        return None
    try:
        own = checkpoint_digests(subject.checkpoint)
    except ExporterError as error:
        return Evidence(Outcome.CRASHED, f"the checkpoint cannot be read: {error}", stage="load")
    differ = sorted(name for name, content in own.items() if subject.parameters.get(name) != content)
    if differ:
        reason = f"{len(differ)} tensors are recorded otherwise than the checkpoint has them, as '{differ[0]}'"
        return Evidence(Outcome.MISMATCH, reason)
    return None


def checkpoint_digests(path: Path) -> dict[str, str]:
    """The digest of each tensor of a checkpoint, by its name; read here, since the model's own process may lie."""
    return {name: digest(value) for name, value in load(path).items()}


def prove_unchanged(artifact: Artifact, folder: Path) -> Evidence:
    """Each tensor of the files is the one that was written, under the same name."""
    try:
        weights = stored_tensors(artifact.files, folder).weights
        stored = stored_digests(artifact.files, folder)
    except BundleError as error:
        return Evidence(Outcome.CRASHED, f"cannot be read: {error}", stage="load")
    if gone := sorted(set(artifact.weights) - set(stored)):
        return Evidence(Outcome.MISMATCH, f"{len(gone)} tensors are gone, the first is '{gone[0]}'")
    if changed := sorted(name for name, content in stored.items() if artifact.weights.get(name) != content):
        return Evidence(Outcome.MISMATCH, f"{len(changed)} tensors are not the released ones, as '{changed[0]}'")
    return _matched(sum(weight.elements for weight in weights.values()), "", whole=True)


def prove_trained(
    artifact: Artifact, folder: Path, trained: Mapping[str, str], at_hand: Mapping[str, Array] | None = None
) -> Evidence:
    """Trace each stored tensor to the layer's own; `trained` holds their digests by the layer's names.

    `at_hand` are trained tensors by digest, for what was folded out of them to be computed again.

    A tensor of a known origin must be that one. Paddle's formats store parameters as they are, so what has no known
    origin must be another of the layer's tensors. A converter to ONNX adds constants, and folds tensors (`folded` names
    what went in): a folded one is computed again, and where that cannot be done, or where a tensor can be traced to
    nothing, it is counted, told, and left to the outputs.
    """
    stored = stored_tensors(artifact.files, folder)
    elements = {name: stored.weights[name].elements for name in artifact.weights}
    origins = origins_of(artifact, trained)
    if wrong := sorted(name for name, own in origins.items() if trained.get(own) != artifact.weights[name]):
        own = origins[wrong[0]]
        reason = f"{len(wrong)} stored tensors are not what was trained, as '{wrong[0]}', which is the layer's '{own}'"
        return Evidence(Outcome.MISMATCH, reason)
    if twice := sorted(own for own, times in Counter(origins.values()).items() if times > 1):
        return Evidence(Outcome.MISMATCH, f"two stored tensors stand for the layer's '{twice[0]}'")
    known = frozenset(trained.values())
    parts = {name: frozenset(digests) for name, digests in artifact.details.get("folded", {}).items()}
    folded = [name for name in elements if name not in origins and parts.get(name) and parts[name] <= known]
    arrays = {name: stored.array(name) for name in folded}
    judged = judge_folds(arrays, {name: sorted(parts[name]) for name in folded}, at_hand or {})
    # What the writer computed otherwise (a weight times another parameter) is no fold that another factor disproves.
    judged |= {name: Fold.UNKNOWN for name in artifact.details.get("computed", ()) if judged.get(name) is Fold.WRONG}
    if wrong := [name for name in folded if judged[name] is Fold.WRONG]:
        reason = f"{len(wrong)} stored tensors are not what was folded out of trained ones, as '{wrong[0]}'"
        return Evidence(Outcome.MISMATCH, reason)
    again = [name for name in folded if judged[name] is Fold.PROVEN]
    unproven = [name for name in folded if name not in again]
    foreign = sorted(set(elements) - set(origins) - set(folded))
    if foreign and not folds(artifact.format):
        return Evidence(Outcome.MISMATCH, f"{len(foreign)} stored tensors are not the layer's, as '{foreign[0]}'")
    held = set(origins.values()).union(*(_named(parts[name], trained) for name in folded))
    same = {trained[own] for own in held}  # a tensor that two sublayers share is stored once
    lacking = sorted(own for own, content in trained.items() if content not in same)
    counted = [f"{len(origins)} tensors by name"]
    counted += [f"{len(again)} folded out of trained ones, computed again"] if again else []
    counted += [f"{len(unproven)} folded out of trained ones, not computed again"] if unproven else []
    counted += [f"{len(foreign)} traced to nothing, as '{foreign[0]}'"] if foreign else []
    counted += [f"{len(lacking)} of the layer's are not stored, as '{lacking[0]}'"] if lacking else []
    proven = sum(elements[name] for name in (*origins, *again)) or sum(elements[name] for name in folded)
    return _matched(proven, "; ".join(counted), whole=not foreign and not lacking and not unproven)


def origins_of(artifact: Artifact, trained: Mapping[str, str]) -> dict[str, str]:
    """The layer's name for each stored tensor: as the writer knew it, and by content where it knew none.

    By content a tensor of the layer stands for one stored tensor alone.
    """
    origins = {name: own for name, own in artifact.origins.items() if name in artifact.weights}
    free: dict[str, list[str]] = {}
    for own, content in sorted(trained.items(), reverse=True):
        if own not in origins.values():
            free.setdefault(content, []).append(own)
    for name, content in sorted(artifact.weights.items()):
        if name not in origins and free.get(content):
            origins[name] = free[content].pop()
    return origins


def _named(digests: frozenset[str], trained: Mapping[str, str]) -> set[str]:
    return {own for own, content in trained.items() if content in digests}


def _matched(elements: int, reason: str, *, whole: bool) -> Evidence:
    if not elements:
        return Evidence(Outcome.VACUOUS, "no stored tensor is one of the layer's, so this proves nothing")
    return Evidence(Outcome.MATCH, reason, elements=elements, bit_equal=whole, provider="by content")


def prove_rounded(artifact: Artifact, plain: Artifact, folder: Path) -> Evidence:
    """At release: each quantised weight is the fp32 variant's, rounded to the nearest code."""
    if "layers" not in artifact.details:
        return prove_halved(artifact, plain, folder)
    stored, exact = arrays(artifact, folder), arrays(plain, folder)
    layers: Mapping[str, Any] = artifact.details["layers"]
    proven = 0
    for name, layer in layers.items():
        if layer["weight"] not in exact:  # folded on the way, so that fp32's file does not hold it as it was rounded
            continue
        try:
            wrong = _not_rounded(exact, stored, layer)
        except (KeyError, ValueError, TypeError, IndexError) as error:
            return Evidence(Outcome.CRASHED, f"{name} is not described as the files have it: {error!r}", stage="load")
        if wrong:
            return Evidence(Outcome.MISMATCH, f"the weight of {name} is not fp32's rounded: {wrong}")
        proven += int(stored[layer["codes"]].size)
    if strange := _undescribed(stored, exact, artifact):
        reason = f"tensor '{strange}' is {stored[strange].dtype.name}, and no layer is said to be rounded to it"
        return Evidence(Outcome.MISMATCH, reason)
    if not proven:
        return Evidence(Outcome.VACUOUS, "no stored tensor is a weight of fp32's, so this proves nothing")
    total = sum(tensor.size for tensor in stored.values())
    reason = f"{proven:,} of {total:,} stored numbers are fp32's weights, rounded; the others are judged by the noise"
    return Evidence(Outcome.MATCH, reason, elements=proven, provider="by content")


def _undescribed(stored: Mapping[str, Array], exact: Mapping[str, Array], artifact: Artifact) -> str:
    """Name a stored weight of fewer bits that no layer is said to have; zero points have at most one dimension.

    A constant that a layer takes as its input is rounded as activations are, and is of no layer.
    """
    low = [dtype for dtype in ("int8", "float16") if dtype != artifact.details.get("activations")]
    lowered = {name for name, value in stored.items() if value.dtype.name in low and value.ndim > 1}
    lowered -= {name for name, value in exact.items() if value.dtype.name in low}
    return min(lowered - {layer["codes"] for layer in artifact.details["layers"].values()}, default="")


def _not_rounded(exact: Mapping[str, Array], stored: Mapping[str, Array], layer: Mapping[str, Any]) -> str:
    """What is wrong with the codes of a layer; empty where they are its weight, rounded to the nearest.

    A weight without scales is stored in fp16, and its layer computes in float32.
    """
    if not layer.get("scales"):
        half = stored[layer["codes"]]
        if half.dtype != np.float16:
            return f"it has no scales, and is not fp16, but {half.dtype.name}"
        return "" if _same(rounded_to_half(exact[layer["weight"]]), half) else "it is not the nearest fp16"
    weight, codes, scales = exact_weight(exact, layer), stored[layer["codes"]], stored[layer["scales"]]
    step = np.broadcast_to(along(scales, weight, layer), weight.shape)
    off = float((np.abs(multiplied(codes, scales, layer) - weight) / step).max())
    if codes.dtype.itemsize != 1:
        return f"its codes are {codes.dtype.name}, and not of 8 bits"
    if not off <= HALF_STEP:
        return f"it is off by {off:.2f} steps"
    others = tuple(axis for axis in range(weight.ndim) if scales.size > 1 and axis != int(layer["axis"]))
    largest = np.abs(weight).max(axis=others or None, keepdims=True)
    # A channel near float32's denormals is dead: engines may flush it, and a step that small has no inverse.
    if bool(((step > largest / FEWEST_STEPS) & (largest > SMALLEST_SCALE)).any()):
        return f"its largest number is less than {FEWEST_STEPS} steps"
    return ""


def prove_halved(artifact: Artifact, plain: Artifact, folder: Path) -> Evidence:
    """At release: every tensor of fp32's file is in this one under its name, as it was or rounded to the nearest fp16.

    A constant beyond fp16 stands at its limit; the writer keeps layers with such weights in float32.
    """
    stored, exact = stored_tensors(artifact.files, folder), stored_tensors(plain.files, folder)
    halved = 0
    for name in exact.weights:
        if name not in stored.weights:
            return Evidence(Outcome.MISMATCH, f"tensor '{name}' of fp32's file is gone")
        want, got = exact.array(name), stored.array(name)
        if got.dtype == np.float16:
            want = rounded_to_half(want)
            halved += got.size
        if not _same(want, got):
            return Evidence(Outcome.MISMATCH, f"tensor '{name}' is not fp32's, rounded to the nearest fp16")
    if not halved:
        return Evidence(Outcome.VACUOUS, "no stored tensor is fp16, so this proves nothing")
    total = sum(tensor.elements for tensor in stored.weights.values())
    reason = f"{halved:,} of {total:,} stored numbers are fp32's, rounded to fp16; the others are as they were"
    return Evidence(Outcome.MATCH, reason, elements=halved, provider="by content")


def _same(want: Array, got: Array) -> bool:
    return want.dtype == got.dtype and bool(np.array_equal(want, got))


plugin: Proof = Weights()

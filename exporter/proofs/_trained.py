"""The proof by content: what an artifact stores is what was trained, tensor by tensor, under the right name.

It sees what numbers at the outputs cannot resolve: one element moved by a percent, a tensor that no case reaches. Pure
reading: no engine takes part, and no process that has imported the model.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from exporter.errors import BundleError
from exporter.lower._stored import stored_digests, stored_weights
from exporter.lower.base import Artifact
from exporter.verdict.claim import Evidence, Outcome


def prove_unchanged(artifact: Artifact, folder: Path) -> Evidence:
    """Each tensor of the files is the one that was written, under the same name."""
    try:
        weights, _ = stored_weights(artifact.files, folder)
        found = stored_digests(artifact.files, folder)
    except BundleError as error:
        return Evidence(Outcome.CRASHED, f"cannot be read: {error}", stage="load")
    if gone := sorted(set(artifact.weights) - set(found)):
        return Evidence(Outcome.MISMATCH, f"{len(gone)} tensors are gone, the first is '{gone[0]}'")
    if changed := sorted(name for name, digest in found.items() if artifact.weights.get(name) != digest):
        return Evidence(Outcome.MISMATCH, f"{len(changed)} tensors are not the released ones, as '{changed[0]}'")
    return _matched(sum(weight.elements for weight in weights.values()), "", whole=True)


def prove_trained(artifact: Artifact, folder: Path, trained: Mapping[str, str]) -> Evidence:
    """Trace each stored tensor to the layer's own; `trained` holds their digests by the layer's names.

    A tensor of a known origin must be that one. Paddle's formats store parameters as they are, so what has no known
    origin must be another of the layer's tensors. A converter to ONNX adds constants, and folds tensors: a folded one
    counts as found if everything that went into it is the layer's (`folded`, written by the child that computed it).
    What can be traced to nothing is counted, told, and left to the outputs.
    """
    weights, _ = stored_weights(artifact.files, folder)
    elements = {name: weights[name].elements for name in artifact.weights}
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
    foreign = sorted(set(elements) - set(origins) - set(folded))
    if foreign and artifact.format != "onnx":
        return Evidence(Outcome.MISMATCH, f"{len(foreign)} stored tensors are not the layer's, as '{foreign[0]}'")
    held = set(origins.values()).union(*(_named(parts[name], trained) for name in folded))
    same = {trained[own] for own in held}  # a tensor that two sublayers share is stored once
    lacking = sorted(own for own, digest in trained.items() if own not in held and digest not in same)
    said = [f"{len(origins)} tensors by name"]
    said += [f"{len(folded)} folded out of trained ones"] if folded else []
    said += [f"{len(foreign)} traced to nothing, as '{foreign[0]}'"] if foreign else []
    said += [f"{len(lacking)} of the layer's are not stored, as '{lacking[0]}'"] if lacking else []
    proven = sum(elements[name] for name in (*origins, *folded))
    return _matched(proven, "; ".join(said), whole=not foreign and not lacking)


def origins_of(artifact: Artifact, trained: Mapping[str, str]) -> dict[str, str]:
    """The layer's name for each stored tensor: as the writer knew it, and by content where it knew none.

    By content a tensor of the layer stands for one stored tensor alone.
    """
    found = {name: own for name, own in artifact.origins.items() if name in artifact.weights}
    free: dict[str, list[str]] = {}
    for own, digest in sorted(trained.items(), reverse=True):
        if own not in found.values():
            free.setdefault(digest, []).append(own)
    for name, digest in sorted(artifact.weights.items()):
        if name not in found and free.get(digest):
            found[name] = free[digest].pop()
    return found


def _named(digests: frozenset[str], trained: Mapping[str, str]) -> set[str]:
    return {own for own, digest in trained.items() if digest in digests}


def _matched(elements: int, said: str, *, whole: bool) -> Evidence:
    if not elements:
        return Evidence(Outcome.VACUOUS, "no stored tensor is one of the layer's, so this proves nothing")
    return Evidence(Outcome.MATCH, said, elements=elements, bit_equal=whole, provider="by content")

"""The proof by parameters: what an artifact stores is what was trained, tensor by tensor, by content.

It sees what numbers at the outputs cannot resolve: one element moved by a percent, a tensor that no case reaches. When
a bundle is made, each stored tensor is traced to the checkpoint; when it is verified, each must still be the same under
the same name. Pure reading: no engine takes part.
"""

from __future__ import annotations

from pathlib import Path

from exporter.errors import BundleError
from exporter.lower._stored import stored_digests, stored_weights
from exporter.lower.base import Artifact
from exporter.parity.verdict import Claim, Evidence, Outcome

#: What stands in the place of an engine's name, a case's and an output's in the claim of this proof.
ENGINE, CASE, OUTPUT = "parameters", "stored", "weights"


def claim(artifact: Artifact) -> Claim:
    """The claim that an artifact's stored tensors are the trained ones."""
    return Claim(artifact.format, artifact.precision, ENGINE, CASE, OUTPUT)


def prove_origin(artifact: Artifact, folder: Path, trained: frozenset[str]) -> Evidence:
    """At release: trace each stored tensor to the layer's own, whose digests are `trained`.

    Paddle's formats store parameters as they are, so each must be found. A converter to ONNX adds constants, and folds
    tensors: those count as found if everything that went into them is the layer's (`folded`, written by the child that
    computed them). The count of elements says how much was found, and the rest is left to the error ratio.
    """
    weights, _ = stored_weights(artifact.files, folder)
    parts = {name: frozenset(digests) for name, digests in artifact.details.get("folded", {}).items()}
    foreign = sorted(
        name
        for name, digest in artifact.weights.items()
        if digest not in trained and not (parts.get(name) and parts[name] <= trained)
    )
    if foreign and artifact.format != "onnx":
        return Evidence(Outcome.MISMATCH, f"{len(foreign)} stored tensors are not the layer's, as '{foreign[0]}'")
    return _matched(sum(weights[name].elements for name in artifact.weights if name not in foreign), whole=not foreign)


def prove_unchanged(artifact: Artifact, folder: Path) -> Evidence:
    """At verification: each tensor is still what was proven at release, under the same name."""
    try:
        weights, _ = stored_weights(artifact.files, folder)
        found = stored_digests(artifact.files, folder)
    except BundleError as error:
        return Evidence(Outcome.CRASHED, f"cannot be read: {error}", stage="load")
    if gone := sorted(set(artifact.weights) - set(found)):
        return Evidence(Outcome.MISMATCH, f"{len(gone)} tensors are gone, the first is '{gone[0]}'")
    if changed := sorted(name for name, digest in found.items() if artifact.weights.get(name) != digest):
        return Evidence(Outcome.MISMATCH, f"{len(changed)} tensors are not the released ones, as '{changed[0]}'")
    return _matched(sum(weight.elements for weight in weights.values()), whole=True)


def _matched(elements: int, *, whole: bool) -> Evidence:
    if not elements:
        return Evidence(Outcome.VACUOUS, "no stored tensor is one of the layer's, so this proves nothing")
    return Evidence(Outcome.MATCH, elements=elements, bit_equal=whole, provider="by content")

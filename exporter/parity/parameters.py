"""The proof by parameters: what an artifact stores is what was trained, tensor by tensor, by content.

It sees what numbers at the outputs cannot resolve: one element moved by a percent, a tensor that no case reaches. When
a bundle is made, each stored tensor is traced to the checkpoint; when it is verified, each must still be the same under
the same name. Pure reading: no engine takes part.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from exporter.errors import BundleError
from exporter.lower.base import Artifact
from exporter.parity.verdict import Claim, Evidence, Outcome
from exporter.readers import named_parameters
from exporter.readers.base import map_file
from exporter.readers.onnx import read_onnx
from exporter.tensors import Array, content_digest

#: The place of an engine's name, a case's and an output's in the claim of this proof.
ENGINE, CASE, OUTPUT = "parameters", "stored", "weights"


def claim(artifact: Artifact) -> Claim:
    """The claim that an artifact's stored tensors are the proven ones."""
    return Claim(artifact.format, artifact.precision, ENGINE, CASE, OUTPUT)


def stored_digests(artifact: Artifact, folder: Path) -> dict[str, str]:
    """The content digest of every tensor in an artifact, by the name that the file gives it.

    Raises:
        BundleError: a file is damaged.
    """
    return {name: content_digest(value) for name, value in _stored(artifact, folder).items()}


def prove_origin(artifact: Artifact, folder: Path, trained: frozenset[str]) -> Evidence:
    """At release: trace each stored tensor to the layer's own; `trained` holds their content digests.

    Paddle's formats store parameters as they are, so each must be found. A converter to ONNX adds constants and folds
    tensors: then all that were found are named, and the rest is left to the error ratio.
    """
    stored = _stored(artifact, folder)
    known = {name for name, value in stored.items() if content_digest(value) in trained}
    elements = sum(stored[name].size for name in known)
    foreign = sorted(set(stored) - known)
    if foreign and artifact.format != "onnx":
        return Evidence(Outcome.MISMATCH, f"{len(foreign)} stored tensors are not the layer's, as '{foreign[0]}'")
    if not elements:
        return Evidence(Outcome.MISMATCH, "no stored tensor is the layer's") if trained else _nothing_to_store()
    return Evidence(Outcome.MATCH, elements=elements, bit_equal=not foreign, provider="by content")


def prove_unchanged(artifact: Artifact, folder: Path, recorded: Mapping[str, str]) -> Evidence:
    """At verification: each tensor is still what was proven at release, under the same name."""
    try:
        stored = _stored(artifact, folder)
    except BundleError as error:
        return Evidence(Outcome.CRASHED, f"cannot be read: {error}", stage="load")
    changed = sorted(name for name, value in stored.items() if recorded.get(name) != content_digest(value))
    if gone := sorted(set(recorded) - set(stored)):
        return Evidence(Outcome.MISMATCH, f"{len(gone)} tensors are gone, the first is '{gone[0]}'")
    if changed:
        return Evidence(Outcome.MISMATCH, f"{len(changed)} tensors are not the released ones, as '{changed[0]}'")
    elements = sum(value.size for value in stored.values())
    return (
        Evidence(Outcome.MATCH, elements=elements, bit_equal=True, provider="by content")
        if elements
        else _nothing_to_store()
    )


def _nothing_to_store() -> Evidence:
    return Evidence(Outcome.VACUOUS, "the artifact stores no tensor, so this proves nothing")


def _stored(artifact: Artifact, folder: Path) -> dict[str, Array]:
    if artifact.format == "onnx":
        path = folder / artifact.files[0]
        content = map_file(path)
        weights = [one for one in read_onnx(path).weights if one.dtype != "string" and one.nbytes]
        names = [one.name for one in weights]
        # Subgraphs may use a name again; then its place tells them apart.
        unique = [name if names.count(name) == 1 else f"{name}@{index}" for index, name in enumerate(names)]
        return {name: one.array(content) for name, one in zip(unique, weights, strict=True)}
    program = next(name for name in artifact.files if not name.endswith(".pdiparams"))
    parameters = next(name for name in artifact.files if name.endswith(".pdiparams"))
    return named_parameters(folder / program, folder / parameters)

"""The proof by declaration: what an artifact's file says of its inputs and outputs is what the manifest promises.

Engines do not all read what a file declares: Paddle's own run a batch of 64 through a program that declares 8, and the
converter, the server or the phone that reads the same file does not. Pure reading: no engine takes part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from exporter.errors import BundleError
from exporter.lower.base import Artifact
from exporter.readers import read
from exporter.spec.model import Dim, Spec
from exporter.tensors import TensorSpec
from exporter.verdict.claim import Evidence, Outcome


def prove_declared(artifact: Artifact, folder: Path, spec: Spec, promised: Sequence[TensorSpec]) -> Evidence:
    """Compare what the main file declares with the spec's inputs and the `promised` outputs: names, dtypes, sizes.

    A file may leave open what the manifest fixes, never fix what the manifest leaves open. The sizes of outputs are
    compared where they count, in every case that runs.
    """
    main = folder / next(name for name in artifact.files if not name.endswith(".pdiparams"))
    try:
        facts = read(main)
    except BundleError as error:
        return Evidence(Outcome.CRASHED, f"cannot be read: {error}", stage="load")
    inputs, outputs = ({one.name: one for one in side} for side in (spec.input_specs(), promised))
    wrong = [*_unlike("input", inputs, facts.inputs), *_unlike("output", outputs, facts.outputs)]
    found = {one.name: one.shape for one in facts.inputs}
    wrong += [
        f"input '{name}' is declared {list(found[name])}, promised {list(one.shape)}"
        for name, one in inputs.items()
        if name in found and not _fits(one.shape, found[name], spec.dims)
    ]
    if wrong:
        return Evidence(Outcome.MISMATCH, wrong[0])
    return Evidence(Outcome.MATCH, elements=len(inputs) + len(outputs), provider="by reading")


def _unlike(kind: str, promised: Mapping[str, TensorSpec], declared: Sequence[TensorSpec]) -> Iterator[str]:
    """Names and dtypes, in whatever order."""
    if sorted(promised) != sorted(one.name for one in declared):
        yield f"{kind}s {[one.name for one in declared]} are declared, {list(promised)} are promised"
        return
    for one in declared:
        if one.dtype != promised[one.name].dtype:
            yield f"{kind} '{one.name}' is declared {one.dtype}, promised {promised[one.name].dtype}"


def _fits(promised: Sequence[int | str], declared: Sequence[int | str], dims: Mapping[str, Dim]) -> bool:
    if len(promised) != len(declared):
        return False
    return all(
        isinstance(have, str) or have == -1 or have in _sizes(want, dims)
        for want, have in zip(promised, declared, strict=True)
    )


def _sizes(want: int | str, dims: Mapping[str, Dim]) -> tuple[int, ...]:
    """The one size that a promised dimension may have; none where it varies."""
    if isinstance(want, int):
        return (want,)
    dim = dims[want]
    return (dim.min,) if dim.min == dim.max else ()

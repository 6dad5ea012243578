"""The proof by declaration: what an artifact's file says of its inputs and outputs is what the spec promises.

Engines do not all read what a file declares: Paddle's own run a batch of 64 through a program that declares 8, and the
converter, the server or the phone that reads the same file does not. Pure reading: no engine takes part.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from exporter.base.errors import BundleError
from exporter.base.readers import read
from exporter.base.readers.undecided import Reach, reach
from exporter.base.tensors import TensorSpec, split_size
from exporter.export.lower.base import Artifact
from exporter.prove.proofs.base import ByClaim, Harness, Proof, per_variant
from exporter.prove.verdict.claim import Claim, Evidence, Outcome
from exporter.spec.inputs import Dim
from exporter.spec.model import Spec


class Interface(ByClaim):
    """One claim for each variant."""

    kind = "interface"
    reads = True

    def plan(self, harness: Harness) -> frozenset[Claim]:
        return per_variant(self.kind, harness.variants)

    def prove_claim(self, claim: Claim, harness: Harness) -> Evidence:
        subject = harness.subject
        artifact = harness.artifact(claim)
        declared = prove_declared(artifact, subject.folder, subject.spec, subject.outputs)
        if declared.outcome is not Outcome.MATCH:
            return declared
        due, called = [output.name for output in subject.outputs], list(artifact.outputs)
        if called != due or sorted(artifact.native_outputs) != sorted(due):
            said = f"it declares the outputs {due}, and the bundle says that it calls them {called}"
            return Evidence(Outcome.MISMATCH, said)
        written = [output.name for output in read(subject.folder / artifact.main).outputs]
        if list(artifact.native_outputs) != written:
            reason = f"it puts out {written}, and the bundle says that this is {list(artifact.native_outputs)}"
            return Evidence(Outcome.MISMATCH, reason)
        shown = reach(subject.folder / artifact.main) if subject.constants or subject.sized else None
        if shown is None:
            return declared
        for names, most, said in (
            (subject.constants, Reach.NOTHING, "no input decides output '{}' of the model, and in this file one leads"),
            (subject.sized, Reach.SIZES, "sizes alone decide output '{}' of the model, and in this file values lead"),
        ):
            if further := [name for name in sorted(names) if shown.get(name, Reach.VALUES) > most]:
                return Evidence(Outcome.MISMATCH, f"{said.format(further[0])} to it")
        return declared


def prove_declared(artifact: Artifact, folder: Path, spec: Spec, promised: Sequence[TensorSpec]) -> Evidence:
    """Compare what the main file declares with the spec's inputs and the `promised` outputs: names, dtypes, sizes.

    A file may leave open what the manifest fixes, never fix what the manifest leaves open. The sizes of outputs are
    compared where they count, in every case that runs.
    """
    try:
        facts = read(folder / artifact.main)
    except BundleError as error:
        return Evidence(Outcome.CRASHED, f"cannot be read: {error}", stage="load")
    inputs, outputs = ({tensor.name: tensor for tensor in side} for side in (spec.input_specs(), promised))
    wrong = [*_unlike("input", inputs, facts.inputs), *_unlike("output", outputs, facts.outputs)]
    declared = {tensor.name: tensor.shape for tensor in facts.inputs}
    wrong += [
        f"input '{name}' is declared {list(declared[name])}, promised {list(tensor.shape)}"
        for name, tensor in inputs.items()
        if name in declared and not _fits(tensor.shape, declared[name], spec.dims)
    ]
    if wrong:
        return Evidence(Outcome.MISMATCH, wrong[0])
    return Evidence(Outcome.MATCH, elements=len(inputs) + len(outputs), provider="by reading")


def _unlike(kind: str, promised: Mapping[str, TensorSpec], declared: Sequence[TensorSpec]) -> Iterator[str]:
    """Names and dtypes, in whatever order."""
    names = [tensor.name for tensor in declared]
    if sorted(promised) != sorted(names):
        yield f"{kind}s {names} are declared, {list(promised)} are promised"
        return
    for tensor in declared:
        if tensor.dtype != promised[tensor.name].dtype:
            yield f"{kind} '{tensor.name}' is declared {tensor.dtype}, promised {promised[tensor.name].dtype}"


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
    name, more = split_size(want)
    dim = dims[name]
    return (dim.min + more,) if dim.min == dim.max else ()


plugin: Proof = Interface()

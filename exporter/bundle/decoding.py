"""The recorded steps of a decoder, held against what the spec plans; what a manifest says of them is not believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from exporter.base.errors import BundleError, UsageError
from exporter.base.tensors import Array, digest, dims_in, load, shape_at
from exporter.bundle.manifest import CaseFacts, Content
from exporter.prove.compare.golden import refuse_other_samples
from exporter.prove.goldens.decoding import (
    DECODING,
    EMPTIED,
    Rollout,
    chosen,
    counted_from,
    kept_outputs,
    plan_steps,
    read_rollout,
)
from exporter.spec.decoding import Decoding
from exporter.spec.model import Spec

_HINT = "do not use this bundle; ask for a fresh one"


def rollout_in(content: Content, spec: Spec, golden: Path) -> Rollout | None:
    """Read the recorded steps beside the goldens; None where none were recorded, so that their claims are MISSING.

    Raises:
        BundleError: they are not whole, or not the steps that the spec plans.
    """
    if spec.decoding is None or not content.decoding:
        if content.decoding:
            raise BundleError("records steps of a decoder, and its spec has none", where=DECODING, hint=_HINT)
        return None
    path = golden.with_name(DECODING)
    described = [facts.model_dump() for facts in content.decoding]
    outputs = [output.name for output in content.outputs]
    try:
        spec.decoding.fit_outputs(outputs)
        _refuse_other_steps(content.decoding, spec, spec.decoding, outputs)
        rollout = read_rollout(path, spec.decoding, described)
        refuse_other_samples(path, described, spec, steps=True)
        _refuse_other_inputs(load(path), content.decoding[:-1], spec, spec.decoding)
    except (ValueError, KeyError) as error:
        raise BundleError(
            f"the recorded steps of the decoder are wrong: {error}", where=DECODING, hint=_HINT
        ) from error
    return rollout


def _refuse_other_steps(recorded: Sequence[CaseFacts], spec: Spec, decoding: Decoding, outputs: Sequence[str]) -> None:
    """Hold names, seeds, sizes and outputs of all steps against the plan; by how much a dim grows, the sizes tell."""
    *steps, emptied = recorded
    if len(steps) != decoding.steps:
        raise ValueError(f"{len(steps)} were recorded, and the spec plans {decoding.steps}")
    growing = {name: steps[1].dims.get(name, 0) - steps[0].dims.get(name, 0) for name in spec.dims}
    fed = dims_in(spec.inputs[name].shape for name in decoding.cache)
    if strange := sorted(name for name, by in growing.items() if by and name not in fed):
        raise ValueError(f"dim '{strange[0]}' grows, and no cache has it")
    try:
        planned = plan_steps(spec, decoding, growing)
    except UsageError as error:
        raise ValueError(error.what) from error
    for at, (facts, case) in enumerate(zip(steps, planned, strict=True)):
        kept = kept_outputs(decoding, outputs, last=at == len(steps) - 1)
        if (facts.name, facts.seed, facts.dims) != (case.name, case.seed, dict(case.dims)):
            raise ValueError(f"'{facts.name}' is not the planned '{case.name}', or has another seed or other sizes")
        if sorted(facts.outputs) != sorted(kept):
            raise ValueError(f"'{facts.name}' holds other outputs than are kept of it")
    last = planned[-1]
    if (emptied.name, emptied.dims) != (last.name + EMPTIED, dict(last.dims)) or set(emptied.outputs) != set(outputs):
        raise ValueError(f"'{emptied.name}' is not the last step with an empty cache")


def _refuse_other_inputs(held: Mapping[str, Array], steps: Sequence[CaseFacts], spec: Spec, decoding: Decoding) -> None:
    """Hold the recorded inputs against the spec: sizes, dtypes, what is counted, held or chosen by a step before."""
    for at, facts in enumerate(steps):
        for name, declared in spec.inputs.items():
            if at and name in decoding.cache:
                continue
            value = held[f"{facts.name}/input/{name}"]
            sizes = shape_at(declared.shape, facts.dims)
            if value.shape != sizes or value.dtype.name != declared.dtype:
                raise ValueError(f"input '{name}' of '{facts.name}' is {value.dtype.name}{list(value.shape)}")
            if name in decoding.counts and not (value == counted_from(spec, name, facts.dims) + at).all():
                raise ValueError(f"input '{name}' of '{facts.name}' does not count the steps")
            if name in decoding.held and digest(value) != digest(held[f"{steps[0].name}/input/{name}"]):
                raise ValueError(f"input '{name}' of '{facts.name}' is not that of the first step")
    _refuse_other_tokens(held, steps, decoding)


def _refuse_other_tokens(held: Mapping[str, Array], steps: Sequence[CaseFacts], decoding: Decoding) -> None:
    for before, after in pairwise(steps):
        for name, output in decoding.tokens.items():
            ids, scores = held[f"{after.name}/input/{name}"], held.get(f"{before.name}/eager/{output}")
            if scores is None or f"{before.name}/index/{output}" in held:  # of a cache nothing is kept, or a sample
                continue
            if not np.array_equal(chosen(name, scores, ids), ids):
                raise ValueError(f"input '{name}' of '{after.name}' is not what eager chose in the step before")

"""The steps of a decoder as goldens: their names and sizes, what is kept of each, and how they are read again.

They lie in a file of their own, `decoding.safetensors`, as cases do in the goldens. A step holds its inputs but the
cache, which only the first holds; of its outputs those that are no cache, and the last step all of them. What is said
of them stands in the manifest, under `decoding`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from exporter.base.errors import BundleError, UsageError
from exporter.base.numbers.golden import GoldenCase
from exporter.base.numbers.steps import grouped_steps, with_cache
from exporter.base.tensors import Array, save, shape_at, split_size
from exporter.prove.compare.golden import read_groups
from exporter.prove.goldens.cases import Case, promised
from exporter.prove.goldens.finish import CaseFacts, bounded, measured_again, note_scores
from exporter.spec.decoding import Decoding
from exporter.spec.model import Spec
from exporter.spec.values import arguments, bound

if TYPE_CHECKING:
    from exporter.prove.goldens.record import RecordedCase

#: The file beside the goldens.
DECODING = "decoding.safetensors"
#: What the name of the last step ends in where it is run with a cache of zeros.
EMPTIED = ":emptied"
#: From the seeds of cases to those of steps.
_SEEDS = 50_000
#: What the manifest says of a step, as JSON.
_Facts: TypeAlias = "dict[str, Any]"
_HINT = "do not use this bundle; ask for a fresh one"


@dataclass(frozen=True)
class Rollout:
    """What was recorded of all steps, and of the last one with a cache of zeros: no answer may be as near to that."""

    steps: tuple[GoldenCase, ...]
    emptied: GoldenCase


def start_of(spec: Spec, growing: Mapping[str, int]) -> dict[str, int]:
    """The sizes of the first step: the smallest of the dims that grow, the typical ones of the others."""
    return {name: dim.min if growing.get(name) else dim.typical for name, dim in spec.dims.items()}


def plan_steps(spec: Spec, decoding: Decoding, growing: Mapping[str, int]) -> tuple[Case, ...]:
    """Every step with its sizes; `growing` says by how much a dim grows in each step.

    Raises:
        UsageError: a step has a size that the spec does not promise.
    """
    start, cases = start_of(spec, growing), []
    for at in range(decoding.steps):
        sizes = {name: size + at * growing.get(name, 0) for name, size in start.items()}
        for name, size in sizes.items():
            if size not in promised(spec.dims[name]):
                raise _not_promised(spec, name, (at, size), start[name] + (decoding.steps - 1) * growing[name])
        cases.append(Case(f"step={at}", sizes, spec.seed + _SEEDS + at))
    return tuple(cases)


def _not_promised(spec: Spec, name: str, step: tuple[int, int], due: int) -> UsageError:
    dim, (at, size) = spec.dims[name], step
    between = size in range(dim.min, dim.max)  # both ends are promised
    steps = f", multiples of {dim.multiple_of}" if between else ""
    longer = f"give dims.{name}.max: {due}, or decoding.steps: {at}"
    return UsageError(
        f"step {at} of the decoder has {name}={size}, and the spec promises {dim.min} to {dim.max}{steps}",
        where="decoding.steps",
        hint=f"leave out dims.{name}.multiple_of" if between else longer,
    )


def grown(
    spec: Spec, decoding: Decoding, shapes: Mapping[str, Sequence[int]], typical: Mapping[str, int]
) -> dict[str, int]:
    """Tell by how much each dim grows in a step, from the shapes of the outputs of a step of these sizes.

    Raises:
        UsageError: an output is not of the shape of the input that it feeds, but for named dims.
    """
    growing: dict[str, int] = {}
    for name, output in decoding.cache.items():
        declared = spec.inputs[name].shape
        sizes = shape_at(declared, typical)
        if len(sizes) != len(shapes[output]):
            raise _unfit(name, output, declared, shapes[output])
        for size, before, after in zip(declared, sizes, shapes[output], strict=True):
            by, (dim, _) = after - before, split_size(size)
            if by < 0 or growing.setdefault(dim, 0 if not dim else by) != by:
                raise _unfit(name, output, declared, shapes[output])
    return {name: by for name, by in growing.items() if by}


def _unfit(name: str, output: str, declared: Sequence[int | str], shape: Sequence[int]) -> UsageError:
    return UsageError(
        f"output '{output}' is {list(shape)}, and input '{name}' that it feeds is [{', '.join(map(str, declared))}]",
        where=f"decoding.cache.{name}",
        hint="name the output that has the shape of the input, but for the dim that grows",
    )


def kept_outputs(decoding: Decoding, outputs: Sequence[str], *, last: bool) -> tuple[str, ...]:
    """The outputs that are kept of a step."""
    return tuple(name for name in outputs if last or name not in decoding.cache.values())


def counted_from(spec: Spec, name: str, dims: Mapping[str, int]) -> int:
    """The number that an input counts from."""
    return bound(arguments(spec.inputs[name].values)[0], dims)


def chosen(name: str, scores: Array, like: Array) -> Array:
    """The ids of the next step, of the shape and the dtype of those drawn.

    Raises:
        UsageError: they are not as many.
    """
    best = scores.argmax(-1) if scores.dtype.kind == "f" else scores
    if best.size % like.size:
        what = f"{best.size} ids come of an output of {list(scores.shape)}, and '{name}' takes {list(like.shape)}"
        raise UsageError(
            what, where=f"decoding.tokens.{name}", hint="name the output that holds the scores of each row"
        )
    return best.reshape(like.size, -1)[:, -1].reshape(like.shape).astype(like.dtype)


def finish_decoding(
    spec: Spec, recorded: Sequence[RecordedCase], scratch: Path, goldens: Path
) -> tuple[CaseFacts, ...]:
    """Measure the steps that the child has left in `scratch`, and write them beside the goldens."""
    if not recorded:
        return ()
    measured = []
    for at, left in enumerate(recorded):
        case = Case(left.name, left.dims, left.seed)
        measured.append(measured_again(case, left, "", scratch / f"decoding-{at}.safetensors"))
    note_scores(measured)
    tensors: dict[str, Array] = {key: value for record in measured for key, value in record.tensors.items()}
    save(goldens.with_name(DECODING), bounded(tensors, spec.golden_mb, spec.seed, steps=True))
    return tuple(record.facts for record in measured)


def read_rollout(path: Path, decoding: Decoding, described: Sequence[_Facts]) -> Rollout:
    """Read the recorded steps; `described` is what the manifest says of each, the last one with empty cache at the end.

    Raises:
        BundleError: they are not whole.
    """
    if len(described) < 2:
        raise BundleError("records no step of the decoder", where=str(path), hint=_HINT)
    steps, ends, empty = read_groups(path, grouped_steps(described, decoding.cache.values()))
    return Rollout(tuple(with_cache(steps, ends[0])), empty[0])

"""Which cases a spec asks for: sizes combined pairwise, strange values, and inputs that must not matter.

The list is known before anything runs (:func:`plan_cases`); what the inputs hold is drawn in a child
(:mod:`exporter.prove.goldens.values`), since a recipe's data may need Paddle.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from exporter.base.numbers.golden import ROWS_OF
from exporter.base.tensors import dims_in, size_at
from exporter.prove.goldens.extremes import Ends, Extremes
from exporter.spec.values import arguments, bound

if TYPE_CHECKING:
    from exporter.spec.inputs import Dim, Input
    from exporter.spec.model import Spec

#: What the typical case becomes, in order: strange values first, of real numbers (`zeros` to `one_hot`), of whole ones
#: with a range (ids and lengths, `smallest` to `repeated`) and of those that are 0 or 1 (masks and flags, `all_ones` to
#: `all_zeros`, without which no case would tell what `any` gives); then changes that must leave each row as it was.
REAL = ("zeros", "large", "tiny", "one_hot")
WHOLE = ("smallest", "largest", "distinct", "sorted", "repeated")
MASKS = ("all_ones", "all_but_one", "sorted", "all_zeros")
STRANGE = (*REAL, *WHOLE, "all_ones", "all_but_one", "all_zeros", "padded")
INVARIANT = ("equal_rows", "reversed", "one_row")
#: Those that need two elements in a row, else they change nothing.
_OF_ROWS = ("distinct", "sorted", "repeated", "all_but_one")


@dataclass(frozen=True)
class Case:
    """One set of named inputs: the size of each named dim, the seed of its values, and what was done to them.

    A case with a `kind` probes: where even eager's answer tells nothing (all zero, overflowing), it is left out before
    the claims are planned, and the bundle says so. One without is what the spec promises, and is never left out.
    """

    name: str
    dims: Mapping[str, int]
    seed: int
    kind: str = ""


def plan_cases(spec: Spec) -> tuple[Case, ...]:
    """Every named dim at its typical, min, max and an odd size, combined pairwise; then what probes.

    The typical point is drawn twice: so each output has a stranger of its own shape, another case's output, which must
    not pass for it.
    """
    typical = {name: dim.typical for name, dim in spec.dims.items()}
    points = [typical, *(point for point in pairwise(spec.dims) if point != typical)]
    cases = [Case(_name(point), point, spec.seed + index) for index, point in enumerate(points)]
    cases.insert(1, Case(f"{_name(typical)}#2", typical, spec.seed + len(cases)))
    batch = batch_dim(spec)
    meant = {kind for declared in spec.inputs.values() for kind in kinds_of(declared, typical)}
    kinds = [kind for kind in STRANGE if kind in meant or (kind == "padded" and set(spec.dims) - {batch})]
    if batch and typical[batch] > 1:
        kinds.extend(kind for kind in INVARIANT if kind != "one_row" or spec.dims[batch].min == 1)
    for kind in kinds:
        dims = {**typical, str(batch): 1} if kind == "one_row" else typical
        cases.append(Case(f"{_name(typical)}:{kind}", dims, spec.seed, kind))
    for name, declared in spec.inputs.items():
        cases += _extreme_cases(spec, name, value_ends(spec, name, typical) if _is_whole(declared) else None)
    return tuple(cases)


def mask_cases(spec: Spec, name: str) -> list[Case]:
    """The cases of an input of real numbers that is used as a mask: the ends of its range in some rows."""
    typical = {dim: sizes.typical for dim, sizes in spec.dims.items()}
    cases = _extreme_cases(spec, name, value_ends(spec, name, typical))
    return [case for case in cases if case.kind.startswith(ROWS_OF)]


def _extreme_cases(spec: Spec, name: str, ends: Ends | None) -> list[Case]:
    """The typical case with the ends of one input's range in rows of it, and with NaN and infinities where asked for.

    A case is named after what it changes, such as `batch=4,seq=16:rows_of_mask`.
    """
    typical = {dim: sizes.typical for dim, sizes in spec.dims.items()}
    kinds = Extremes(name, spec.inputs[name], ends, typical, batch_dim(spec)).kinds()
    return [Case(f"{_name(typical)}:{kind}", typical, spec.seed, kind) for kind in kinds]


def _is_whole(declared: Input) -> bool:
    return declared.values.startswith("integers")


def value_ends(spec: Spec, name: str, dims: Mapping[str, int]) -> Ends | None:
    """The smallest and the largest number that an input is declared to hold; None where it declares none."""
    declared = spec.inputs[name]
    if declared.values.startswith("uniform"):
        low, high = map(float, arguments(declared.values))
        return low, high
    bounds = declared_range(declared, dims)
    return None if bounds is None else (bounds[0], bounds[1] - 1)


def kinds_of(declared: Input, dims: Mapping[str, int]) -> tuple[str, ...]:
    """The strange kinds that mean something for an input: of whole numbers only where the spec declares their range.

    What a file or a recipe holds may have a range of its own in each column, which nothing here knows.
    """
    bounds = declared_range(declared, dims)
    if bounds is None:
        return REAL if declared.dtype.startswith("float") else ()
    low, high = bounds
    last = declared.shape[-1] if declared.shape else 1
    size = size_at(last, dims)
    kinds = () if high - low < 2 else MASKS if (low, high) == (0, 2) else WHOLE
    unfit = (*(() if size > 1 else _OF_ROWS), *(() if declared.empty_rows else ("all_zeros",)))
    return tuple(kind for kind in kinds if kind not in unfit)


def declared_range(declared: Input, dims: Mapping[str, int]) -> tuple[int, int] | None:
    """The smallest whole number and the one after the largest, at these sizes; None where the spec declares none."""
    if not declared.values.startswith("integers"):
        return None
    low, high = (bound(text, dims) for text in arguments(declared.values))
    return low, high


def pairwise(dims: Mapping[str, Dim]) -> list[dict[str, int]]:
    """Points in which every size of each dim meets every size of each other; one dim: each size once.

    Greedy, in a fixed order: each point takes the first pair not yet met, then for every other dim the size that makes
    the most new pairs.
    """
    levels = {name: list(dict.fromkeys((d.typical, d.min, d.max, odd_size(d)))) for name, d in dims.items()}
    if len(levels) < 2:
        return [{name: size} for name, sizes in levels.items() for size in sizes] or [{}]
    open_pairs = {
        (dim, a, other, b): None for dim, other in combinations(levels, 2) for a in levels[dim] for b in levels[other]
    }
    points = []
    while open_pairs:
        dim, a, other, b = next(iter(open_pairs))
        point = {dim: a, other: b}
        for name in levels:
            if name not in point:
                point[name] = max(levels[name], key=lambda size: len(_met({**point, name: size}, open_pairs)))
        for pair in _met(point, open_pairs):
            del open_pairs[pair]
        points.append({name: point[name] for name in dims})
    return points


def _met(point: Mapping[str, int], pairs: Mapping[tuple[str, int, str, int], None]) -> list[tuple[str, int, str, int]]:
    return [pair for pair in pairs if point.get(pair[0]) == pair[1] and point.get(pair[2]) == pair[3]]


def promised(dim: Dim) -> range:
    """Every size that a dim may have."""
    return range(dim.min, dim.max + 1, dim.multiple_of)


def odd_size(dim: Dim) -> int:
    """An odd multiple near the middle of the range: what code written for even sizes gets wrong."""
    middle = (dim.min + dim.max) // 2 // dim.multiple_of | 1
    return middle * dim.multiple_of if middle * dim.multiple_of <= dim.max else dim.typical


def batch_dim(spec: Spec) -> str | None:
    """The named dim that counts rows: the first of some input, and no other place of any. None where there is none."""
    first = [
        declared.shape[0] for declared in spec.inputs.values() if declared.shape and isinstance(declared.shape[0], str)
    ]
    later = dims_in(declared.shape[1:] for declared in spec.inputs.values())
    return first[0] if len(set(first)) == 1 and first[0] in spec.dims and first[0] not in later else None


def _name(point: Mapping[str, int]) -> str:
    return ",".join(f"{dim}={size}" for dim, size in point.items()) or "fixed"

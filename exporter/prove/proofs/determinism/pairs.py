"""The pairs of runs that `determinism: bits` promises, the inputs of both sides, and which numbers have to be equal.

`runs`: a case twice in one session. `processes`: in two processes. `threads`: in one thread and in two. `rows`: a row
alone and in its batch, where a named dim counts rows, of the outputs as well, and may be 1. `padding`: a sequence, and
the same with padding behind it, where a mask (`integers(0,2)`) or lengths (`integers(1,seq+1)`) say what is padding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from exporter.base.numbers.golden import GoldenCase, promised
from exporter.base.tensors import Array, TensorMap, TensorSpec, dims_in, split_size
from exporter.prove.goldens.cases import batch_dim, declared_range
from exporter.spec.inputs import Dim, Input
from exporter.spec.model import Spec
from exporter.spec.values import arguments, parts

RUNS, PROCESSES, THREADS, ROWS, PADDING = "runs", "processes", "threads", "rows", "padding"
#: The sides of the pairs, by the names of the runs of them.
WHOLE, AGAIN, PLAIN, PADDED = "the case", "the case again", "without padding", "with padding"
#: Two draws of one size, which must not be the same bits.
STRANGERS = "one draw", "another draw"
#: Rows that are run alone: the first, the last and one between.
_ROWS = 3


@dataclass(frozen=True)
class Pair:
    """Two runs that have to give the same bits: their names, the threads of the second, and what is cut out of both.

    `row` is the place of the one row in the batch; `sizes` are the sizes along the padded axis, without and with.
    """

    kind: str
    first: str
    second: str
    threads: int = 1
    row: int | None = None
    rows: int = 1
    sizes: tuple[int, int] | None = None

    def both(self, left: Array, right: Array) -> tuple[Array, Array] | None:
        """The numbers of both runs that have to be equal; None where nothing says which those are."""
        if self.row is not None:
            cut = _row(left, right.shape, self.row, self.rows)
            return None if cut is None else (cut, right)
        if self.sizes is not None:
            cut = _without_padding(right, left.shape, self.sizes)
            return None if cut is None else (left, cut)
        return left, right


def _row(batch: Array, alone: tuple[int, ...], row: int, rows: int) -> Array | None:
    """The part of a value of all rows that is one row's, of which the value alone has this shape."""
    if batch.shape == alone:
        return batch  # no row of it: a constant
    if len(batch.shape) != len(alone):
        return None
    axes = [axis for axis, (many, few) in enumerate(zip(batch.shape, alone, strict=True)) if many != few]
    if len(axes) != 1 or batch.shape[axes[0]] != rows * alone[axes[0]]:
        return None
    step = alone[axes[0]]
    return batch.take(range(row * step, (row + 1) * step), axis=axes[0])


def _without_padding(padded: Array, plain: tuple[int, ...], sizes: tuple[int, int]) -> Array | None:
    """The part of a value that is no padding, whose shape without it is this."""
    if len(padded.shape) != len(plain):
        return None
    pairs = list(zip(plain, padded.shape, strict=True))
    if any(before != after and (before, after) != sizes for before, after in pairs):
        return None
    return padded[tuple(slice(before) for before, _ in pairs)]


def kinds(spec: Spec, outputs: Sequence[TensorSpec], recorded: Sequence[GoldenCase]) -> tuple[str, ...]:
    """The kinds of pairs that a spec promises; of an output whose first size is unknown the recorded cases tell it."""
    more = [ROWS] if _has_rows(spec, outputs, recorded) else []
    return (RUNS, PROCESSES, THREADS, *more, *([PADDING] if padded_dim(spec) else []))


def _has_rows(spec: Spec, outputs: Sequence[TensorSpec], recorded: Sequence[GoldenCase]) -> bool:
    batch = batch_dim(spec)
    if batch is None or spec.dims[batch].min > 1 or spec.dims[batch].max < 2:
        return False
    return any(
        output.shape[:1] == (batch,)
        or (output.shape[:1] == (-1,) and all(_shape(case, output)[:1] == (case.dims[batch],) for case in recorded))
        for output in outputs
    )


def _shape(case: GoldenCase, output: TensorSpec) -> tuple[int, ...]:
    return case.outputs[output.name].shape if output.name in case.outputs else ()


def padded_dim(spec: Spec) -> str | None:
    """The first dim that counts no rows, may be larger, and of which a mask or lengths say what is padding."""
    batch = batch_dim(spec)
    shapes = [declared.shape for declared in spec.inputs.values()]
    sums = {split_size(size)[0] for shape in shapes for size in shape if split_size(size)[1] and isinstance(size, str)}
    for name, dim in spec.dims.items():
        known = any(_tells(declared, name, spec.dims) for declared in spec.inputs.values())
        if name != batch and name not in sums and dim.min < dim.max and known:
            return name
    return None


def _tells(declared: Input, dim: str, dims: Mapping[str, Dim]) -> bool:
    """Return whether an input is a mask along a dim, or the lengths in it."""
    if dim in dims_in([declared.shape]):
        return declared_range(declared, {name: size.typical for name, size in dims.items()}) == (0, 2)
    return declared.values.startswith("integers") and parts(arguments(declared.values)[1]) == (dim, 1)


@dataclass(frozen=True)
class Runs:
    """What is run: the inputs of each run by its name, the pairs, and the runs of one size that must differ."""

    inputs: Mapping[str, TensorMap]
    pairs: tuple[Pair, ...]
    strangers: tuple[str, str] | None


def runs_of(spec: Spec, recorded: Sequence[GoldenCase], inputs: Mapping[str, TensorMap], wanted: Sequence[str]) -> Runs:
    """The runs of some kinds of pairs, from the recorded inputs by case."""
    plain = [case for case in recorded if promised(case.name)]
    largest = max(plain, key=lambda case: math.prod(case.dims.values()))
    fed: dict[str, TensorMap] = {WHOLE: inputs[largest.recorded]}
    pairs: list[Pair] = []
    if RUNS in wanted:
        fed[AGAIN] = fed[WHOLE]
        pairs.append(Pair(RUNS, WHOLE, AGAIN))
    pairs += [Pair(PROCESSES, WHOLE, WHOLE)] if PROCESSES in wanted else []
    pairs += [Pair(THREADS, WHOLE, WHOLE, threads=2)] if THREADS in wanted else []
    if ROWS in wanted:
        for pair, alone in _rows_alone(spec, largest, fed[WHOLE]):
            fed[pair.second] = alone
            pairs.append(pair)
    if PADDING in wanted and (padding := _padding(spec, plain, inputs)):
        fed |= {PLAIN: padding[1], PADDED: padding[2]}
        pairs.append(padding[0])
    drawn = _two_draws(plain)
    fed |= {name: inputs[case] for name, case in zip(STRANGERS, drawn, strict=False)}
    return Runs(fed, tuple(pairs), STRANGERS if drawn else None)


def _two_draws(cases: Sequence[GoldenCase]) -> tuple[str, ...]:
    """The first two cases of one size; none where there are no such two."""
    for place, case in enumerate(cases):
        for right in cases[place + 1 :]:
            if dict(case.dims) == dict(right.dims):
                return case.recorded, right.recorded
    return ()


def _rows_alone(spec: Spec, case: GoldenCase, inputs: TensorMap) -> Iterator[tuple[Pair, TensorMap]]:
    batch = batch_dim(spec)
    assert batch is not None  # noqa: S101  # rows are wanted where the spec has some
    rows = case.dims[batch]
    for row in sorted({0, rows // 2, rows - 1})[:_ROWS] if rows > 1 else ():
        alone = {
            name: value[row : row + 1] if spec.inputs[name].shape[:1] == (batch,) else value
            for name, value in inputs.items()
        }
        yield Pair(ROWS, WHOLE, f"row {row} alone", row=row, rows=rows), alone


def _padding(
    spec: Spec, cases: Sequence[GoldenCase], inputs: Mapping[str, TensorMap]
) -> tuple[Pair, TensorMap, TensorMap] | None:
    """A case that is not as long as it may be, and the same with padding behind it."""
    name = padded_dim(spec)
    assert name is not None  # noqa: S101  # padding is wanted where the spec has some
    dim = spec.dims[name]
    case = next((case for case in cases if case.dims[name] < dim.max), None)
    if case is None:
        return None
    before = case.dims[name]
    after = min(dim.max, before + max(dim.multiple_of, before // dim.multiple_of * dim.multiple_of))
    own = inputs[case.recorded]
    padded = {key: _longer(spec.inputs[key], value, name, (before, after), case.dims) for key, value in own.items()}
    return Pair(PADDING, PLAIN, PADDED, sizes=(before, after)), own, padded


def _longer(declared: Input, value: Array, dim: str, sizes: tuple[int, int], dims: Mapping[str, int]) -> Array:
    """An input with padding behind it: 0, or the whole number of its range that is nearest to it."""
    low, high = declared_range(declared, dims) or (0, 1)
    widths = [(0, sizes[1] - sizes[0] if size == dim else 0) for size in declared.shape]
    longer: Array = np.pad(value, widths, constant_values=max(low, min(0, high - 1)))
    return longer

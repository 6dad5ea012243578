"""Inputs that nobody recorded: drawn as the spec says, by a seed that a bundle's author cannot choose.

They have every promised size of each dim up to `SMALL`, and some beyond. One point has a size of each dim, in an order
that the seed gives: so many points as the dim with the most sizes has, however many dims there are.

What a file or a recipe gave (`values: dataset`, `x.npy`) need not be at hand. Such an input is mixed from recorded
ones: each number is one that was recorded at its own place, since each column may have a range of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from exporter.base.tensors import Array, TensorMap, shape_at
from exporter.prove.goldens.cases import Case, batch_dim, promised
from exporter.prove.goldens.values import draw
from exporter.spec.inputs import Dim
from exporter.spec.model import Spec
from exporter.spec.values import are_real

#: How often the typical sizes are drawn: what is apart by chance, at a tie of two labels, is hardly so twice.
DRAWS = 2
#: Every promised size of a dim up to this one is drawn, and so many of those beyond.
SMALL, BEYOND = 16, 3
#: All points together hold at most so many times the numbers of the largest recorded case, and none more than it.
TIMES = 12
#: How many are drawn for each, of which the first that is new is taken.
_TRIES = 8
#: Recorded values that an input is mixed from.
_SOURCES = 4
#: A mixed real number is made smaller by up to a quarter: so it keeps its sign, and zeros stay what they are.
_SHRUNK = 0.75


def fresh_inputs(
    spec: Spec, known: Sequence[TensorMap], seed: Sequence[int], turn: int = 0
) -> dict[str, list[dict[str, Array]]]:
    """By size, the draws of all inputs: at the typical sizes, and once at each other point; at each `turn` others.

    `known` are the recorded inputs of the cases that the spec promises, those at the typical sizes first. A draw is one
    of these only where so many others were, too: where every input is given and always the same, or the spec allows few
    values.
    """
    points, generator = _points(spec, np.random.default_rng(seed)), np.random.default_rng([*seed, turn + 1])
    typical = {name: dim.typical for name, dim in spec.dims.items()}
    drawn: dict[str, list[dict[str, Array]]] = {}
    for dims in [typical, *_affordable(spec, points, known)]:
        sizes = ",".join(f"{dim}={size}" for dim, size in dims.items()) or "fixed"
        if sizes not in drawn:
            count = DRAWS if dims == typical else 1
            drawn[sizes] = [_first_new(_drawn(spec, dims, known, generator), known) for _ in range(count)]
    return drawn


def is_new(inputs: TensorMap, known: Sequence[TensorMap]) -> bool:
    """Whether inputs are others than each of those that are known."""
    return not any(all(np.array_equal(inputs[name], case[name]) for name in inputs) for case in known)


def sizes_of(dim: Dim, generator: np.random.Generator) -> list[int]:
    """The sizes of a dim that are drawn: all up to `SMALL`, in some order, and some of those beyond."""
    small = [size for size in promised(dim)[:SMALL] if size <= SMALL]
    beyond = promised(dim)[len(small) :]
    places = generator.choice(len(beyond), min(BEYOND, len(beyond)), replace=False) if beyond else ()
    return [int(size) for size in generator.permutation([*small, *(beyond[int(place)] for place in places)])]


def _points(spec: Spec, generator: np.random.Generator) -> list[dict[str, int]]:
    sizes = {name: sizes_of(dim, generator) for name, dim in spec.dims.items()}
    count = max(map(len, sizes.values()), default=0)
    return [{name: held[at % len(held)] for name, held in sizes.items()} for at in range(count)]


def _affordable(
    spec: Spec, points: Sequence[dict[str, int]], known: Sequence[TensorMap]
) -> Iterator[Mapping[str, int]]:
    """The smaller points first, as long as there is room; of one that is too large the rows are the fewest."""
    largest = max(sum(value.size for value in case.values()) for case in known)
    left, batch = TIMES * largest, batch_dim(spec)
    for point in sorted(points, key=lambda point: _numbers(spec, point)):
        few = {**point, batch: spec.dims[batch].min} if batch else point
        for dims in (point, few):
            numbers = _numbers(spec, dims)
            if numbers <= min(left, largest):
                left -= numbers
                yield dims
                break


def _numbers(spec: Spec, dims: Mapping[str, int]) -> int:
    """How many numbers all inputs have."""
    return sum(int(np.prod(shape_at(declared.shape, dims), dtype="int64")) for declared in spec.inputs.values())


def _first_new(tried: Iterator[dict[str, Array]], known: Sequence[TensorMap]) -> dict[str, Array]:
    for inputs in tried:
        if is_new(inputs, known):
            break
    return inputs


def _drawn(
    spec: Spec, dims: Mapping[str, int], known: Sequence[TensorMap], generator: np.random.Generator
) -> Iterator[dict[str, Array]]:
    real = [name for name, declared in spec.inputs.items() if are_real(declared.values)]
    others = spec.model_copy(
        update={"inputs": {name: declared for name, declared in spec.inputs.items() if name not in real}}
    )
    for _ in range(_TRIES):
        case = Case("fresh", dims, int(generator.integers(np.iinfo("int64").max)))
        inputs = draw(others, case, None)
        mixed = {name: _mixed(spec, name, dims, known, generator) for name in real}
        yield {name: (inputs | mixed)[name] for name in spec.inputs}


def _mixed(
    spec: Spec, name: str, dims: Mapping[str, int], known: Sequence[TensorMap], generator: np.random.Generator
) -> Array:
    declared, batch = spec.inputs[name], batch_dim(spec)
    shape = shape_at(declared.shape, dims)
    rows = bool(declared.shape) and declared.shape[0] == batch
    recorded = [inputs[name] for inputs in known]
    enough = [value for value in recorded if all(a >= b for a, b in zip(value.shape[rows:], shape[rows:], strict=True))]
    sources = (enough or recorded)[:_SOURCES]
    if rows:
        sources = [*sources[: _SOURCES // 2], *(generator.permutation(value) for value in sources[: _SOURCES // 2])]
    pool = np.stack([_cut(value, shape) for value in sources])
    chosen = generator.integers(0, len(pool), pool.shape[1:])
    mixed: Array = np.take_along_axis(pool, chosen[None], 0)[0]
    if mixed.dtype.kind == "f":
        mixed = (mixed * generator.uniform(_SHRUNK, 1.0, mixed.shape)).astype(mixed.dtype)
    return mixed


def _cut(value: Array, shape: tuple[int, ...]) -> Array:
    """The first elements along each axis, and again from the beginning where there are fewer."""
    for axis, size in enumerate(shape):
        if value.shape[axis] != size:
            value = value.take(np.arange(size) % value.shape[axis], axis)
    return value

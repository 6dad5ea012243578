"""Look for inputs that reach what no case has: other values, and other sizes of the named dims where sizes decide.

What it costs is counted in forwards of the typical case and never in seconds, so that the same spec gives the same
bytes: at most as many as recording the planned cases takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from exporter.base.errors import UsageError
from exporter.base.tensors import Array
from exporter.prove.goldens.cases import Case, odd_size, promised
from exporter.prove.goldens.coverage import SIZE, VALUE, Unreached
from exporter.prove.goldens.values import Rows, draw, trials

if TYPE_CHECKING:
    from exporter.spec.inputs import Dim
    from exporter.spec.model import Spec

#: The most trials of either kind.
TRIALS = 60
#: Forwards that recording a case takes: eager twice, weights moved twice, and float64, whose forwards count double.
RECORDING = 6
#: Forwards that a trial takes, with the tracing.
TRYING = 2
#: A trial ends where it runs so many times the lines of the longest case: inputs of no sense may never converge.
PATIENCE = 20


@dataclass
class Allowance:
    """How many forwards of the typical case may still be spent; inputs of n times its size count n times."""

    forwards: float
    typical: int

    @classmethod
    def of(cls, recorded: Sequence[Mapping[str, Array]]) -> Allowance:
        """As many as it took to record these inputs, of which the first are the typical case's."""
        typical = _elements(recorded[0])
        return cls(sum(RECORDING * _elements(inputs) / typical for inputs in recorded), typical)

    def take(self, inputs: Mapping[str, Array], forwards: int) -> bool:
        """Spend forwards on such inputs; False where what is left is less."""
        cost = forwards * _elements(inputs) / self.typical
        if cost > self.forwards:
            return False
        self.forwards -= cost
        return True


def attempts(
    spec: Spec, first: Case, inputs: dict[str, Array], rows: Rows | None, missing: Sequence[Unreached]
) -> Iterator[tuple[Case, dict[str, Array], int]]:
    """Cases to try with their inputs, by turns other values and other sizes, as what is `missing` calls for them.

    The last part of each is what it may reach: VALUE or SIZE.
    """
    by_value = ((case, varied, VALUE) for case, varied in trials(spec, first, inputs, TRIALS))
    numbers = {number for left in missing if left.by == SIZE for number in left.numbers}
    by_size = _sized(spec, first, rows, numbers)
    wanted = {left.by for left in missing}
    streams = [stream for stream, by in ((by_size, SIZE), (by_value, VALUE)) if by in wanted]
    while streams:
        for stream in list(streams):
            attempt = next(stream, None)
            if attempt is None:
                streams.remove(stream)
            else:
                yield attempt


def _sized(
    spec: Spec, first: Case, rows: Rows | None, numbers: set[int]
) -> Iterator[tuple[Case, dict[str, Array], int]]:
    """The typical case with other sizes: one dim at a time, then, every third time, all of them together."""
    generator = np.random.default_rng([spec.seed, 2])
    sizes = {name: _sizes(dim, numbers, generator) for name, dim in spec.dims.items()}
    sizes = {name: found for name, found in sizes.items() if found}
    for number in range(TRIALS if sizes else 0):
        dims = dict(first.dims)
        names = list(sizes)
        if number % 3 == 2 and len(names) > 1:
            dims.update({name: int(generator.choice(sizes[name])) for name in names})
        else:
            name = names[number % len(names)]
            place = number // len(names)
            if place >= len(sizes[name]):
                continue
            dims[name] = sizes[name][place]
        point = ",".join(f"{name}={size}" for name, size in dims.items())
        seed = spec.seed + 2000 + number
        try:
            drawn = draw(spec, Case("", dims, seed), rows)
        except UsageError:  # samples of another size than those that the spec promises
            continue
        yield Case(f"{point}:search-{TRIALS + number + 1}", dims, seed, "search"), drawn, SIZE


def _sizes(dim: Dim, numbers: set[int], generator: np.random.Generator) -> list[int]:
    """Sizes of a dim that are worth a try: around the numbers in the conditions first, then any."""
    step = dim.multiple_of
    possible = promised(dim)
    near = [number // step * step + off * step for number in sorted(numbers) for off in (0, 1, -1)]
    places = (
        generator.permutation(len(possible))
        if len(possible) <= TRIALS
        else generator.integers(len(possible), size=TRIALS)
    )
    others = [possible[int(place)] for place in places]
    recorded = (dim.min, dim.typical, dim.max, odd_size(dim))
    return [size for size in dict.fromkeys([*near, *others]) if size in possible and size not in recorded]


def _elements(inputs: Mapping[str, Array]) -> int:
    return max(1, sum(value.size for value in inputs.values()))

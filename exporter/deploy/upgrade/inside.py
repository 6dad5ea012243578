"""In which operator first: the values inside in both versions, held against each other in the order of the program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from exporter.base.tensors import TensorMap
from exporter.base.words import plain
from exporter.deploy.elsewhere.layers import ALLOWED, ALLOWED_OTHERWISE
from exporter.prove.compare.apart import relative_error
from exporter.prove.goldens.truth import same_bits
from exporter.prove.root_cause.makers import Maker


@dataclass(frozen=True)
class Inside:
    """A value inside that is another in the new version: who makes it, and how far it is, relative to its size."""

    value: str
    kind: str
    layer: str
    place: int
    relative: float

    def __str__(self) -> str:
        where = f" of {self.layer}" if self.layer else ""
        return plain(f"{self.kind} {self.value}{where}, operator {self.place}, by {self.relative:.2g} of its size")


@dataclass(frozen=True)
class Origin:
    """The first value whose bits move, and the first that moves by more than rounding; None where none does.

    `shown` is how many values both versions showed.
    """

    first: Inside | None
    beyond: Inside | None
    shown: int

    def __str__(self) -> str:
        if self.first is None:
            alone = f"with all {self.shown} values inside put out nothing moves"
            return f"{alone}: what moved is how the runtime joins operators into one kernel"
        if self.beyond is None or self.beyond == self.first:
            return f"first in {self.first}"
        return f"first in {self.first}; by more than rounding first in {self.beyond}"


def origin(old: TensorMap, new: TensorMap, maker_of: Mapping[str, Maker], precision: str) -> Origin:
    """Say where two runs of one program part first."""
    both = sorted((name for name in old if name in new and name in maker_of), key=lambda name: maker_of[name].place)
    allowed = ALLOWED.get(precision, ALLOWED_OTHERWISE)
    first = beyond = None
    for name in both:
        if same_bits(old[name], new[name]):
            continue
        maker = maker_of[name]
        inside = Inside(name, maker.kind, maker.layer, maker.place, relative_error(old[name], new[name]))
        first = first or inside
        if not inside.relative <= allowed:
            beyond = inside
            break
    return Origin(first, beyond, len(both))
